"""The loops over bytes, lights and pins in plain Python; ``native_loops`` has the same in machine code."""

from ..core.board import Levels


def make_levels() -> Levels:
    """Make the loops over lights."""
    return Levels()


def read_waiting(ipoll: object, readinto: object, slots: "list[memoryview]") -> int:
    """Read waiting bytes, one into each slot, and return their number."""
    count = 0
    for slot in slots:
        for _ in ipoll(0):  # type: ignore[operator]
            readinto(slot)  # type: ignore[operator]
            count += 1
            break
        else:
            break
    return count


def write_while_room(ipoll: object, write: object, data: memoryview, one: bytearray) -> int:
    """Write bytes one by one, through the buffer ``one``, while there is room; returns their number."""
    count = 0
    for byte in data:
        for _ in ipoll(0):  # type: ignore[operator]
            one[0] = byte
            write(one)  # type: ignore[operator]
            count += 1
            break
        else:
            break
    return count


def pack_words(colours: bytearray, words: bytearray, at_red: int, at_green: int, at_blue: int) -> None:
    """Copy three bytes a light into words of four, at the given offsets; the fourth byte is left as it is."""
    to = 0
    for at in range(0, len(colours), 3):
        words[to + at_red] = colours[at]
        words[to + at_green] = colours[at + 1]
        words[to + at_blue] = colours[at + 2]
        to += 4
