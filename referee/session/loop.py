"""The loop around a service: reads frames, handles camera failures, and has commands carried out."""

import gc
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from common.phrases import Phrase
from hardware.pin_map import ButtonRole
from referee.commands.values import CommandQueue, Press, QueuedCommand
from referee.judge.verdict import Verdict
from referee.session.ports import GameChangedError
from referee.session.service import Service
from vision.errors import CameraError, EndOfFramesError, FrameError, FrameTimeoutError, NothingNewError
from vision.frame import Frame

RETRY_S = 1.0
"""How long, in seconds, to wait before a camera that failed is read again."""
TICK_S = 0.2
"""Seconds between looks at a camera that is away, so between black frames, and the longest that a press waits then."""
_READ_TIMEOUT_S = 2.0
"""How long to wait for a frame, in seconds, before commands are looked at again."""

_WITHOUT_PICTURE = frozenset({ButtonRole.TAKE_BACK, ButtonRole.HINT})
"""The buttons that work while the camera is away; the others judge the table, or ask by the time of the pictures."""
_CAMERA_AWAY = Phrase("The camera is away; press again when it is back.")


class FrameSource(Protocol):
    """What the loop needs from a camera."""

    def read(self, timeout_s: float) -> Frame:
        """Return the newest frame; raises the errors of ``vision.cameras``."""


@dataclass(frozen=True)
class BlackFrames:
    """Makes frames while the camera is away, if the sensors go on without it.

    ``make`` returns a black frame of the camera's size, taken now. ``say`` reports the loss and the return.
    """

    make: Callable[[], Frame]
    say: Callable[[str], object]


@dataclass(frozen=True)
class LoopPorts:
    """What the loop uses besides the camera.

    ``commands`` is the queue for all commands. ``buttons`` returns the roles of the polled buttons pressed since the
    last call. ``on_verdicts`` gets the new verdicts after every frame; its frame is ``None`` if the frame was unusable,
    and for the final judgement. The loop ends when ``stop`` returns true. ``wait`` waits at most that many seconds.
    ``alive`` is called before every frame, and at least every two seconds while no frame comes. ``black`` makes frames
    while the camera is away; the frames are then numbered anew.
    """

    wait: Callable[[float], object]
    commands: CommandQueue
    buttons: Callable[[], Iterable[str]] = lambda: ()
    on_verdicts: Callable[[Frame | None, list[Verdict]], None] = lambda _frame, _verdicts: None
    stop: Callable[[], bool] = lambda: False
    alive: Callable[[], object] = lambda: None
    black: BlackFrames | None = None


def run(service: Service[Any, Any], camera: FrameSource, ports: LoopPorts) -> str:
    """Referee until the frames end or ``ports.stop`` returns true.

    Returns the reason the frames ended, or an empty text if the loop was stopped. Commands are carried out before each
    frame, presses after it, because the frame shows the table they refer to. A lost camera is reported once, then the
    loop waits for it, or goes on with black frames; without those, presses that need it are refused meanwhile. Unusable
    frames are skipped. At the end, the last frames are judged. Raises GameChangedError as ``carry_out_commands`` does,
    also while it waits for the camera.
    """
    # What was loaded and built until now stays, and searching it for garbage takes longer than a frame.
    gc.freeze()
    try:
        return _referee(service, camera, ports)
    finally:
        gc.unfreeze()


def _referee(service: Service[Any, Any], camera: FrameSource, ports: LoopPorts) -> str:
    is_away, sequence, black = False, 0, ports.black
    while not ports.stop():
        ports.alive()
        carry_out_commands(service, ports.commands)
        try:
            frame = camera.read(TICK_S if is_away else _READ_TIMEOUT_S)
        except EndOfFramesError as error:
            ports.on_verdicts(None, service.finish())
            carry_out_commands(service, ports.commands)
            return str(error)
        except FrameError as error:
            verdicts = service.bad_frame(str(error))
            service.lose_sight()
            for pressed in _take_presses(ports):
                # As under a hand, a turn that was ended is judged once the table can be seen.
                verdicts += _carry_out(service, pressed)
            ports.on_verdicts(None, verdicts)
            continue
        except NothingNewError:
            continue
        except CameraError as error:
            if black is None:
                _wait_blind(service, ports, None if is_away else str(error))
            elif not is_away:
                black.say(Phrase("{error}. Until the camera is back, I use only the sensors.", error))
            is_away = True
            if not isinstance(error, FrameTimeoutError):
                # A device that fails immediately would keep a core busy.
                ports.wait(RETRY_S if black is None else TICK_S)
            if black is None:
                continue
            frame = black.make()
        else:
            if is_away:
                is_away = False
                (service.end_trouble if black is None else black.say)(Phrase("The camera is back."))
        if black is not None:
            sequence = max(sequence + 1, frame.sequence)
            frame = replace(frame, sequence=sequence)
        presses = _take_presses(ports)
        roles = {pressed.command.role for pressed in presses if isinstance(pressed.command, Press)}
        verdicts = service.step(frame, ends_turn=ButtonRole.END_TURN in roles)
        for pressed in presses:
            verdicts += _carry_out(service, pressed)
        ports.on_verdicts(frame, verdicts)
    return ""


def _wait_blind(service: Service[Any, Any], ports: LoopPorts, error: str | None) -> None:
    """Keep the game as it is while the camera is away; ``error`` is new."""
    # Each time, since a command may have let the clock run meanwhile, such as a take-back of the end.
    service.lose_sight()
    if error is not None:
        service.say_trouble(Phrase("{error}. The game is kept as it is and goes on when the camera is back.", error))
    for pressed in _take_presses(ports):
        if isinstance(pressed.command, Press) and pressed.command.role in _WITHOUT_PICTURE:
            _carry_out(service, pressed)
        else:
            service.refuse(pressed, _CAMERA_AWAY)


def _take_presses(ports: LoopPorts) -> list[QueuedCommand]:
    """Return the presses that have been held back long enough, with those of the polled buttons."""
    for role in ports.buttons():
        ports.commands.submit(Press(ButtonRole(role)))
    return ports.commands.take_presses()


def carry_out_commands(service: Service[Any, Any], commands: CommandQueue) -> None:
    """Carry out the commands that need no frame, and show a finished hint.

    Raises GameChangedError once a game of another kind was begun: this service has nothing more to do.
    """
    for submitted in commands.take():
        if service.is_other_begun:
            submitted.respond(None)
        else:
            _carry_out(service, submitted)
    if service.is_other_begun:
        raise GameChangedError
    service.poll_hints()


def _carry_out(service: Service[Any, Any], queued: QueuedCommand) -> list[Verdict]:
    return service.carry_out(queued.command, queued.respond, queued.request_id)
