"""What the scripts share: a board without pins on which a Device runs, ms by ms. Runs in both interpreters."""

import struct

try:
    from firmware.core import packets
    from firmware.core.board import Board
    from firmware.core.device import Device
    from firmware.core.pin_map import read_pin_map
except ImportError:
    from firmware_bridge.firmware.core import packets
    from firmware_bridge.firmware.core.board import Board
    from firmware_bridge.firmware.core.device import Device
    from firmware_bridge.firmware.core.pin_map import read_pin_map

NAMES = {packets.BOARD_STATE: "BOARD_STATE", packets.WELCOME: "WELCOME"}


class BenchBoard(Board):
    """A board whose ports and contacts are plain attributes."""

    def __init__(self, boot_id=1, reset_cause=0):
        self.boot_id = boot_id
        self.reset_cause = reset_cause
        self.now = 0
        self.arriving = b""
        self.sent = bytearray()
        self.room = 1 << 30
        self.shown = []
        self.masks = []
        self.pressed = 0
        self.tones = []
        self.fed = 0
        self.restarts = []

    def ticks_ms(self):
        return self.now & 0x3FFFFFFF

    def read(self):
        if not self.arriving:
            return b""
        data, self.arriving = self.arriving[:512], self.arriving[512:]
        return data

    def write(self, data):
        taken = min(len(data), self.room)
        self.sent += data[:taken]
        return taken

    def show_lights(self, colours):
        self.shown.append(bytes(colours))

    def scan(self, masks):
        index = 0
        while index < len(masks):
            masks[index] = self.masks[index]
            index += 1

    def buttons(self):
        return self.pressed

    def tone(self, frequency_hz):
        self.tones.append((self.now, frequency_hz))

    def feed_watchdog(self):
        self.fed += 1

    def restart(self, into_interpreter):
        self.restarts.append(into_interpreter)


class PacketList(packets.PacketHandler):
    """Collects packets."""

    def __init__(self):
        self.packets = []

    def handle_packet(self, packet, now):
        self.packets.append(bytes(packet))


class Bench:
    """A device on such a board, and what it sends."""

    def __init__(self, pin_map, boot_id=1, reset_cause=0, now=0):
        self.pins = read_pin_map(pin_map)
        self.board = BenchBoard(boot_id, reset_cause)
        self.board.now = now
        self.board.masks = [0] * (len(self.pins.rows) + bool(self.pins.singles))
        self.device = Device(self.board, self.pins)
        self._list = PacketList()
        self._reader = packets.PacketReader(self._list)

    def run_until(self, now):
        """Let the time pass."""
        while self.board.now < now:
            self.board.now += 1
            self.device.step()

    def give(self, data):
        """Let bytes arrive now, and step until the device has nothing more to do."""
        self.board.arriving += data
        for _ in range(20):
            self.device.step()

    def sent(self):
        """Give the packets that were sent since the last call."""
        self._reader.feed(bytes(self.board.sent), 0)
        self.board.sent = bytearray()
        found, self._list.packets = self._list.packets, []
        return [read_packet(packet) for packet in found]


def read_packet(packet):
    """Give a packet of the device as a dictionary, its fields too."""
    kind = NAMES[packet[0]]
    fields = {"version": packet[1]}
    if kind == "WELCOME":
        form, names = "<IHHBBIBBBB", "boot_id lights switches buttons buzzer pin_map_checksum reset_cause"
        values = struct.unpack(form, packet[2 : 2 + struct.calcsize(form)])
        fields.update(zip(names.split(), values))
        fields["firmware"] = list(values[-3:])
        at = 2 + struct.calcsize(form)
        for name in ("board", "trouble"):
            fields[name] = packet[at + 1 : at + 1 + packet[at]].decode()
            at += 1 + packet[at]
    else:
        names = "boot_id time_ms heard shown limited_ma flags buttons"
        fields.update(zip(names.split(), struct.unpack("<IIHHHBB", packet[2:18])))
        at = 18
        fields["presses"], fields["taken"], fields["before_ms"] = [], [], []
        for _ in range(fields.pop("buttons")):
            for name, value in zip(("presses", "taken", "before_ms"), struct.unpack("<HHH", packet[at : at + 6])):
                fields[name].append(value)
            at += 6
        (count,) = struct.unpack("<H", packet[at : at + 2])
        at += 2
        for name in ("closed", "doubtful"):
            bits = packet[at : at + (count + 7) // 8]
            fields[name] = [bool(bits[switch >> 3] >> (switch & 7) & 1) for switch in range(count)]
            at += len(bits)
    return {"kind": kind, "fields": fields}


def from_hex(text):
    """Give the bytes of a hexadecimal text."""
    return bytes([int(text[at : at + 2], 16) for at in range(0, len(text), 2)])


def to_hex(data):
    """Give bytes as hexadecimal text."""
    return "".join([f"{byte:02x}" for byte in bytes(data)])
