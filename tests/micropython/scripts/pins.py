"""Stand-ins for a microcontroller's modules, so that the firmware's edges run without one. In both interpreters.

``table`` says what is wired: a closed contact joins two pins. ``install()`` puts the modules where imports find them.
"""

import sys

TICKS_MASK = (1 << 30) - 1


def ticks_diff(one, other):
    """The time between two ticks, as MicroPython tells it: the nearer way round."""
    half = 1 << 29
    return ((one - other + half) & TICKS_MASK) - half


class Table:
    """What hangs on the pins, and what happened to them."""

    def __init__(self):
        self.pins = {}
        self.joined = set()
        self.strips = {}
        self.programs = []
        self.dma_sent = []
        self.dma_active = False
        self.pwm = {}
        self.slept_ms = 0
        self.fed = 0
        self.watchdog_ms = 0
        self.resets = 0
        self.cause = 1
        self.scratch = 0
        self.refused = ()
        self.arriving = b""
        self.sent = bytearray()
        self.room = 1 << 30
        self.keyboard_interrupts = True
        self.uart = None
        self.now_ms = 0
        self.now_us = 0
        self.stop_after_ms = None

    def join(self, one, other):
        """Close a contact between two pins; ``GND`` is ground."""
        self.joined.add(frozenset((one, other)))

    def level(self, number):
        """The level of a pin: low where anything that it hangs together with pulls low, else high."""
        seen = set()
        ends = [number]
        while ends:
            end = ends.pop()
            if end in seen:
                continue
            seen.add(end)
            if end == "GND" or (end in self.pins and self.pins[end].pulls_low()):
                return 0
            for pair in self.joined:
                if end in pair:
                    ends += list(pair)
        return 1

    def sleep_ms(self, ms):
        self.slept_ms += ms
        self.now_ms += ms
        if self.stop_after_ms is not None and self.now_ms >= self.stop_after_ms:
            raise Stopped

    def ticks_us(self):
        return self.now_us & TICKS_MASK

    def ticks_ms(self):
        self.now_ms += 1
        if self.stop_after_ms is not None and self.now_ms >= self.stop_after_ms:
            raise Stopped
        return self.now_ms


class Stopped(KeyboardInterrupt):
    """The test is over: the only way out of the firmware's loop that isn't a fault of it."""


class Reset(BaseException):
    """The board was reset."""


table = Table()


class Pin:
    """A pin that knows its mode."""

    IN = 0
    OUT = 1
    OPEN_DRAIN = 2
    PULL_UP = 1

    def __init__(self, number, mode=IN, pull=None, value=None):
        if number in table.refused:
            raise ValueError("invalid pin")
        self.number = number
        self.mode = mode
        self.pull = pull
        self.driven = value
        table.pins[number] = self

    def pulls_low(self):
        return self.mode != Pin.IN and self.driven == 0

    def value(self, level=None):
        if level is None:
            return table.level(self.number)
        self.driven = level
        return None


class PWM:
    """A pin with a tone."""

    def __init__(self, pin, freq, duty_u16):
        self.number = pin.number
        table.pwm[self.number] = [freq, duty_u16]

    def freq(self, hz):
        table.pwm[self.number][0] = hz

    def duty_u16(self, duty):
        table.pwm[self.number][1] = duty


class WDT:
    """A watchdog that counts its meals."""

    def __init__(self, timeout):
        table.watchdog_ms = timeout

    def feed(self):
        table.fed += 1


class UART:
    """A serial port whose other end is the table's."""

    def __init__(self, number, baudrate, tx, rx, rxbuf, txbuf, timeout):
        table.uart = [number, baudrate, tx.number, rx.number]

    def any(self):
        return len(table.arriving)

    def read(self, count):
        data, table.arriving = table.arriving[:count], table.arriving[count:]
        return data

    def write(self, data):
        taken = min(len(data), table.room)
        table.sent += data[:taken]
        return taken or None


class NeoPixel:
    """A strip that remembers what was written to it."""

    def __init__(self, pin, count):
        self.number = pin.number
        self.buf = bytearray(3 * count)
        table.strips[self.number] = []

    def write(self):
        table.strips[self.number].append(bytes(self.buf))


class StateMachine:
    """A state machine that knows what it should run; the pulses themselves are for a real one."""

    def __init__(self, number, program, freq, sideset_base):
        self.what = [number, program, freq, sideset_base.number, 0]
        table.programs.append(self.what)

    def active(self, on):
        self.what[-1] = on


class DMA:
    """A channel that takes all it is given at once, and says it is busy for as long as the table does."""

    def pack_ctrl(self, **how):
        return how

    def active(self):
        return table.dma_active

    def config(self, read, write, count, ctrl, trigger):
        assert trigger
        assert not table.dma_active
        assert len(read) == count << ctrl["size"]
        table.dma_sent.append([write, bytes(read)])


class PIO:
    """Names."""

    OUT_LOW = 2
    SHIFT_LEFT = 0


class Module:
    """A module made of names."""

    def __init__(self, **names):
        for name, value in names.items():
            setattr(self, name, value)


def reset():
    table.resets += 1
    raise Reset


class Memory:
    """Registers."""

    def __getitem__(self, address):
        return table.scratch


def machine_module():
    return Module(
        Pin=Pin,
        PWM=PWM,
        WDT=WDT,
        UART=UART,
        PWRON_RESET=1,
        WDT_RESET=3,
        mem32=Memory(),
        reset=reset,
        reset_cause=lambda: table.cause,
    )


def modules():
    """The modules by name."""
    return {
        "machine": machine_module(),
        "neopixel": Module(NeoPixel=NeoPixel),
        "rp2": Module(PIO=PIO, DMA=DMA, StateMachine=StateMachine, asm_pio=lambda **how: lambda program: how),
        "micropython": Module(
            kbd_intr=lambda character: setattr(table, "keyboard_interrupts", character),
            native=lambda function: function,
            viper=lambda function: function,
        ),
    }


def install():
    """Put the modules where imports find them, and forget what happened."""
    fresh = Table()
    for name in dir(fresh):
        if not name.startswith("_") and name not in ("join", "level", "sleep_ms", "ticks_ms", "ticks_us"):
            setattr(table, name, getattr(fresh, name))
    for name, module in modules().items():
        sys.modules[name] = module
