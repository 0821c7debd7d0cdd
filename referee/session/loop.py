"""The loop around the service: the thin edge where cameras fail and people press buttons."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from referee.commands.command_socket import Request
from referee.judge.verdict import Verdict
from referee.session.requests import PutBack, dispatch, no_sensors
from referee.session.service import Service
from vision.errors import CameraError, EndOfFramesError, FrameError, FrameTimeoutError, NothingNewError
from vision.frame import Frame

RETRY_S = 1.0


class FrameSource(Protocol):
    """What the loop needs of a camera."""

    def read(self, timeout_s: float) -> Frame:
        """Give the newest frame; errors as in ``vision.cameras``."""


def _never() -> bool:
    return False


def _no_presses() -> Iterable[str]:
    return ()


def _no_requests() -> Iterable[Request]:
    return ()


def _ignore(frame: Frame | None, verdicts: list[Verdict]) -> None:
    del frame, verdicts


@dataclass(frozen=True)
class LoopPorts:
    """What the loop meets besides the camera.

    ``presses`` gives the roles of the buttons pressed since it was last asked (``end turn``, ``take back``,
    ``hint``), ``requests`` what was asked from outside since then, and ``put_back`` goes by a sensor again when that
    is asked; ``on_verdicts`` hears after every frame what is new, with ``None`` for a frame that could not be used
    and for what is judged at the end; ``stop`` ends the loop; ``wait`` waits that many seconds.
    """

    wait: Callable[[float], object]
    presses: Callable[[], Iterable[str]] = _no_presses
    requests: Callable[[], Iterable[Request]] = _no_requests
    put_back: PutBack = no_sensors
    on_verdicts: Callable[[Frame | None, list[Verdict]], None] = _ignore
    stop: Callable[[], bool] = _never
    read_timeout_s: float = 2.0


def run(service: Service[Any, Any], camera: FrameSource, around: LoopPorts) -> str:
    """Referee until the frames end or ``around.stop`` says so; gives why they ended, nothing when it was stopped.

    A camera that goes away is named once and waited for; a frame that can't be used is passed over. What the last
    frames showed is judged at the end.
    """
    trouble: str | None = None
    while not around.stop():
        for request in around.requests():
            dispatch(service, request.asked, request.answer, around.put_back)
        service.look_for_hint()
        try:
            frame = camera.read(around.read_timeout_s)
        except EndOfFramesError as error:
            around.on_verdicts(None, service.finish())
            return str(error)
        except FrameError as error:
            around.on_verdicts(None, service.bad_frame(str(error)))
            continue
        except NothingNewError:
            continue
        except CameraError as error:
            if trouble is None:
                trouble = f"{error}. The game stands as it is; I go on when the camera is back."
                service.say_trouble(trouble)
            if not isinstance(error, FrameTimeoutError):
                # A device that fails at once would keep a core busy.
                around.wait(RETRY_S)
            continue
        if trouble is not None:
            trouble = None
            service.end_trouble("The camera is back.")
        verdicts = service.step(frame)
        for role in around.presses():
            verdicts += press(service, role)
        around.on_verdicts(frame, verdicts)
    return ""


def press(service: Service[Any, Any], role: str) -> list[Verdict]:
    """Do what the button of that role is for; gives the verdicts that are new. Unknown roles do nothing."""
    match role:
        case "end turn":
            return service.press()
        case "take back":
            service.take_back("button")
        case "hint":
            service.hint()
    return []
