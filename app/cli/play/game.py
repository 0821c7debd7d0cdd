"""A whole game at the terminal, as commands to the service without a camera.

The journal is the game's only history. What a program or the drawn dice do is an entry like a person's.
"""

from __future__ import annotations

import random
import re
import sys
import time
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any

from app.cli import context as cli
from app.cli.games import open_game
from app.cli.rules import rule_lines
from common.phrases import Phrase, as_sentence, capitalized, counted, joined, without_stop
from common.user import user_name
from engine.api import Clock, Game
from engine.errors import AmbiguousError, EngineError, IllegalTurnError
from engine.options import options_in_force
from engine.showing import MOST_DRAWN_FROM, turns_to_draw_from
from engine.support.chance import drawn, format_roll
from engine.support.lazy import FromIterator
from engine.support.players import RESIGN, announcement_in
from engine.values import OptionValue, Player, Roll
from journal.journal import Journal
from journal.reader import events_of_game
from referee.commands.entries import PLAYERS, players_with, read_squares, refusal, start_states, with_named_players
from referee.commands.typed_lines import parse_line
from referee.commands.values import (
    Announce,
    Answer,
    AskHint,
    Command,
    Correct,
    EnterRoll,
    EnterTurn,
    NewGame,
    OfferDraw,
    Reply,
    TakeBack,
    said_plainly,
)
from referee.errors import CorrectionError
from referee.hints.advice import Question, answer_question
from referee.hints.hint_settings import HintSettings
from referee.hints.opponent import states_before
from referee.naming import as_name, is_program
from referee.record.events import EventKind
from referee.record.fold import hinted_turn
from referee.session.ports import Recorder
from referee.session.service import Service, without_camera

_NUMBER = re.compile(r"[0-9]{1,6}")
"""The number of a turn that was listed."""
_PROGRAM = re.compile(r"program \((gentle|fair|strong|random)\)")
"""The name of a program in the journal."""
_DICE = "program (dice)"
"""Who enters the rolls that nobody asked for."""
_MOST_LISTED = 12
"""Legal turns are listed unasked if there are at most this many."""
_MOST_LISTED_ON_DEMAND = 20
_MOST_SEARCHED = 100_000
"""Turns listed by `turns`, which fit on a terminal, and turns searched for them, so that an answer comes soon."""

HELP = (
    Phrase("Type a turn as the game's page in docs/games/ writes it, or a listed number."),
    Phrase("Where several may play at the same time, name the player first: `p2 TURN`."),
    Phrase("  turns [PART]     list the turns that contain PART"),
    Phrase("  hint             suggest a good turn, and say why"),
    Phrase("  roll [DICE]      let the computer roll, or enter what your dice show"),
    Phrase("  undo             take back what you typed last"),
    Phrase("  correct c3=LOOK  say what really stands there"),
    Phrase("  why              say more about the last refusal"),
    Phrase("  board, rules     show the board again; the rules in short"),
    Phrase("  resign [PLAYER]  give up"),
    Phrase("  draw             offer a draw; `accept` or `refuse` answers"),
    Phrase("  quit             stop; the next `./run play` offers to continue"),
)


def turns_of(game: Game[Any, Any], state: Any, player: Player) -> Sequence[Any]:
    """Return one player's legal turns, the nearest of a long list; several players' are found by binary search."""
    turns = turns_to_draw_from(game, state)
    playing = game.rules.players_to_move(state)
    if len(playing) < 2:
        return turns
    place = {name: number for number, name in enumerate(playing)}
    number = place[player]
    first, after = (bisect_left(turns, at, key=lambda turn: place[turn.player]) for at in (number, number + 1))
    return FromIterator(iter(range(first, after)), turns.__getitem__)


def choose_randomly(game: Game[Any, Any], state: Any, player: Player, rng: Random) -> Any:
    """Choose one of a player's legal turns, of a long list one of the nearest; these are equally likely."""
    turns = turns_of(game, state, player)
    return turns[rng.randrange(len(turns))]


def draw_roll(game: Game[Any, Any], state: Any, seed: int, number: int) -> Roll:
    """Draw the game's roll number ``number``. It depends only on seed and number, so a take-back doesn't change it.

    Raises ValueError if no roll is awaited.
    """
    possible = () if game.dice is None else game.dice.possible_rolls(state)
    return drawn(possible, Random(f"{seed} roll {number}"))


def program_rng(seed: int, player: Player, number: int) -> Random:
    """Return the random generator for a player's choice, determined by seed, player and number of steps."""
    return Random(f"{seed} {player} {number}")


@dataclass(frozen=True)
class PlaySettings:
    """How a game at the terminal is played.

    ``programs`` are the sides that programs play, each at the strength of a hint, or ``random``; a turn takes
    ``seconds``. ``draws_dice`` draws dice instead of asking for them. The game stops at ``most_turns``.
    """

    programs: Mapping[Player, str]
    draws_dice: bool
    seed: int
    seconds: float
    most_turns: int = 10_000


class TerminalGame:
    """Turns typed lines into commands. ``ask`` shows a prompt and returns the line, ``None`` at the end of the input.

    ``say`` shows a text, and ``waiting`` that something takes time.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        service: Service[Any, Any],
        settings: PlaySettings,
        ask: Callable[[str], str | None],
        say: Callable[[str], object],
        clock: Clock,
        waiting: Callable[[str], AbstractContextManager[object]],
    ) -> None:
        self._game = game
        self._service = service
        self._settings = settings
        self._ask = ask
        self._say_as_it_is = say
        self._clock = clock
        self._waiting = waiting
        self._goes_on = True
        self._shown: object = None
        self._listed: tuple[object, Sequence[Any]] = (None, ())
        self._refused: EnterTurn | EnterRoll | None = None
        self._own: Mapping[str, Callable[[str], None]] = {
            **dict.fromkeys(("help", "?"), lambda _: self._help()),
            "turns": self._list_turns,
            "board": lambda _: self._show_board(),
            "rules": lambda _: self._tell_rules(),
            "why": lambda _: self._explain_refusal(),
            **dict.fromkeys(("undo", "b"), lambda _: self._undo()),
            **dict.fromkeys(("quit", "q", "exit"), lambda _: self._quit()),
        }

    @property
    def _state(self) -> Any:
        return self._service.states[0]

    @property
    def _at(self) -> object:
        """Changes with every step."""
        return len(self._service.folded.steps), self._service.states

    @property
    def _is_over(self) -> bool:
        return not self._game.rules.players_to_move(self._state)

    def run(self) -> None:
        """Play until the input ends or a person leaves; if only programs play, until the game ends."""
        while self._goes_on:
            state, turns, is_over = self._state, len(self._service.folded.turns), self._is_over
            player = None if is_over else self._game.rules.players_to_move(state)[0]
            if turns >= self._settings.most_turns and not is_over:
                self._draw()
                self._say(Phrase("Stopped after {turns}.", counted(turns, "turn")))
                return
            if is_over and self._settings.programs.keys() >= set(self._service.playing):
                self._draw()
                return
            if player and self._game.awaits_roll(state) and self._settings.draws_dice:
                self._roll(_DICE)
            elif player and player in self._settings.programs and not self._game.awaits_roll(state):
                self._let_play(player)
            else:
                self._prompt(player)

    def _let_play(self, player: Player) -> None:
        game, state, folded, word = self._game, self._state, self._service.folded, self._settings.programs[player]
        why = ""
        with self._waiting(self._service.tell(Phrase("{player} is thinking", self._called(player)))):
            if word == "random":
                rng = program_rng(self._settings.seed, player, len(folded.steps))
                turn = game.notation.format_turn(choose_randomly(game, state, player, rng))
            else:
                text, earlier = game.notation.format_state(state), states_before(game, folded)
                answer = answer_question(
                    Question(0, game.name, text, word, self._settings.seconds, earlier), self._clock
                )
                if answer.advice is None:
                    why = without_stop(answer.refused)
                    raise CorrectionError("{player} finds no turn: {why}.", capitalized(player), why)
                turn, why = answer.advice.turn, answer.advice.reason
        because = [Phrase("That {reason!b}.", why)] if why else []
        lead = joined((player, turn), ": ")
        self._carry_out(
            EnterTurn(turn, f"program ({word})", player), lambda words: joined((lead, joined((words, *because))), "  ")
        )

    def _prompt(self, player: Player | None) -> None:
        """Ask for a line and carry it out; ``player`` is who plays, nobody after the end."""
        if self._shown != self._at:
            self._show_board()
        prompt: str = Phrase("`undo` takes it back, Enter leaves> ")
        if player is not None:
            called = self._called(player)
            if self._game.to_draw(self._state):
                called = Phrase("{player} draws", called)
            elif self._game.awaits_roll(self._state):
                called = Phrase("{player} rolls", called)
            prompt = joined((called, "> "), "")
        line = self._ask(self._service.tell(prompt))
        if line is None or not (line.strip() or player):
            self._quit()
        elif line.strip():
            self._take(line.strip())

    def _take(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        own = self._own.get(word.lower())
        try:
            if own is not None:
                own(rest.strip())
            elif line.lower() == "roll":
                self._roll(user_name())
            else:
                self._submit(self._command(line), line)
        except CorrectionError as error:
            self._say(as_sentence(capitalized(str(error))))
            ambiguous = self._refusal()
            texts = ambiguous.candidates if isinstance(ambiguous, AmbiguousError) else ()
            if 0 < len(texts) <= _MOST_LISTED:
                self._list([self._game.notation.parse_turn(self._state, text) for text in texts])
        except EngineError as error:
            self._say(capitalized(refusal(error)))

    def _command(self, line: str) -> Command:
        at, listed = self._listed
        by = user_name()
        if at == self._at and _NUMBER.fullmatch(line) and 1 <= int(line) <= len(listed):
            turn = listed[int(line) - 1]
            return EnterTurn(self._game.notation.format_turn(turn), by, turn.player)
        if self._game.awaits_roll(self._state):
            return parse_line(self._game, line, by, lambda text: EnterRoll(text, by))
        return parse_line(self._game, line, by, lambda text: parse_line(self._game, f"turn {text}", by))

    def _submit(self, command: Command, line: str) -> None:
        """Carry out what a person typed, who can't speak for a program; before a resignation, ask."""
        said = announcement_in(line, self._game.players)
        named = said.player if said is not None else getattr(command, "player", None)
        if named in self._settings.programs:
            raise CorrectionError("{player} is played by a program, which plays for itself", named)
        if isinstance(command, OfferDraw | Answer) and self._settings.programs:
            raise CorrectionError("the program accepts no draw; play on, or resign")
        if isinstance(command, Announce) and command.text.rpartition(":")[2].strip() == RESIGN:
            told = self._service.preview(command)
            asked = self._service.tell(joined((told, Phrase("Are you sure?"))))
            typed = self._ask(f"{cli.spoken(asked)} [{cli.spoken(cli.YES_OR_NO[False])}] ") or ""
            if typed.strip().lower() not in cli.YES:
                self._say(Phrase("The game goes on."))
                return
        with self._waiting(Phrase("looking for a hint")) if isinstance(command, AskHint) else nullcontext():
            self._carry_out(command, _answered_by_another if isinstance(command, OfferDraw) else str)
        hint = self._service.folded.hints.get(self._state.to_move)
        if isinstance(command, AskHint) and hint is not None and (turn := hinted_turn(hint)) is not None:
            self._say_as_it_is(f"  {turn.turn}")

    def _carry_out(self, command: Command, worded: Callable[[str], str] = str) -> None:
        """Carry out a command, say what it did, and who is newly passed over; raises CorrectionError if refused."""
        before = self._game.passed_over(self._state)
        replies: list[Reply | None] = []
        self._service.carry_out(command, replies.append)
        (reply,) = filter(None, replies)
        if isinstance(command, EnterTurn | EnterRoll):
            self._refused = command if reply.refused else None
        if reply.refused:
            raise CorrectionError(reply.words)
        self._say_as_it_is(worded(as_sentence(reply.words)))
        passed_over = self._game.passed_over(self._state)
        if passed_over and passed_over != before:
            self._say(passed_over)

    def _say(self, text: str) -> None:
        self._say_as_it_is(self._service.tell(text))

    def _called(self, player: Player) -> str:
        """Return a person's name with the side, or only the side if no name was given."""
        name = self._service.folded.names.get(player, "")
        return player if not name or is_program(name) else Phrase("{name} ({side})", as_name(name), player)

    def _draw(self) -> None:
        cli.say("")
        cli.print_state(self._game, self._state, lambda text: cli.spoken(self._service.tell(text)))

    def _show_board(self) -> None:
        self._shown = self._at
        self._draw()
        if self._is_over:
            return
        if self._game.awaits_roll(self._state):
            if not self._service.folded.steps:
                shown = examples(self._game, self._state)[0]
                self._say(Phrase("Type what you have, such as {example}, or `roll` to have it drawn.", shown))
            return
        if self._game.lists_turns_slowly:
            return
        turns = turns_of(self._game, self._state, self._game.rules.players_to_move(self._state)[0])
        if len(turns) <= _MOST_LISTED:
            self._list(turns)

    def _list(self, turns: Sequence[Any]) -> None:
        """List turns with numbers, by which a person can choose one until the next step."""
        self._listed = (self._at, turns)
        for number, turn in enumerate(turns, 1):
            lead = f"{number:4}  {self._game.notation.format_turn(turn)}"
            self._say(joined((lead, self._game.notation.describe(turn)), "  "))

    def _list_turns(self, part: str) -> None:
        if self._is_over:
            raise CorrectionError("the game is over")
        turns, summary = turns_with(self._game, self._state, part)
        self._list(turns)
        self._say(summary)

    def _roll(self, by: str) -> None:
        number = sum(step.kind == EventKind.ROLLED for step in self._service.folded.steps)
        try:
            roll = draw_roll(self._game, self._state, self._settings.seed, number)
        except ValueError as error:
            raise CorrectionError("no roll is awaited now") from error
        self._carry_out(EnterRoll(format_roll(roll), by))

    def _undo(self) -> None:
        """Take back a person's last entry, with what programs and dice did by themselves after it."""
        steps = [step for step in self._service.folded.steps if step.kind != EventKind.CORRECTION]
        if all(is_program(step.by) for step in steps):
            raise CorrectionError("there is no turn to take back")
        for step in reversed(steps):
            is_offered = self._service.folded.offer is not None
            self._carry_out(TakeBack(user_name()))
            if is_offered or not is_program(step.by):
                return

    def _help(self) -> None:
        unneeded = [] if self._game.dice else ["  roll "]
        unneeded += ["  hint "] if self._service.folded.without_hints else []
        unneeded += [] if self._game.alone else ["Where several "]
        for line in HELP:
            if not line.startswith(tuple(unneeded)):
                self._say(line)
        if not self._is_over:
            shown = "   ".join(examples(self._game, self._state))
            self._say(Phrase("You can type, for example: {examples}", shown))

    def _tell_rules(self) -> None:
        # The summary of the rules is in English only.
        for line in rule_lines(self._game, options_in_force(self._game.options, self._state)):
            self._say(line)

    def _refusal(self) -> EngineError | None:
        """Return why the turn or roll that was typed last was refused, ``None`` if it was not."""
        try:
            if self._refused is not None:
                self._service.preview(self._refused)
        except EngineError as error:
            return error
        return None

    def _explain_refusal(self) -> None:
        """Name each rule that the turn refused last would break, and where."""
        refused = self._refusal()
        if refused is None:
            raise CorrectionError("nothing was refused since the last turn")
        self._say(capitalized(refusal(refused)))
        for breach in refused.breaches if isinstance(refused, IllegalTurnError) else ():
            where = f" ({', '.join(breach.places)})" if breach.places else ""
            self._say(joined((f"  {breach.rule}: ", self._game.rules.catalogue[breach.rule].sentence, where), ""))

    def _quit(self) -> None:
        self._goes_on = False


def _answered_by_another(words: str) -> str:
    return Phrase("{words} Somebody else accepts or refuses.", words)


def turns_with(game: Game[Any, Any], state: Any, part: str) -> tuple[Sequence[Any], Phrase]:
    """Return the first legal turns whose notation contains ``part``, and a sentence with their number."""
    dice = game.dice
    if dice is not None and dice.awaits_roll(state):
        rolls = dice.possible_rolls(state)
        return (), Phrase(
            "The dice come first; {number} rolls are possible, such as {roll}.", len(rolls), format_roll(rolls[0].roll)
        )
    turns = turns_of(game, state, game.rules.players_to_move(state)[0])
    searched = (turns[number] for number in range(min(len(turns), _MOST_SEARCHED)))
    fitting = (turn for turn in searched if part.lower() in game.notation.format_turn(turn).lower())
    found = list(islice(fitting, _MOST_LISTED_ON_DEMAND))
    # Of a game that lists its turns slowly, the others are unknown.
    if game.lists_turns_slowly and len(turns) == MOST_DRAWN_FROM:
        if not found:
            return found, Phrase("None of the {number} nearest legal turns has {text!r} in it.", len(turns), part)
        return found, Phrase(
            "{some} of the {number} nearest legal turns. Type a number to play one.", len(found), len(turns)
        )
    if len(found) == len(turns):
        return found, Phrase("{number} legal turns. Type a number to play one.", len(turns))
    if not found and len(turns) > _MOST_SEARCHED:
        return found, Phrase(
            "None of the first {searched} of {number} legal turns has {text!r} in it.", _MOST_SEARCHED, len(turns), part
        )
    if not found:
        return found, Phrase("None of {number} legal turns has {text!r} in it.", len(turns), part)
    if not part:
        return found, Phrase(
            "{some} of {number} legal turns; `turns PART` lists those with PART in them. Type a number to play one.",
            len(found),
            len(turns),
        )
    return found, Phrase(
        "{some} of {number} legal turns; those with {text!r} in them. Type a number to play one.",
        len(found),
        len(turns),
        part,
    )


def examples(game: Game[Any, Any], state: Any) -> list[str]:
    """Return three possible rolls or turns: the first, the middle and the last of a long list."""
    dice = game.dice
    if dice is not None and dice.awaits_roll(state):
        return [format_roll(possible.roll) for possible in _first_middle_last(dice.possible_rolls(state))]
    turns = turns_of(game, state, game.rules.players_to_move(state)[0])
    return [game.notation.format_turn(turn) for turn in _first_middle_last(turns)]


def _first_middle_last(items: Sequence[Any]) -> list[Any]:
    last = len(items) - 1
    return [items[number] for number in dict.fromkeys((0, last // 2, last)) if number >= 0]


def _start(game: Game[Any, Any], options: dict[str, OptionValue], how: str, seed: int) -> Any:
    """Return the start position: drawn at random, the usual one, or as given by squares and looks."""
    usual = start_states(game, options)[0]
    match how.strip().lower():
        case "rolled" if game.rolled_set_up is not None:
            return game.rolled_set_up(options, random.Random(f"{seed} set-up"))
        case "rolled" | "usual":
            return usual
    # The starting place determines the piece's owner, so it may be left out.
    owners = {place: look.split()[0] for place, look in game.table.appearance(usual).items()}
    words = how.replace("=", " ").split()
    looks = read_squares(game, " ".join(f"{word} {owners.get(word.lower(), '')}" for word in words))
    return game.table.set_up(looks, options)


@dataclass(frozen=True)
class ToPlay:
    """A game to play: a ``new`` one, from a ``position`` that is not the usual start, or the one that was left."""

    game: Game[Any, Any]
    programs: Mapping[Player, str]
    seed: int
    new: NewGame | None = None
    position: str = ""

    def opened(self, journal: Recorder, hints: HintSettings) -> Service[Any, Any]:
        """Return its service; raises CorrectionError for a position that can't be."""
        service = without_camera(self.game, journal, time.monotonic, hints)
        if self.new is None:
            service.start()
        else:
            service.begin(self.new, seed=self.seed)
        if self.position:
            service.carry_out_or_raise(Correct(user_name(), position=self.position))
        return service


def new_game(
    game: Game[Any, Any],
    options: Mapping[str, OptionValue],
    names: Mapping[Player, str],
    programs: Mapping[Player, str],
    seed: int,
    position: str | None,
    set_up: str | None,
) -> ToPlay:
    """Return the new game that is asked for; raises EngineError and CorrectionError."""
    chosen = with_named_players(game, names, options, is_fixed=PLAYERS in options)
    if position is None:
        is_asked = sys.stdin.isatty() and not programs.keys() >= set(players_with(game, chosen))
        state = _start(game, chosen, set_up or ("rolled" if is_asked else "usual"), seed)
    else:
        state = game.notation.parse_state(position)
        chosen = options_in_force(game.options, state)
    text = "" if state in start_states(game, chosen) else game.notation.format_state(state)
    with said_plainly():
        return ToPlay(game, programs, seed, NewGame(game.name, chosen, dict(names)), text)


def new_or_left(
    context: cli.CommandContext, journal: Journal, new: ToPlay | None, *, resume: bool | None, may_resume: bool
) -> ToPlay | None:
    """Return the journal's open game if the person wants to go on with it, or else the new one.

    Raises CorrectionError if there is none to ``resume``.
    """
    words = open_game(journal)
    if words is not None:
        game, events = events_of_game(journal, None)
        begun = events[0][1]
        programs = {side: found[1] for side, name in begun.names.items() if (found := _PROGRAM.fullmatch(name))}
        is_as_asked = new is None or (new.game.name == game.name and new.programs in ({}, programs))
        goes_on = bool(resume)
        if may_resume and is_as_asked and resume is None and sys.stdin.isatty():
            goes_on = cli.agrees(joined((words, Phrase("Go on with it?")), ". "), default=True)
        if may_resume and is_as_asked and goes_on:
            return ToPlay(game, programs, int(str(begun.data.get("seed", 0))))
        if resume is None:
            resuming = context.advised_command(f"games resume {journal.latest_game()}", journal.path)
            cli.say(joined((words, Phrase("{command} goes back to it.", resuming)), ". "))
    if resume:
        raise CorrectionError("no such game is open; leave --resume out to begin one")
    return new
