"""Carries commands out, the same way whether a referee is running or only its journal is there."""

from __future__ import annotations

from typing import Protocol, assert_never

from engine.errors import EngineError
from hardware.pins.pin_map import ButtonRole
from referee.commands.corrections import Corrected
from referee.commands.entries import refusal
from referee.commands.values import (
    Announce,
    AskHint,
    Command,
    Correct,
    EnterRoll,
    EnterTurn,
    Entry,
    NewGame,
    Overrule,
    Press,
    Reply,
    Respond,
    RestoreSensor,
    Resume,
    TakeBack,
    unheard,
)
from referee.errors import CorrectionError
from referee.judge.verdict import Verdict


class Session(Protocol):
    """What carries commands out: the running service, or an idle session over the journal.

    Each method records first, then gives the sentence of the reply. Raises CorrectionError, or EngineError, for what
    can't be done.
    """

    def end_turn(self) -> list[Verdict]:
        """Take it that a turn has ended, and give the verdicts that are new."""

    def correct(self, command: Correct) -> Corrected:
        """Let a person say what holds; it outranks the camera."""

    def take_back(self, command: TakeBack) -> str:
        """Undo the last turn, roll or announcement that counts."""

    def enter(self, command: Entry) -> str:
        """Take a turn, roll or announcement that a person typed."""

    def hint(self, command: AskHint, respond: Respond) -> None:
        """Take a wish for a hint; ``respond`` hears of it when it is found, or why there is none."""

    def overrule(self, command: Overrule) -> str:
        """Let a person say that places are as believed."""

    def restore_sensor(self, command: RestoreSensor) -> str:
        """Go by a sensor again that was taken out."""

    def begin(self, command: NewGame | Resume) -> str:
        """Begin a game, or go on with one."""


def execute(session: Session, command: Command, respond: Respond = unheard) -> list[Verdict]:
    """Carry a command out and answer it: at once, a hint when it is found, which may be some frames later.

    Gives the verdicts that are new because of it.
    """
    try:
        match command:
            case Press():
                return _press(session, command, respond)
            case AskHint():
                session.hint(command, respond)
                return []
            case Correct():
                said = session.correct(command).sentence
            case TakeBack():
                said = session.take_back(command)
            case EnterTurn() | EnterRoll() | Announce():
                said = session.enter(command)
            case Overrule():
                said = session.overrule(command)
            case RestoreSensor():
                said = session.restore_sensor(command)
            case NewGame() | Resume():
                said = session.begin(command)
            case _:
                assert_never(command)
    except CorrectionError as error:
        respond(Reply(str(error), refused=True))
    except EngineError as error:
        respond(Reply(refusal(error), refused=True))
    else:
        respond(Reply(said))
    return []


def _press(session: Session, press: Press, respond: Respond) -> list[Verdict]:
    match press.role:
        case ButtonRole.TAKE_BACK:
            return execute(session, TakeBack(press.by), respond)
        case ButtonRole.HINT:
            return execute(session, AskHint(press.by), respond)
        case ButtonRole.END_TURN:
            verdicts = session.end_turn()
            sentences = [verdict.sentence for verdict in verdicts]
            respond(Reply(" ".join(sentences) or "The table is judged once it is at rest."))
            return verdicts
