"""The bytes of photos: a JPEG's segments, TIFF's directories, and the EXIF data that tell of a lens."""

from typing import Literal

FILM_DIAGONAL_MM = 43.27
Order = Literal["little", "big"]


def segment(kind: int, body: bytes) -> bytes:
    """A JPEG's segment."""
    return bytes([0xFF, kind]) + (len(body) + 2).to_bytes(2) + body


def tiff(order: Order, *entries: tuple[int, int, int]) -> bytes:
    """A TIFF's header and first directory, of entries (tag, kind, value)."""
    made = (b"II*\0" if order == "little" else b"MM\0*") + (8).to_bytes(4, order) + len(entries).to_bytes(2, order)
    for tag, kind, value in entries:
        size = 2 if kind == 3 else 4
        made += tag.to_bytes(2, order) + kind.to_bytes(2, order) + (1).to_bytes(4, order)
        made += value.to_bytes(size, order).ljust(4, b"\0")
    return made


def telling(jpeg: bytes, focal_mm: int, order: Order = "little", *before: bytes) -> bytes:
    """The JPEG, whose EXIF data tell a focal length as on 35 mm film, behind other segments."""
    directory = tiff(order, (0x0110, 2, 0), (0x8769, 4, 38)) + bytes(4)
    exif = directory + tiff(order, (0xA405, 3, focal_mm), (0xA406, 3, 0))[8:] + bytes(4)
    assert len(directory) == 38
    return jpeg[:2] + b"".join(before) + segment(0xE1, b"Exif\0\0" + exif) + jpeg[2:]
