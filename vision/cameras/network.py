"""Cameras with an address in the network: MJPEG and single pictures by HTTP, and RTSP."""

import contextlib
import re
import sys
from pathlib import Path
from urllib.parse import SplitResult, quote, urlsplit

from common.phrases import Phrase
from common.whole_files import read_text
from vision.cameras.http_film import MOST_PIXELS, PORTS, HttpFilm, connected
from vision.cameras.live import Capture, LiveCamera, Shot
from vision.cameras.processes import CameraProcess
from vision.errors import CameraError
from vision.frame import Clock, Waiting

_RTSP_PORT = 554
ADDRESS_PATTERN = re.compile(r"(https?|rtsp)://.+", re.IGNORECASE)
"""The addresses that may be opened: FFmpeg's other schemes read files, or what this machine sends."""
IN_A_FILE = re.compile(r"address:(?P<file>(?!\w+:/).+)")
"""A camera whose address stands in a file."""
_SECRET = re.compile(
    r"[^/]*//[^/?#]*@|.*[/?&;][^/?&;=]*(pas|pwd|psw|pw|token|secret|key|auth|credential)[^/?&;=]*=", re.IGNORECASE
)
"""An address with a user, or with a part that is named like a password."""
_MOST_ADDRESS_BYTES = 4096
OPEN_S = 4.0
"""How long, in seconds, a camera may take to answer; RTSP cameras took up to 2. Longer: slower to say what is wrong."""
READ_S = 3.0
"""How long, in seconds, it may send nothing until it is opened again. Longer: outlasts longer gaps of a network."""
_RETRY_S = 3.0
"""Seconds between two tries to open it again. Longer: later pictures, less to do for a camera that starts."""
RTSP_READER = Path(__file__).with_name("rtsp_reader.py")
_START_S = 20.0
"""Maximum time, in seconds, for RTSP's process to start. It takes about one on a Pi 4, more from a slow card."""
_SPARE_S = 1.0
"""How much longer, in seconds, that process may take than the camera."""
MOST_RTSP_BYTES = 400 << 20
"""The most memory, in bytes, of RTSP's process, its pictures included; a 4K film took 207 MiB on two cores.
Higher: a faulty camera fills more memory."""


def shown_address(address: str) -> str:
    """Return the part of an address that may be shown: its scheme, host and port.

    A user, a password, and a path or query, in which many cameras take both, are left out. Where it can't be told
    which part is the host, only the scheme is shown.

    >>> shown_address("rtsp://me:secret@10.0.0.7:8554/live?password=secret")
    'rtsp://10.0.0.7:8554'
    """
    shown = re.sub(r"^([^/]*/*)(?:[^/?#]*@)?([^/?#]*)([^@]*)$", r"\1\2", address.strip())
    return re.sub(r"^([^/]*/*).*@.*", r"\1…", shown, flags=re.DOTALL)


def has_password(address: str) -> bool:
    """Return whether an address seems to hold a user or a password: then it must not be shown, or be for all to read.

    >>> has_password("http://me:secret@10.0.0.7/"), has_password("http://10.0.0.7/video?size=2")
    (True, False)
    """
    return ADDRESS_PATTERN.fullmatch(address.strip()) is not None and _SECRET.match(address.strip()) is not None


def with_user(address: str, user: str, password: str) -> str:
    """Return an address with a user and a password before its host, in the place of others; as it is without them.

    >>> with_user("http://10.0.0.7/video", "me", "a@b")
    'http://me:a%40b@10.0.0.7/video'
    """
    if not (user or password):
        return address
    before = f"{quote(user, safe='')}:{quote(password, safe='')}@"
    return re.sub(r"^(\w+://)(?:[^/?#]*@)?", lambda scheme: scheme[1] + before, address)


def with_address(spec: str) -> str:
    """Return a specification with the address in the place of the file that holds it; any other as it is.

    Raises CameraError, which quotes nothing of it, if the file can't be read or holds no address.
    """
    named = IN_A_FILE.fullmatch(spec.strip())
    if named is None:
        return spec
    try:
        lines = read_text(Path(named["file"]), most_bytes=_MOST_ADDRESS_BYTES).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or Phrase("it is not text")
        raise CameraError("the camera's address can't be read from {file} ({reason})", named["file"], reason) from error
    if not lines or not ADDRESS_PATTERN.fullmatch(lines[0].strip()):
        raise CameraError(
            "the first line of {file} is not a camera's address; expected one such as http://192.168.1.7:8080/video",
            named["file"],
        )
    return lines[0].strip()


def network_camera(address: str, *, clock: Clock, waiting: Waiting | None = None) -> LiveCamera:
    """Open a camera by its address. Raises CameraError, which never shows a password, when it cannot be opened."""
    name = shown_address(address)
    split = _split(address, name)

    def open_capture() -> Capture:
        if split.scheme in PORTS:
            return HttpFilm(split, name, is_secret=has_password(address), open_s=OPEN_S, read_s=READ_S)
        return RtspFilm(split, name, open_s=OPEN_S, read_s=READ_S)

    return LiveCamera(
        open_capture,
        name=name,
        clock=clock,
        retry_s=_RETRY_S,
        waiting=waiting,
        remedy=Phrase("look whether it is switched on and in this network"),
        silent_remedy=Phrase("look whether it is switched on and in this network"),
    )


def _split(address: str, name: str) -> SplitResult:
    """Split an address; raises CameraError for one without a host or with a wrong port."""
    with contextlib.suppress(ValueError):
        split = urlsplit(address.strip())
        if split.hostname and split.port != 0:
            return split
    raise CameraError("{name} is not a camera's address; expected one such as http://192.168.1.7:8080/video", name)


class RtspFilm:
    """An RTSP camera's film, read in a process of its own, whose memory is limited.

    Raises CameraError if no film comes within ``open_s``; each picture has ``read_s``, both in seconds.
    """

    def __init__(self, address: SplitResult, name: str, *, open_s: float, read_s: float) -> None:
        self._name, self._read_s = name, read_s
        # FFmpeg gives no reason.
        connected(address.hostname or "", address.port or _RTSP_PORT, open_s, name).close()
        command = (sys.executable, "-I", str(RTSP_READER))
        size = MOST_PIXELS * 3
        try:
            self._process = CameraProcess(command, {"bytes": size}, memory_bytes=size, most_bytes=MOST_RTSP_BYTES)
        except OSError as error:
            raise CameraError("camera {name} can't be opened: {error}", name, error) from error
        limits = {"open_ms": round(open_s * 1000), "read_ms": round(read_s * 1000)}
        with contextlib.ExitStack() as undo:
            # Also when Ctrl-C ends the waiting.
            undo.callback(self.release)
            is_started = self._process.reply(_START_S) is not None
            asked = {"do": "open", "address": address.geturl(), **limits}
            reply = self._process.request(asked, open_s + _SPARE_S) if is_started else None
            self._raise_if_too_large()
            if reply is None or not reply["opened"]:
                raise CameraError(
                    "camera {name} answers, but sends no film; are the path, the user and the password in its address "
                    "right?",
                    name,
                )
            undo.pop_all()

    def read(self) -> Shot | None:
        """Wait for the next picture; ``None`` when none comes. Raises CameraError if it takes too much memory."""
        reply = self._process.request({"do": "frame"}, self._read_s + _SPARE_S)
        self._raise_if_too_large(reply is not None and "too_large" in reply)
        if reply is None or "ended" in reply:
            return None
        return Shot(self._process.picture(reply["width"], reply["height"]))

    def lock(self, locked: bool) -> None:
        """Do nothing: the camera's own settings can't be reached."""

    def release(self) -> None:
        """End the process."""
        self._process.release()

    def _raise_if_too_large(self, is_too_large: bool = False) -> None:
        if is_too_large or self._process.is_too_large:
            raise CameraError("camera {name} sends more than any film takes; it was cut off", self._name)
