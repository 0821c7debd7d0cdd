"""Every vector of the protocol against the firmware's core. ``wrong`` says what was otherwise."""

from bench import Bench, PacketList, from_hex, to_hex

try:
    from firmware.core import packets
    from firmware.core.packets import crc32, crc32_by_nibbles, decode_in_place, encode_into
except ImportError:
    from firmware_bridge.firmware.core import packets
    from firmware_bridge.firmware.core.packets import crc32, crc32_by_nibbles, decode_in_place, encode_into


def run(vectors):
    """Check all of them."""
    results = []
    for group, check in (
        ("checksums", check_checksum),
        ("framing", check_framing),
        ("messages", check_message),
        ("bad", check_bad),
    ):
        for number, vector in enumerate(vectors[group]):
            name = group + ": " + vector.get("name", str(number))
            results.append({"name": name, "wrong": check(vector)})
    for conversation in vectors["conversations"]:
        name = "conversations: " + conversation["name"]
        results.append({"name": name, "wrong": check_conversation(conversation, vectors["device"])})
    return results


def check_checksum(vector):
    """Both ways of counting give the checksum."""
    data = from_hex(vector["bytes"])
    counted = [crc32(data), crc32_by_nibbles(data)]
    return "" if counted == [vector["crc"]] * 2 else str(counted)


def check_framing(vector):
    """A packet becomes its frame and the reverse."""
    frame = from_hex(vector["frame"])
    target = bytearray(len(frame) + 20)
    end = encode_into(from_hex(vector["packet"]), target, 1) + 1
    if target[:end] != frame:
        return "encodes to " + to_hex(target[:end])
    inside = bytearray(frame[1:-1])
    length = decode_in_place(memoryview(inside), len(inside))
    return "" if to_hex(inside[:length]) == vector["packet"] else "decodes to " + to_hex(inside[:length])


def check_message(vector):
    """A message's frame is made of its packet, and read again; lights are what they should be."""
    packet = from_hex(vector["packet"])
    frame = packets.frame_of(bytearray(packet + bytes(packets.CHECKSUM_BYTES)))
    if to_hex(frame) != vector["frame"]:
        return "makes " + to_hex(frame)
    taken = PacketList()
    packets.PacketReader(taken).feed(from_hex(vector["frame"]), 0)
    if [to_hex(found) for found in taken.packets] != [vector["packet"]]:
        return "reads " + str(taken.packets)
    return ""


def check_bad(vector):
    """Only the valid packets come through, and each other frame is counted as what it is."""
    data = from_hex(vector["bytes"])
    wrong = ""
    for piece in (len(data) or 1, 1, 7):
        taken = PacketList()
        reader = packets.PacketReader(taken)
        for start in range(0, len(data), piece):
            reader.feed(data[start : start + piece], 0)
        found = [to_hex(packet) for packet in taken.packets]
        counted = {
            "undecodable": reader.undecodable,
            "long": reader.too_long,
            "short": reader.too_short,
            "checksum": reader.wrong_checksum,
        }
        expected = {kind: vector["counted"].get(kind, 0) for kind in counted}
        if found != vector["packets"] or counted != expected:
            wrong += f"in pieces of {piece}: {found} {counted}; "
    return wrong


def check_conversation(conversation, device):
    """What the device sends at each step is what it should send."""
    bench = Bench(device["pin_map"].encode(), device["boot_id"], device["reset_cause"])
    for number, step in enumerate(conversation["steps"]):
        bench.run_until(step["at_ms"])
        bench.give(from_hex(step["arrives"]))
        wrong = compare(bench.sent(), step["sends"]) or compare_lights(bench, step.get("lights"))
        if wrong:
            return f"step {number} at {step['at_ms']} ms: {wrong}"
    return ""


def compare(sent, expected):
    """Compare packets, of which the vector names some fields."""
    if [packet["kind"] for packet in sent] != [packet["kind"] for packet in expected]:
        return f"sends {sent}, expected {expected}"
    for one, other in zip(sent, expected):
        for name, value in other["fields"].items():
            if one["fields"].get(name) != value:
                return "{}: {} is {}, expected {}".format(one["kind"], name, one["fields"].get(name), value)
    return ""


def compare_lights(bench, lights):
    """Compare what the host wants shown, or that the device waits."""
    if lights is None:
        return ""
    frame = bench.device.lights
    shown = "waiting" if frame.is_waiting else to_hex(frame.wanted)
    if not frame.is_waiting and len(lights) <= len(shown):
        lights += "0" * (len(shown) - len(lights))
    return "" if shown == lights else f"lights are {shown}, expected {lights}"
