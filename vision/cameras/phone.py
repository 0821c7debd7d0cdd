"""A phone as the camera: it sends JPEGs to the page, and only the newest waits for the referee."""

import threading
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Self

from common.phrases import Phrase
from vision.cameras.live import PlainWaiting
from vision.errors import CameraError, FrameError, FrameTimeoutError, NothingNewError
from vision.frame import Camera, Clock, Frame, Waiting
from vision.images import decode_photo, focal_share, image_size, is_jpeg

MOST_FRAME_BYTES = 512 * 1024
"""The most bytes of a frame; one of 1280 x 720 takes about 115 KiB. Higher: fewer of them through a slow network."""
LONGEST_PX = 1920
"""The most pixels of a frame along either side; photos are reduced to as many."""
MOST_PHOTO_PIXELS = 50_000_000
"""The most pixels of a photo: more than any phone takes."""
OLDEST_S = 2.0
"""Age, in seconds, from which a frame is thrown away: it may show the table before the last turn."""
SILENT_S = 4.0
"""Seconds without a frame after which the phone counts as gone; one that is asked for few sends one a second."""
SPEC = "phone"
_PICTURE, _PHOTO = Phrase("the phone's picture"), Phrase("the photo")


@dataclass(frozen=True)
class _Letter:
    """A JPEG of a film, which came at ``came_s``, and was taken at ``taken_s``, both by the camera's clock."""

    data: bytes
    taken_s: float


class PhoneCamera(Camera):
    """The camera of a phone, whose pictures the page puts in; any thread may do that.

    Of a film, only the newest picture waits for the referee; it is decoded when the referee takes it. A photo shows a
    table at rest: it is judged as one, and the judgement is told to whoever took it. ``clock`` returns monotonic
    seconds; ``read`` waits for a picture with ``waiting``.
    """

    def __init__(self, clock: Clock, waiting: Waiting | None = None) -> None:
        super().__init__(SPEC)
        self._clock = clock
        self._waiting: Waiting = waiting or PlainWaiting()
        self._lock = threading.Lock()
        self._newest: _Letter | None = None
        self._photo: Frame | None = None
        self._judged: Future[str] | None = None
        self._judges: int | None = None
        """The sequence of the photo that is judged."""
        self._sequence = 0
        self._heard_s: float | None = None
        self._takes_photos = self._is_closed = False

    def opened(self, waiting: Waiting | None = None) -> Self:
        """Return the camera, to be read from now on, also after it was closed."""
        self._waiting, self._is_closed = waiting or self._waiting, False
        return self

    def put(self, data: bytes, age_s: float = 0.0) -> None:
        """Put a JPEG of a film, taken ``age_s`` seconds ago, in the place of an older one.

        Raises FrameError for what is no whole JPEG, or too large; nothing is decoded for that.
        """
        size = image_size(data)
        if size is None or min(size) == 0 or not is_jpeg(data):
            raise FrameError("{name} is not a whole JPEG", _PICTURE)
        if len(data) > MOST_FRAME_BYTES or max(size) > LONGEST_PX:
            raise FrameError("{name} is too large; {most} pixels along a side are the most", _PICTURE, LONGEST_PX)
        with self._lock:
            self._heard_s, self._takes_photos = self._clock(), False
            self._newest = _Letter(data, self._heard_s - max(age_s, 0.0))
        self._waiting.wake()

    def photograph(self, data: bytes, original: bytes = b"") -> Future[str]:
        """Have a photo judged, and return what will be said about it.

        ``original`` is how the file began before the page reduced the photo: it tells of the lens.
        Raises FrameError for what is no photo, or too large a one, and CameraError while another one is being judged.
        """
        with self._lock:
            if self._judged is not None and not self._judged.done():
                raise CameraError("the photo before is still being looked at; wait a moment")
            judged = self._judged = Future()
            self._judges = None
        try:
            image = decode_photo(data, _PHOTO, most_pixels=MOST_PHOTO_PIXELS, longest_px=LONGEST_PX)
        except FrameError:
            judged.cancel()
            raise
        with self._lock:
            self._newest, self._takes_photos = None, True
            told, self._judges = focal_share(original or data), self._next_sequence()
            self._photo = Frame(image, self._clock(), self._judges, SPEC, is_still=True, focal_share=told)
        self._waiting.wake()
        return judged

    def tell(self, frame: Frame | None, words: str) -> None:
        """Tell what was judged of a frame to whoever took it, if it is the newest photo."""
        with self._lock:
            is_it = frame is not None and frame.is_still and frame.sequence == self._judges
            if is_it and self._judged is not None and not self._judged.done():
                self._judged.set_result(words)

    def stop(self) -> None:
        """Note that the phone sends no more."""
        with self._lock:
            self._newest = self._heard_s = None
            self._takes_photos = False
        self._waiting.wake()

    @property
    def takes_photos(self) -> bool:
        """Whether photos come, and no film."""
        return self._takes_photos

    @property
    def is_silent(self) -> bool:
        """Whether neither a film nor photos come."""
        heard_s = self._heard_s
        return not self._takes_photos and (heard_s is None or self._clock() - heard_s >= SILENT_S)

    def _next_sequence(self) -> int:
        self._sequence += 1
        return self._sequence

    def _has_news(self) -> bool:
        return self._newest is not None or self._photo is not None or self._is_closed

    def _read(self, timeout_s: float) -> Frame:
        """Return the photo, or the newest picture of the film; while photos are taken, there may be none for long."""
        self._waiting.until(self._has_news, timeout_s)
        with self._lock:
            if self._is_closed:
                raise CameraError("camera {name} is closed", self.name)
            photo, letter, now_s = self._photo, self._newest, self._clock()
            self._photo = self._newest = None
            if photo is not None:
                return photo
            if letter is None or now_s - letter.taken_s > OLDEST_S:
                if not self.is_silent:
                    raise NothingNewError("{name}: no new picture", self.name)
                raise FrameTimeoutError("no picture comes from a phone; open /camera on it, and keep that page open")
            sequence = self._next_sequence()
        image = decode_photo(letter.data, _PICTURE, most_pixels=LONGEST_PX**2)
        return Frame(image, letter.taken_s, sequence, self.name)

    def close(self) -> None:
        """Take no more pictures."""
        self._is_closed = True
        self._waiting.wake()
