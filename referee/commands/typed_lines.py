"""Interprets the lines that a person types during a game."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from common.phrases import Phrase, capitalized
from common.user import user_name
from engine.api import Game
from engine.errors import EngineError
from engine.support.players import DRAW, RESIGN, announcement_in, format_announcement
from hardware.pin_map import ANNOUNCING_BUTTONS, ButtonRole
from referee.commands.entries import apply_entry, example_look, read_squares, refusal
from referee.commands.values import (
    Announce,
    Answer,
    AskHint,
    Command,
    CommandQueue,
    Correct,
    EnterRoll,
    EnterTurn,
    OfferDraw,
    PauseClock,
    Press,
    Reply,
    TakeBack,
    ignore_reply,
    said_plainly,
)
from referee.errors import CorrectionError

KEYS = Phrase("Enter ends the turn, h hint, b takes back, ? says more")
"""The one-line summary of what may be typed."""

_TAKE_BACK = ("b", "undo", "take-back")
_HINT = ("h", "hint")
_ANNOUNCED = tuple(role.value for role in ANNOUNCING_BUTTONS)
_SAYS_MORE = Phrase("? says what can be typed.")
_ANSWERS = MappingProxyType({"accept": True, "refuse": False})
_CLOCK = MappingProxyType({"stop": False, "go": True})
_HELP = ("?", "help")
_QUITTING = ("q", "quit", "exit")


def typed_help(game: Game[Any, Any], state: Any, *, has_clock: bool) -> str:
    """Describe what may be typed in a state of a game, in at most three lines so that it fits on the screen."""
    announcements = game.rules.announcements(state)
    possible = {each.kind for each in announcements}
    claims = [format_announcement(each) for each in announcements if each.kind not in _ANNOUNCED]
    words = [
        "turn TURN",
        *([] if game.dice is None else ["roll FACES"]),
        f"`correct {game.places[0]}={example_look(game)}`",
        *(kind for kind in _ANNOUNCED if kind in possible),
        *claims[:1],
        *(_ANSWERS if DRAW in possible else ()),
        *(f"clock {word}" for word in _CLOCK if has_clock),
    ]
    return Phrase(
        "Enter ends the turn. h: hint. b, undo: take back. Also: {words}. Ctrl-C stops.", words=", ".join(words)
    )


def is_hint(line: str) -> bool:
    """Whether a line asks for a hint."""
    return line.strip().lower() in _HINT


def _is_claim(game: Game[Any, Any], line: str) -> bool:
    """Whether a line such as ``p1:letter-a`` announces something that doesn't end the game by word."""
    said = announcement_in(line, game.players)
    return said is not None and said.kind not in (RESIGN, DRAW)


@said_plainly()
def parse_line(game: Game[Any, Any], line: str, by: str, otherwise: Callable[[str], Command] | None = None) -> Command:
    """Parse a line typed by ``by`` into a command.

    ``otherwise`` makes the command of any other line, without which it raises CorrectionError.
    """
    word, _, rest = line.strip().partition(" ")
    rest = rest.strip()
    match line.strip().lower():
        case "":
            return Press(ButtonRole.END_TURN)
        case short if short in _TAKE_BACK:
            return TakeBack(by)
        case short if is_hint(short):
            return AskHint(by)
        case ButtonRole.DRAW.value:
            return OfferDraw(by)
        case short if short in _ANSWERS:
            return Answer(_ANSWERS[short], by)
        case short if short in _ANNOUNCED or _is_claim(game, short):
            return Announce(short, by)
        case short if short in _QUITTING:
            raise CorrectionError("Ctrl-C stops the referee; the game is kept")
    match word.lower():
        case ButtonRole.RESIGN.value if rest.lower() in game.players:
            return Announce(RESIGN, by, rest.lower())
        case "clock" if rest.lower() in _CLOCK:
            return PauseClock(by, resume=_CLOCK[rest.lower()])
        case "turn" if rest:
            first, _, text = rest.partition(" ")
            player = first.rstrip(":").lower()
            is_named = player in game.players and bool(text.strip())
            return EnterTurn(text.strip(), by, player) if is_named else EnterTurn(rest, by)
        case "roll" if rest:
            return EnterRoll(rest, by)
        case "correct" if rest:
            return Correct(by, read_squares(game, rest))
        case "turn" | "roll" | "correct":
            raise CorrectionError("Something is missing after {word!r}; {says_more}", word, _SAYS_MORE)
    if otherwise is not None:
        return otherwise(line.strip())
    raise CorrectionError("{text!r} is not understood; {says_more}", line.strip(), _SAYS_MORE)


class TypedLines:
    """Submits the commands that a person types. A resignation must be typed twice in a row to count.

    ``say`` gets that question, the reason for a refusal, and the text that ``describe_help`` returns. ``states``
    returns the possible states of the game.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        commands: CommandQueue,
        say: Callable[[str], object],
        describe_help: Callable[[], str],
        states: Callable[[], Sequence[Any]],
    ) -> None:
        self._game = game
        self._commands = commands
        self._say = say
        self._describe_help = describe_help
        self._states = states
        self._asked: tuple[Announce, Announce] | None = None

    def submit(self, line: str) -> None:
        """Submit the command of one line, or say why there is none."""
        asked, self._asked = self._asked, None
        if line.strip().lower() in _HELP:
            self._say(self._describe_help())
            return
        try:
            command = parse_line(self._game, line, user_name())
            if isinstance(command, Announce) and command.text == RESIGN:
                if asked is None or asked[0] != command:
                    self._ask_to_resign(command, line.strip())
                    return
                # A turn may have been played meanwhile, so the player who was asked about resigns.
                command = asked[1]
        except CorrectionError as error:
            self._say(str(error))
            return
        except EngineError as error:
            self._say(refusal(error))
            return
        # The session itself shows the result of these commands.
        is_said = isinstance(command, Press | TakeBack | AskHint | Announce)
        self._commands.submit(command, ignore_reply if is_said else partial(_tell_refusal, self._say))

    def _ask_to_resign(self, command: Announce, typed: str) -> None:
        """Ask whether the player meant to resign; raises CorrectionError or EngineError if nobody can."""
        said = apply_entry(self._game, self._states(), command).event.data["announcement"]
        self._asked = command, replace(command, text=str(said), player=None)
        player = str(said).partition(":")[0]
        self._say(Phrase("{player} wants to resign. Type {typed} again to confirm.", capitalized(player), typed))


def _tell_refusal(say: Callable[[str], object], reply: Reply | None) -> None:
    if reply is not None and reply.refused:
        say(reply.words)
