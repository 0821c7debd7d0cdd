"""Reading and writing image files, and rejecting pictures that cannot be used."""

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import cv2
import numpy as np

from common.durable import write_durably
from vision.errors import CameraError, FrameError
from vision.frame import Image, is_picture
from vision.opencv import as_grey

IMAGE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff"})

MOST_PIXELS = 100_000_000
"""More than any camera has. A small file may claim far more, and the memory for it would be taken at once."""
MOST_FILE_BYTES = 128 * 1024 * 1024
"""More than a camera's picture takes, even a PNG of 48 million pixels. A larger file isn't read."""

_BLACK_BELOW, _LIT_SHARE = 10, 0.01
"""Grey level, of 255, below which a pixel is black, and the share of other pixels below which a picture is black.
Higher: more dim pictures are rejected. Set by hand.
"""
_UNDECODED = 128
"""Level of every channel where a JPEG's data ended too early: libjpeg fills the rest with it (jdhuff.c)."""
_JPEG_START, _JPEG_END = b"\xff\xd8", b"\xff\xd9"
_JPEG_SCAN = 0xDA
"""The marker of the segment after which the pixels follow."""
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""The markers of the segments that say how large a JPEG is."""
_JPEG_PROGRESSIVE = frozenset((0xC2, 0xC6, 0xCA, 0xCE))
"""Those of the frames that come in several scans."""
_JPEG_BARE = frozenset((0x00, 0x01, *range(0xD0, 0xDA)))
"""Markers without a length, of which none stands before the first pixels: decoders skip them, each in its own way."""
_MOST_SCANS = 100
"""The most scans of a JPEG; progressive ones have about ten. Higher: a small file may take longer to decode."""
MOST_PIXELS_IN_SCANS = 16_000_000
"""The most pixels of a photo that is a JPEG of several scans: the decoder keeps up to 6 bytes a pixel until the last
scan, whatever it is reduced to. Higher: one photo takes more memory.
"""
_JPEG_FILL = 0xFF
"""Any number of these may precede a marker."""
_PNG_START, _PNG_END = b"\x89PNG\r\n\x1a\n", b"IEND"
_REDUCED = {8: cv2.IMREAD_REDUCED_COLOR_8, 4: cv2.IMREAD_REDUCED_COLOR_4, 2: cv2.IMREAD_REDUCED_COLOR_2}
_STARTS = (_JPEG_START, _PNG_START, b"BM", b"RIFF", b"II*\0", b"MM\0*")
_LONGEST_START = 8
"""How many bytes tell an image's format."""
_PNG_CHUNK_BYTES = 12
"""A chunk's length, kind and checksum."""
_TIFF_SIDES = (256, 257)
"""The tags of a TIFF's width and height."""
_TIFF_SHORT = 3
"""The kind of a TIFF's value of two bytes."""
_JPEG_EXIF, _EXIF_START = 0xE1, b"Exif\0\0"
"""The marker of the segment with EXIF data, and how these start: a TIFF follows."""
_EXIF_DIRECTORY, _FOCAL_ON_FILM = 0x8769, 0xA405
"""The tags of the camera's directory, and in it of the focal length that would give such a picture on 35 mm film."""
_FOCALS_ON_FILM_MM = range(12, 121)
"""Those that are believed, from a phone's widest lens to one for portraits."""
_FILM_DIAGONAL_MM = 43.27


def check_frame(image: Image, size: tuple[int, int] | None = None, *, source: str = "the camera") -> None:
    """Raise FrameError when an array is not a picture, is black, lacks its lower part, or is not of ``size`` (width,
    height) in pixels.
    """
    if not is_picture(image):
        raise FrameError(
            "{source} gave an array of {dtype} {shape}; expected 8 bits a channel, in one channel or three",
            source,
            image.dtype,
            image.shape,
        )
    height, width = image.shape[:2]
    if size is not None and width != height and (height, width) == tuple(size):
        raise FrameError(
            "{source} gave a picture that is turned by 90 degrees, of {width} x {height} pixels; turn it back in the "
            "camera's program, or calibrate the camera again",
            source,
            width,
            height,
        )
    if size is not None and (width, height) != tuple(size):
        raise FrameError(
            "{source} gave a picture of {width} x {height} pixels where {size} x {size_2} is expected; "
            "set the camera to that size, or calibrate it again at this one",
            source,
            width,
            height,
            size[0],
            size[1],
        )
    grey = as_grey(np.ascontiguousarray(image[::8, ::8]))
    if np.count_nonzero(grey >= _BLACK_BELOW) < _LIT_SHARE * grey.size:
        raise FrameError(
            "the picture from {source} is black; take the lens cap off, switch a lamp on, or look at its exposure",
            source,
        )
    if np.all(image[-1] == _UNDECODED):
        decoded = np.flatnonzero(np.any(image.reshape(height, -1) != _UNDECODED, axis=1))
        if not decoded.size:
            raise FrameError(
                "the picture from {source} is the same grey everywhere; point the camera at the table", source
            )
        missing = height - 1 - int(decoded[-1])
        raise FrameError(
            "the picture from {source} lacks its lower {missing} of {height} rows; if that happens "
            "often, try another cable or a smaller picture",
            source,
            missing,
            height,
        )


def is_complete_image(data: bytes) -> bool:
    """Return whether a JPEG's or PNG's bytes are complete; those of other formats always are, unless empty."""
    if data.startswith(_JPEG_START):
        # thumbnails before the pixels and films behind them may have either marker, too
        scan = next((at for kind, at in _jpeg_segments(data) if kind == _JPEG_SCAN), len(data))
        return data.find(_JPEG_END, scan) > 0
    if data.startswith(_PNG_START):
        return _has_all_chunks(data)
    return len(data) > 0


def has_end_mark(data: bytes) -> bool:
    """Return whether a file's bytes are of a format, JPEG or PNG, that shows whether they are complete."""
    return data.startswith((_JPEG_START, _PNG_START))


def _has_all_chunks(data: bytes) -> bool:
    """Return whether a PNG's chunks are as long as they say: OpenCV allocates the memory that a chunk claims."""
    at, kind = len(_PNG_START), b""
    while kind != _PNG_END and at + _PNG_CHUNK_BYTES <= len(data):
        kind = data[at + 4 : at + 8]
        at += _PNG_CHUNK_BYTES + int.from_bytes(data[at : at + 4])
    return kind == _PNG_END and at <= len(data)


def decode_image(data: bytes, name: str, flags: int = cv2.IMREAD_COLOR) -> Image:
    """Decode an image file's bytes to blue-green-red; raises FrameError for truncated data or another format.

    ``flags`` are OpenCV's.
    """
    if not data:
        raise FrameError("{name} is empty; expected an image", name)
    if not is_complete_image(data):
        raise FrameError("{name} is cut off after {size} bytes; copy or take it again", name, len(data))
    size = image_size(data)
    if size is None:
        raise FrameError("{name} is not a readable image; expected JPEG, PNG, BMP, WebP or TIFF", name)
    _check_size(size, name, MOST_PIXELS)
    if data.startswith(_JPEG_START) and data.count(bytes((_JPEG_FILL, _JPEG_SCAN))) > _MOST_SCANS:
        raise FrameError("{name} has over {most} scans; save it as a plain JPEG", name, _MOST_SCANS)
    try:
        image = cv2.imdecode(np.frombuffer(data, dtype=np.uint8), flags)
    except cv2.error as error:
        raise FrameError("{name} cannot be decoded: {err}", name, error.err) from error
    if image is None:
        raise FrameError(
            "{name} can't be decoded: it is damaged, or its {width} x {height} pixels need more memory than there is",
            name,
            size[0],
            size[1],
        )
    return np.asarray(image, dtype=np.uint8)


def image_size(data: bytes) -> tuple[int, int] | None:
    """Read an image's (width, height) from its header, without decoding it; ``None`` for another format than that of
    IMAGE_SUFFIXES, or a damaged header.
    """
    if data.startswith(_PNG_START):
        return _numbers(">II", data, 16) if data[12:16] == b"IHDR" else None
    if data.startswith(_JPEG_START):
        return _jpeg_size(data)
    if data.startswith(b"BM"):
        is_old = data[14:18] == b"\x0c\0\0\0"
        size = _numbers("<HH" if is_old else "<ii", data, 18)
        return None if size is None else (abs(size[0]), abs(size[1]))
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _webp_size(data)
    return _tiff_size(data)


def _numbers(layout: str, data: bytes, at: int) -> tuple[int, int] | None:
    """Unpack two numbers, in the notation of ``struct``; ``None`` where the data ends before."""
    return struct.unpack_from(layout, data, at) if at + struct.calcsize(layout) <= len(data) else None


def _jpeg_segments(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the marker and the start of each segment before the first pixels, and of the one that these follow."""
    at = len(_JPEG_START)
    while data[at : at + 1] == b"\xff" and at + 4 <= len(data):
        kind = data[at + 1]
        if kind == _JPEG_FILL:
            at += 1
            continue
        if kind in _JPEG_BARE:
            return
        yield kind, at
        at += 2 + int.from_bytes(data[at + 2 : at + 4])


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = next((at for kind, at in _jpeg_segments(data) if kind in _JPEG_FRAMES), len(data))
    size = _numbers(">HH", data, at + 5)
    return None if size is None else size[::-1]


def _has_several_scans(data: bytes) -> bool:
    """Return whether a JPEG's pixels come in several scans: progressively, or one colour after the other."""
    components = 0
    for kind, at in _jpeg_segments(data) if data.startswith(_JPEG_START) else ():
        if kind in _JPEG_PROGRESSIVE:
            return True
        if kind in _JPEG_FRAMES:
            components = int.from_bytes(data[at + 9 : at + 10])
        if kind == _JPEG_SCAN:
            return int.from_bytes(data[at + 4 : at + 5]) < components
    return False


def _webp_size(data: bytes) -> tuple[int, int] | None:
    """Read the size from the first chunk (RFC 9649)."""
    if data[12:16] == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if data[12:16] == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    size = _numbers("<HH", data, 26) if data[12:16] == b"VP8 " else None
    return None if size is None else (size[0] & 0x3FFF, size[1] & 0x3FFF)


def _tiff_size(data: bytes) -> tuple[int, int] | None:
    """Read the size from the first directory (TIFF 6.0); where one is given twice, the larger one."""
    first = _tiff_directory(data)
    width, height = (first.get(side, 0) for side in _TIFF_SIDES)
    return (width, height) if width and height else None


def _tiff_directory(data: bytes, start: int | None = None) -> dict[int, int]:
    """Read the numbers of a TIFF's first directory, or of that at ``start``, by tag, the largest of each.

    None for what is no TIFF.
    """
    order: Literal["little", "big"]
    if data.startswith(b"II*\0"):
        order = "little"
    elif data.startswith(b"MM\0*"):
        order = "big"
    else:
        return {}
    start = int.from_bytes(data[4:8], order) if start is None else start
    found: dict[int, int] = {}
    for number in range(int.from_bytes(data[start : start + 2], order)):
        entry = data[start + 2 + 12 * number : start + 14 + 12 * number]
        if len(entry) < 12:
            break
        tag, kind = (int.from_bytes(entry[at : at + 2], order) for at in (0, 2))
        value = int.from_bytes(entry[8:10] if kind == _TIFF_SHORT else entry[8:12], order)
        found[tag] = max(found.get(tag, 0), value)
    return found


def focal_share(data: bytes) -> float | None:
    """Read the focal length, as a share of the picture's diagonal, from the EXIF data at the start of a JPEG.

    ``None`` where it tells none, or one that is not believed.
    """
    segments = _jpeg_segments(data) if data.startswith(_JPEG_START) else ()
    starts = (at + 4 for kind, at in segments if kind == _JPEG_EXIF and data[at + 4 : at + 10] == _EXIF_START)
    exif = data[next(starts, len(data)) + len(_EXIF_START) :]
    camera = _tiff_directory(exif).get(_EXIF_DIRECTORY)
    focal_mm = 0 if camera is None else _tiff_directory(exif, camera).get(_FOCAL_ON_FILM, 0)
    return focal_mm / _FILM_DIAGONAL_MM if focal_mm in _FOCALS_ON_FILM_MM else None


def is_jpeg(data: bytes) -> bool:
    """Return whether the bytes are a whole JPEG, as far as that shows without decoding it."""
    return data.startswith(_JPEG_START) and is_complete_image(data)


def decode_photo(data: bytes, name: str, *, most_pixels: int, longest_px: int | None = None) -> Image:
    """Decode a photo from somewhere else to blue-green-red, once its header says that it isn't too large.

    It is turned as its EXIF data says, and reduced to ``longest_px`` along its longer side. Raises FrameError for what
    is no JPEG or PNG, is cut off, or has more than ``most_pixels``, or ``MOST_PIXELS_IN_SCANS`` if it is a progressive
    JPEG.
    """
    size = image_size(data)
    if size is None or not has_end_mark(data):
        raise FrameError("{name} is not a readable image; expected JPEG or PNG", name)
    _check_size(size, name, most_pixels)
    if size[0] * size[1] > MOST_PIXELS_IN_SCANS and _has_several_scans(data):
        raise FrameError(
            "{name} is a progressive JPEG of {width} x {height} pixels; at most {most_millions} million are allowed; "
            "save it as a plain JPEG",
            name,
            size[0],
            size[1],
            f"{MOST_PIXELS_IN_SCANS / 1000000.0:g}",
        )
    if longest_px is None or max(size) <= longest_px:
        return decode_image(data, name)
    # the decoder leaves out what would be averaged away, so a large plain JPEG takes a quarter of the memory
    by = next((by for by in _REDUCED if max(size) >= by * longest_px), 1)
    image = decode_image(data, name, _REDUCED.get(by, cv2.IMREAD_COLOR))
    height, width = image.shape[:2]
    scale = longest_px / max(width, height)
    if scale >= 1:
        return image
    smaller = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.asarray(cv2.resize(image, smaller, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _check_size(size: tuple[int, int], name: str, most_pixels: int) -> None:
    if size[0] * size[1] > most_pixels:
        raise FrameError(
            "{name} has {width} x {height} pixels; {most_millions} million are the most",
            name,
            size[0],
            size[1],
            f"{most_pixels / 1000000.0:g}",
        )


def read_image(path: Path) -> bytes:
    """Read an image file's bytes, but only the first ones of a file that isn't an image.

    Raises OSError when it cannot be read, and FrameError when it is larger than any camera's picture.
    """
    with path.open("rb") as file:
        start = file.read(_LONGEST_START)
        if not start.startswith(_STARTS):
            return start
        data = start + (file.read(MOST_FILE_BYTES) if path.stat().st_size <= MOST_FILE_BYTES else b"")
    size_bytes = max(len(data), path.stat().st_size)
    if size_bytes > MOST_FILE_BYTES:
        raise FrameError(
            "{path} has {size_mib} MiB; {most_mib} MiB are the most of a picture",
            path,
            size_bytes >> 20,
            MOST_FILE_BYTES >> 20,
        )
    return data


def load_image(path: Path) -> Image:
    """Read an image file; raises CameraError when it cannot be opened, FrameError when it is not a complete image."""
    try:
        data = read_image(path)
    except OSError as error:
        raise CameraError("cannot read {path}: {strerror}", path, error.strerror) from error
    return decode_image(data, str(path))


def write_image(path: Path, image: Image, parameters: Sequence[int] = (), *, durably: bool = True) -> None:
    """Write a picture in the format of the file's suffix; raises FrameError when that fails.

    ``parameters`` are OpenCV's for that format. ``durably``: whole or not at all, even on a full disk or in a power
    cut. OpenCV only encodes: it can't open every valid file name.
    """
    try:
        # OpenCV crashes on a suffix that is not text
        is_encoded, data = cv2.imencode(path.suffix if path.suffix.isascii() else "", image, list(parameters))
    except cv2.error as error:
        raise FrameError("cannot write the picture {path}: its name should end in .png or .jpg", path) from error
    if not is_encoded:
        raise FrameError("cannot write the picture {path}: it can't be encoded as {suffix}", path, path.suffix)
    try:
        if durably:
            write_durably(path, data.tobytes())
        else:
            path.write_bytes(data.tobytes())
    except OSError as error:
        raise FrameError(
            "cannot write the picture {path}: {strerror}; check that its folder exists and may be written",
            path,
            error.strerror,
        ) from error
