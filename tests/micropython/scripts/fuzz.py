"""Much rubbish into a device's ears: whatever comes, nothing fails, and nothing is taken that wasn't sent."""

from bench import Bench, from_hex

_MULTIPLIER = 1664525
_INCREMENT = 1013904223


def run(data):
    """Feed random, spliced and damaged bytes; ``planted`` frames stand between pieces of rubbish."""
    bench = Bench(data["pin_map"].encode())
    planted = [from_hex(frame) for frame in data["planted"]]
    number = data["seed"]
    fed = 0
    whole = 0
    while fed < data["bytes"]:
        number = (number * _MULTIPLIER + _INCREMENT) & 0xFFFFFFFF
        frame = planted[(number >> 8) % len(planted)]
        choice = number >> 29
        if choice < 2:
            piece = frame
            whole += 1
        elif choice < 5:
            cut = (number >> 12) % (len(frame) - 2)
            damaged = bytearray(frame)
            damaged[1 + cut] ^= 1 + (number >> 16) % 255
            piece = bytes(damaged)
        elif choice < 6:
            cut = 1 + (number >> 12) % (len(frame) - 2)
            piece = frame[:cut] + planted[(number >> 4) % len(planted)][cut:]
            if piece in planted:
                whole += 1
        else:
            piece, number = rubbish(number)
        # A zero of its own, so that the piece before can't swallow a frame's beginning.
        bench.device.reader.feed(b"\0" + piece, bench.board.now)
        fed += len(piece) + 1
        bench.board.now += 1
        bench.device.step()
        bench.board.sent = bytearray()
    reader = bench.device.reader
    dropped = reader.undecodable + reader.too_short + reader.too_long + reader.wrong_checksum
    return [{"accepted": reader.accepted, "whole": whole, "dropped": dropped, "fed": fed}]


def rubbish(number):
    """Give some hundred random bytes, and the random number after them."""
    data = bytearray(number >> 24)
    for index in range(len(data)):
        number = (number * _MULTIPLIER + _INCREMENT) & 0xFFFFFFFF
        data[index] = number >> 24
    return bytes(data), number
