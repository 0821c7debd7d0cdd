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

NAMES = {
    packets.HELLO: "HELLO",
    packets.WELCOME: "WELCOME",
    packets.REFUSED: "REFUSED",
    packets.RESTARTED: "RESTARTED",
    packets.ACKNOWLEDGED: "ACKNOWLEDGED",
    packets.MISSING: "MISSING",
    packets.PING: "PING",
    packets.PONG: "PONG",
    packets.LOG: "LOG",
    packets.SENSORS: "SENSORS",
    packets.BUTTON: "BUTTON",
    packets.FAULT: "FAULT",
}


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
    kind, session, sequence, acknowledged = packets.read_header(packet)
    payload = packet[packets.HEADER_BYTES :]
    read = {
        "kind": NAMES.get(kind, kind),
        "session": session,
        "sequence": sequence,
        "acknowledged": acknowledged,
        "fields": {},
    }
    if kind in _FIELDS:
        names, form, text = _FIELDS[kind]
        values = struct.unpack(form, payload[: struct.calcsize(form)])
        read["fields"] = dict(zip(names.split(), values))
        if text:
            read["fields"][text] = payload[struct.calcsize(form) :].decode()
    elif kind == packets.SENSORS:
        read["fields"] = _read_sensors(payload)
    return read


_WELCOME = "version major minor patch boot_id time_ms largest_payload window lights switches buttons buzzer"
_FIELDS = {
    packets.WELCOME: (_WELCOME + " pin_map_checksum reset_cause name_length", "<BBBBIIHBHHBBIBB", "board"),
    packets.REFUSED: ("oldest newest", "<BB", "text"),
    packets.RESTARTED: ("boot_id", "<I", ""),
    packets.PONG: ("token time_ms", "<II", ""),
    packets.LOG: ("level counter time_ms", "<BHI", "text"),
    packets.BUTTON: ("event button what time_ms held_ms", "<HBBIH", ""),
    packets.FAULT: ("code number", "<BH", "text"),
}


def _read_sensors(payload):
    time_ms, count = struct.unpack("<IH", payload[:6])
    size = (count + 7) // 8
    masks = []
    for start in (6, 6 + size):
        bits = payload[start : start + size]
        masks.append([bool(bits[switch >> 3] >> (switch & 7) & 1) for switch in range(count)])
    at = 6 + 2 * size
    changes = []
    for start in range(at + 1, at + 1 + 5 * payload[at], 5):
        switch, closed, before_ms = struct.unpack("<HBH", payload[start : start + 5])
        changes.append([switch, bool(closed), before_ms])
    return {"time_ms": time_ms, "closed": masks[0], "doubtful": masks[1], "changes": changes}


def from_hex(text):
    """Give the bytes of a hexadecimal text."""
    return bytes([int(text[at : at + 2], 16) for at in range(0, len(text), 2)])


def to_hex(data):
    """Give bytes as hexadecimal text."""
    return "".join([f"{byte:02x}" for byte in bytes(data)])
