"""A strip of WS2812 lights on an RP2040 or RP2350: PIO generates the pulses and DMA feeds it, in the background."""
# mypy: disable-error-code="name-defined, untyped-decorator"

from machine import Pin
from rp2 import DMA, PIO, StateMachine, asm_pio

from ..core.lights import PAUSE_US
from .clock import ticks_diff, ticks_us
from .fastest_loops import pack_words

# Ten ticks of 125 ns a bit: 375 ns high for a zero, 750 ns for a one, of 1250 ns in all. Worldsemi's WS2812B data sheet
# requires 400 and 800 ns, each within 150 ns; that of the WS2812B-V5 220 to 380 and 580 to 1000 ns.
_TICKS_HZ = 8_000_000
LIGHT_US = 30  # 24 bits of 1.25 us (WS2812B data sheet)

_STATE_MACHINE = 0  # the first of eight; nothing else uses PIO
_TARGET = 0x50200010  # PIO0_BASE and the offset of TXF0, in the data sheets of the RP2040 and the RP2350 alike
_PACING = 0  # DREQ_PIO0_TX0
_WORDS = 2  # DMA's size of four bytes


@asm_pio(sideset_init=PIO.OUT_LOW, out_shiftdir=PIO.SHIFT_LEFT, autopull=True, pull_thresh=24)
def _pulses() -> None:
    wrap_target()
    label("bit")
    out(x, 1).side(0)[3]
    jmp(not_x, "zero").side(1)[2]
    jmp("bit").side(1)[2]
    label("zero")
    nop().side(0)[2]
    wrap()


class PioStrip:
    """The strip. Each light is a word, sent from its highest byte; the lowest byte is not sent."""

    def __init__(self, pin: int, count: int, order: str) -> None:
        self._words = bytearray(4 * count)
        self._count = count
        self._at_red, self._at_green, self._at_blue = (3 - order.index(letter) for letter in "RGB")
        self._machine = StateMachine(_STATE_MACHINE, _pulses, freq=_TICKS_HZ, sideset_base=Pin(pin))
        self._machine.active(1)
        self._dma = DMA()
        self._control = self._dma.pack_ctrl(size=_WORDS, inc_write=False, treq_sel=_PACING)
        self._is_sending = False
        self._began_us = 0

    def is_ready(self) -> bool:
        """Whether the last frame is sent and the pause after it is over; to be called at least every few minutes."""
        if self._is_sending and not self._dma.active():
            lasts_us = self._count * LIGHT_US + PAUSE_US
            self._is_sending = ticks_diff(ticks_us(), self._began_us) < lasts_us
        return not self._is_sending

    def show(self, colours: bytearray) -> None:
        """Start sending the levels of all lights, red, green and blue of each; only when ready."""
        pack_words(colours, self._words, self._at_red, self._at_green, self._at_blue)
        self._dma.config(read=self._words, write=_TARGET, count=self._count, ctrl=self._control, trigger=True)
        self._is_sending = True
        self._began_us = ticks_us()
