"""A device that is acted upon: bytes arrive, contacts move, time passes. Gives everything it does."""

from bench import Bench, from_hex, to_hex


def run(cases):
    """Act out each case and give what the device did, in order."""
    return [act(case) for case in cases]


def act(case):
    """Act out one: ``acts`` are [time in ms, what, value]."""
    bench = Bench(case["pin_map"].encode(), case["boot_id"], case["reset_cause"], case["starts_ms"])
    board = bench.board
    done = []
    for at_ms, what, value in case["acts"]:
        bench.run_until(case["starts_ms"] + at_ms)
        if what == "arrives":
            bench.give(from_hex(value))
        else:
            setattr(board, what, value)
        done += [[board.now, packet] for packet in bench.sent()]
    reader = bench.device.reader
    return {
        "sent": done,
        "shown": [to_hex(colours) for colours in board.shown],
        "tones": [list(tone) for tone in board.tones],
        "restarts": len(board.restarts),
        "counted": [reader.accepted, reader.undecodable, reader.too_short, reader.too_long, reader.wrong_checksum],
    }
