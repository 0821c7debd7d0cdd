"""``./run play``: a whole game at the terminal. People are prompted, programs play, and other commands are handled."""

import io
import random
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click
from rich.text import Text

from common.durable import write_durably
from common.phrases import Phrase, counted, joined
from common.shown_text import is_one_line
from engine import records, registry
from engine.api import Clock, Game, Hint
from engine.errors import AmbiguousError, EngineError, UnreadableError
from engine.options import options_in_force
from engine.records import write
from engine.showing import MOST_DRAWN_FROM
from engine.support.chance import format_roll
from engine.support.players import (
    DRAW,
    REPETITION,
    RESIGN,
    announcement_in,
    describe_announcement,
    who_plays,
)
from engine.values import Announcement, OptionValue, Player, Roll, Strength
from hardware.pin_map import ANNOUNCING_BUTTONS
from referee.cli import context as cli
from referee.cli.group import ExampleCommand
from referee.cli.play import game as play
from referee.cli.rules import rule_lines
from referee.errors import PlayError
from referee.hints.advice import RULED_OUT, Stage, advice_of, hint_text
from referee.languages import Say

_KINDS = MappingProxyType({role.value.replace("-", ""): role.value for role in ANNOUNCING_BUTTONS})
"""What can be announced, by its name in one word."""
_KEPT_EVERY_S = 1.0
"""How often, in seconds, the game is saved while only programs play; each save takes milliseconds."""


class PlaySession:
    """One game; ``ask`` shows a prompt and returns the typed line, ``None`` at the end of the input."""

    def __init__(
        self,
        so_far: play.GameHistory,
        settings: play.PlaySettings,
        ask: Callable[[str], str | None],
        tell: Callable[[str], None],
        clock: Clock,
        waiting: Callable[[str], AbstractContextManager[object]] = lambda _: nullcontext(),
        keep: Callable[[play.GameHistory], None] = lambda _: None,
        go_on_with: Callable[[play.GameHistory, Path], None] = lambda _, __: None,
        draw: Callable[[Game[Any, Any], Any, Say], None] = lambda _, __, ___: None,
        translate: Say = str,
    ) -> None:
        """Start from a new or saved game.

        ``waiting`` shows that an operation takes some time. ``keep`` saves the game: before each prompt, so that
        nothing a person saw can be lost, and every second while programs play. ``go_on_with`` prepares to keep a game
        loaded from a file; it may raise PlayError to refuse that. ``draw`` shows a state; its last argument puts names
        into a text and translates it. ``translate`` translates all that is said and asked.
        """
        self.so_far = so_far.with_programs(settings.programs)
        self._settings = settings
        self._ask = ask
        self._print = tell
        self._clock = clock
        self._waiting = waiting
        self._keep = keep
        self._go_on_with = go_on_with
        self._draw_state = draw
        self._translate = translate
        self._kept_s = clock()
        self._saved: set[Path] = set()
        self._game = so_far.game
        self._refused: EngineError | PlayError | None = None
        self._hint: tuple[int, Hint[Any]] | None = None
        self._shown = -1
        self._listed: tuple[int, Sequence[Any]] = (-1, ())
        self._going_on = True
        self._has_told_roll = False
        self._commands: Mapping[str, Callable[[str], None]] = {
            **dict.fromkeys(("help", "?"), lambda _: self._help()),
            "turns": self._list_turns,
            "hint": lambda _: self._give_hint(),
            "roll": lambda _: self._roll(),
            "undo": lambda _: self._undo(),
            "board": lambda _: self._show_board(),
            "rules": lambda _: self._tell_rules(),
            "why": lambda _: self._explain_refusal(),
            "resign": self._resign,
            "draw": lambda _: self._announce(Announcement(DRAW)),
            "claim": self._claim,
            "save": self._save,
            "load": self._load,
            **dict.fromkeys(("quit", "q", "exit"), lambda _: self._quit()),
        }

    @property
    def _state(self) -> Any:
        return self.so_far.state

    def run(self) -> None:
        """Play until the game or the input ends or a person quits. The last step of a finished game can be undone."""
        while self._going_on:
            self._play_on()
            if not self._is_over:
                return
            self._keep(self.so_far)
            self._say("")
            self._draw()
            self._say(play.ending_sentence(self._game, self._state, self.so_far.display_name))
            ended = self.so_far
            while self._going_on and self.so_far is ended:
                self._offer_choices_after_end()

    @property
    def _is_over(self) -> bool:
        return not self._game.rules.players_to_move(self._state)

    def _play_on(self) -> None:
        """Play until the game is over or a person quits."""
        while self._going_on and not self._is_over:
            if self.so_far.turns >= self._settings.most_turns:
                self._draw()
                self._say(Phrase("Stopped after {turns}.", counted(self.so_far.turns, "turn")))
                return
            player = self._game.rules.players_to_move(self._state)[0]
            program = self._settings.programs.get(player)
            if self._clock() - self._kept_s >= _KEPT_EVERY_S:
                self._kept_s = self._clock()
                self._keep(self.so_far)
            if self._game.awaits_roll(self._state) and self._settings.draws_dice:
                self._roll()
            elif program is None or self._game.awaits_roll(self._state):
                self._prompt(player)
            else:
                self._let_play(player, program)

    def _offer_choices_after_end(self) -> None:
        """Let a person take back the last step or save the game; returns at once if only programs play."""
        if all(player in self._settings.programs for player in who_plays(self._game, self.so_far.start)):
            self._quit()
            return
        line = self._ask(self._translate(Phrase("`undo` takes it back, Enter leaves> ")))
        word, _, rest = (line or "quit").strip().partition(" ")
        if word.lower() in {"undo", "save", "load", "board", "rules", "quit", "q", "exit"}:
            self._carry_out(lambda: self._commands[word.lower()](rest.strip()), line or "")
        elif word:
            self._say(Phrase("The game is over. `undo`, `save FILE` and `board` still work; Enter leaves."))
        else:
            self._quit()

    def _let_play(self, player: Player, program: play.Program) -> None:
        rng = play.program_rng(self._settings.seed, player, len(self.so_far.steps))
        with self._waiting(self._translate(Phrase("{player} is thinking", self.so_far.display_name(player)))):
            choice = program.choose(self._game, self._state, player, rng, self.so_far.earlier)
        told = self._take_step(choice.turn)
        because = [Phrase("That {reason!b}.", choice.reason)] if choice.reason else []
        notation = self._game.notation
        told_turn = joined((notation.format_turn(choice.turn), notation.describe(choice.turn)), "  ")
        self._say(joined((joined((player, told_turn), ": "), *because)))
        self._say_all(told)

    def _prompt(self, player: Player) -> None:
        if self._shown != len(self.so_far.steps):
            self._show_board()
        awaits_roll = self._game.awaits_roll(self._state)
        self._keep(self.so_far)
        called = self.so_far.display_name(player)
        if self._game.to_draw(self._state):
            called = Phrase("{player} draws", called)
        elif awaits_roll:
            called = Phrase("{player} rolls", called)
        line = self._ask(f"{self._translate(called)}> ")
        if line is None:
            self._going_on = False
            return
        line = line.strip()
        if not line:
            return
        word, _, dice = line.partition(" ")
        if awaits_roll and word.lower() == "roll" and dice:
            line = dice.strip()
        # A turn's column is counted from after the player's name.
        read = line if awaits_roll else play.split_player(self._game, self._state, line)[1]
        self._carry_out(lambda: self._execute_line(line, awaits_roll=awaits_roll), read)

    def _carry_out(self, action: Callable[[], None], typed: str) -> None:
        try:
            action()
        except (EngineError, PlayError) as error:
            self._refused = error
            for refused in play.refusal(error, typed, self._translate):
                self._say(refused)
            candidates = error.candidates if isinstance(error, AmbiguousError) else ()
            if 0 < len(candidates) <= self._settings.most_listed:
                self._list([self._game.notation.parse_turn(self._state, text) for text in candidates])

    def _agrees(self, question: str) -> bool:
        """Ask a yes-or-no question."""
        asked = self.so_far.tell(question, self._translate)
        return (self._ask(f"{asked} [{self._translate(cli.YES_OR_NO[False])}] ") or "").strip().lower() in cli.YES

    def _execute_line(self, line: str, *, awaits_roll: bool) -> None:
        word, _, rest = line.partition(" ")
        command = self._commands.get(word.lower())
        said = announcement_in(line, self._game.players)
        if command is not None:
            command(rest.strip())
        elif said is not None and said.kind in self._announced_kinds():
            self._announce(said)
        elif line.lower() in self._announced_kinds():
            self._claim(line)
        else:
            try:
                dice = self._game.dice_for(line) if awaits_roll else None
                what = dice.parse_roll(self._state, line) if dice else self._parse_turn(line)
            except UnreadableError:
                if said is None:
                    raise
                # The rules refuse it with their reason.
                self._announce(said)
            else:
                self._play(what)

    def _announced_kinds(self) -> set[str]:
        """Return what is an announcement after a colon, even if it could be read as a turn."""
        return {RESIGN, DRAW, REPETITION, *(each.kind for each in self._game.rules.announcements(self._state))}

    def _parse_turn(self, line: str) -> Any:
        named, text = play.split_player(self._game, self._state, line)
        if named in self._settings.programs:
            raise PlayError("{player} is played by a program; it plays when its turn comes", named)
        at, listed = self._listed
        is_number = text.isascii() and text.isdecimal() and len(text) < 6
        mine = [turn for turn in listed if named in (None, turn.player)] if at == len(self.so_far.steps) else []
        if is_number and 1 <= int(text) <= len(mine):
            return mine[int(text) - 1]
        try:
            return self._game.notation.parse_turn(self._state, text, named)
        except UnreadableError as error:
            if not is_number:
                raise
            has = counted(len(mine), "turn is listed", "turns are listed") if mine else Phrase("no turns are listed")
            raise PlayError("{listed}, so {text} stands for none; `turns` lists the legal ones", has, text) from error

    def _play(self, what: Any) -> None:
        told = self._take_step(what)
        self._refused = None
        self._say_all(told)

    def _take_step(self, what: Any) -> tuple[str, ...]:
        """Take a step; return what a roll decided, and who is newly passed over. Raises IllegalTurnError."""
        before = self._state
        self.so_far = self.so_far.play(what)
        decided = self._game.decided_by(before, what) if isinstance(what, Roll) else ""
        said = self._game.passed_over(self._state)
        return (decided,) if said == self._game.passed_over(before) else (decided, said)

    def _say(self, text: str) -> None:
        self._print(self.so_far.tell(text, self._translate))

    def _draw(self) -> None:
        self._draw_state(self._game, self._state, self.so_far.tell.telling(self._translate))

    def _say_all(self, sentences: Sequence[str]) -> None:
        for sentence in filter(None, sentences):
            self._say(sentence)

    def _announce(self, announcement: Announcement) -> None:
        if announcement.player in self._settings.programs:
            raise PlayError("{player} is played by a program; nobody else can speak for it", announcement.player)
        if announcement.player is None and self._settings.programs:
            raise PlayError(Phrase("a program plays, and programs agree to nothing; play on, or resign"))
        after = self.so_far.play(announcement)
        if announcement.kind in (RESIGN, DRAW) and not self._agrees(
            play.confirmation_question(self.so_far, announcement)
        ):
            self._say(Phrase("The game goes on."))
            return
        self.so_far = after
        self._refused = None
        self._say(describe_announcement(announcement))

    def _show_board(self) -> None:
        self._shown = len(self.so_far.steps)
        self._say("")
        self._draw()
        if self._game.awaits_roll(self._state) and not self._has_told_roll:
            self._has_told_roll = True
            shown = examples(self._game, self._state)[0]
            self._say(Phrase("Type what you have, such as {example}, or `roll` to have it drawn.", shown))
        if self._is_over or self._game.awaits_roll(self._state):
            return
        player = self._game.rules.players_to_move(self._state)[0]
        self._list(numbered_turns(self._game, self._state, player, self._settings.most_listed))

    def _list(self, turns: Sequence[Any]) -> None:
        """List turns with numbers, by which a person can choose one until the next step."""
        self._listed = (len(self.so_far.steps), turns)
        for number, turn in enumerate(turns, 1):
            lead = f"{number:4}  {self._game.notation.format_turn(turn)}"
            self._say(joined((lead, self._game.notation.describe(turn)), "  "))

    def _list_turns(self, part: str) -> None:
        turns, summary = turns_with(self._game, self._state, part)
        self._list(turns)
        self._say(summary)

    def _give_hint(self) -> None:
        if not self._settings.gives_hints:
            raise PlayError(RULED_OUT)
        at = len(self.so_far.steps)
        if self._hint is not None and self._hint[0] == at:
            hint, is_first = self._hint[1], False
        else:
            rng = play.program_rng(self._settings.seed, "hint", at)
            with self._waiting(self._translate(Phrase("looking for a hint"))):
                hint = self._game.advice.hint(
                    self._state,
                    self._settings.seconds,
                    rng,
                    clock=self._clock,
                    strength=self._settings.strength,
                    earlier=self.so_far.earlier,
                )
            self._hint, is_first = (at, hint), True
        stage: Stage = "piece" if is_first and self._settings.strength is Strength.GENTLE else "whole"
        self._say(hint_text(self._game, self._state, advice_of(self._game, hint), stage).words)
        if stage == "whole":
            self._say(f"  {self._game.notation.format_turn(hint.turn)}")

    def _roll(self) -> None:
        if not self._game.awaits_roll(self._state):
            if not self._game.dice:
                raise PlayError("{game} has no dice; play a turn.", self._game.title)
            raise PlayError(Phrase("It is not time to roll; play a turn."))
        number = self.so_far.rolls
        roll = play.draw_roll(self._game, self._state, self._settings.seed, number)
        player = self._game.rules.players_to_move(self._state)[0]
        told = self._take_step(roll)
        self._say(Phrase("{player} rolls {roll}", self.so_far.display_name(player), format_roll(roll)))
        self._say_all(told)

    def _undo(self) -> None:
        before = self.so_far.take_back(self._settings.programs, draws_dice=self._settings.draws_dice)
        if before is None:
            raise PlayError(Phrase("Nothing to undo."))
        self.so_far = before
        self._hint = None
        self._shown = -1
        self._say(Phrase("Taken back."))

    def _help(self) -> None:
        unneeded = [] if self._game.dice else ["  roll "]
        unneeded += [] if self._settings.gives_hints else ["  hint "]
        unneeded += [] if len(self._players_after_roll()) > 1 else ["Where several "]
        for line in play.HELP:
            if not line.startswith(tuple(unneeded)):
                self._say(line)
        if not self._is_over:
            shown = "   ".join(examples(self._game, self._state))
            self._say(Phrase("You can type, for example: {examples}", shown))

    def _players_after_roll(self) -> Sequence[Player]:
        """Return who may play a turn now, or after the roll that is awaited."""
        state, dice = self._state, self._game.dice
        if dice is not None and dice.awaits_roll(state):
            state = dice.rolled(state, dice.possible_rolls(state)[0].roll)
        return self._game.rules.players_to_move(state)

    def _tell_rules(self) -> None:
        options = options_in_force(self._game.options, self._state)
        # The summary of the rules is in English only.
        for line in rule_lines(self._game, options):
            self._print(self.so_far.tell(line))

    def _explain_refusal(self) -> None:
        if self._refused is None:
            self._say(Phrase("Nothing was refused since the last turn."))
            return
        for line in play.refusal_reasons(self._game, self._refused):
            self._say(line)

    def _resign(self, player: str) -> None:
        who = player.lower() or self._game.rules.players_to_move(self._state)[0]
        if who not in self._game.players:
            raise PlayError(
                "there is no player {player!r}; there are {players}", player, joined(self._game.players, ", ")
            )
        self._announce(Announcement(RESIGN, who))

    def _claim(self, kind: str) -> None:
        kind = _KINDS.get(kind.lower().replace(" ", "").replace("-", ""), kind.lower())
        if kind in (RESIGN, DRAW):
            self._commands[kind]("")
            return
        possible = self._game.rules.announcements(self._state)
        claims = [each for each in possible if each.kind not in (RESIGN, DRAW) and kind in ("", each.kind)]
        if not claims and kind:
            # The rules refuse it with their reason.
            self._announce(Announcement(kind, self._game.rules.players_to_move(self._state)[0]))
            return
        if not claims:
            raise PlayError(Phrase("Nothing can be claimed now."))
        if len(claims) > 1:
            listed = ", ".join(f"{each.player}:{each.kind}" for each in claims)
            raise PlayError("several things can be claimed; type one of {claims}", listed)
        self._announce(claims[0])

    def _save(self, name: str) -> None:
        if not name:
            raise PlayError(Phrase("a file is needed, such as `save game.txt`"))
        file = Path(name)
        try:
            if (
                file.is_file()
                and file not in self._saved
                and not self._agrees(Phrase("{file} is there already. Write over it?", name))
            ):
                self._say(Phrase("Not saved."))
                return
            write_durably(file, write(self.so_far.record()))
        except (OSError, ValueError) as error:  # a ValueError means an invalid file name
            self._say(Phrase("Not saved: {file}: {error}", name, getattr(error, "strerror", None) or error))
        else:
            self._saved.add(file)
            self._say(Phrase("Saved: {file}", name))

    def _load(self, name: str) -> None:
        if not name:
            raise PlayError(Phrase("a file is needed, such as `load game.txt`"))
        file = Path(name)
        try:
            text = play.read_text(file)
        except UnreadableError as error:
            self._say(Phrase("Not loaded: {error}", error))
        except (OSError, ValueError) as error:
            self._say(Phrase("Not loaded: {file}: {error}", name, getattr(error, "strerror", None) or error))
        else:
            loaded = play.game_of_record(self._game, text, ())
            self._go_on_with(loaded, file)
            self.so_far = loaded.with_programs(self._settings.programs)
            self._hint = None
            self._shown = -1
            self._say(Phrase("Loaded: {file}, {turns}.", name, counted(self.so_far.turns, "turn")))

    def _quit(self) -> None:
        self._going_on = False


_MOST_LISTED_ON_DEMAND = 20
_MOST_SEARCHED = 100_000
"""Turns listed by `turns`, which fit on a terminal, and turns searched for them, so that an answer comes soon."""


def numbered_turns(game: Game[Any, Any], state: Any, player: Player, most: int) -> Sequence[Any]:
    """Return the legal turns to list automatically; none if there are too many or listing them takes seconds."""
    if most == 0 or game.lists_turns_slowly:
        return ()
    turns = play.turns_of(game, state, player)
    return turns if len(turns) <= most else ()


def turns_with(game: Game[Any, Any], state: Any, part: str) -> tuple[Sequence[Any], Phrase]:
    """Return the first legal turns whose notation contains ``part``, and a sentence with their number."""
    dice = game.dice
    if dice is not None and dice.awaits_roll(state):
        rolls = dice.possible_rolls(state)
        return (), Phrase(
            "The dice come first; {number} rolls are possible, such as {roll}.", len(rolls), format_roll(rolls[0].roll)
        )
    turns = play.turns_of(game, state, game.rules.players_to_move(state)[0])
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
    turns = play.turns_of(game, state, game.rules.players_to_move(state)[0])
    return [game.notation.format_turn(turn) for turn in _first_middle_last(turns)]


def _first_middle_last(items: Sequence[Any]) -> list[Any]:
    last = len(items) - 1
    return [items[number] for number in dict.fromkeys((0, last // 2, last)) if number >= 0]


_RECORD = click.Path(path_type=Path, dir_okay=False)
"""A record to write. Unlike other files to write, it may be one that is read: a loaded game goes on in its own file."""


@click.command(cls=ExampleCommand)
@click.argument("game_name", metavar="[GAME]", type=cli.GAME, required=False)
@cli.rule_option
@click.option(
    "--player", "players", multiple=True, metavar="SIDE=WHO",
    help="Who plays: person (default), hint, hint:gentle, hint:fair, hint:strong, random.",
)  # fmt: skip
@click.option("--name", "names", multiple=True, metavar="SIDE=NAME", help="A name for the record, such as gold=Ann.")
@click.option("--dice", type=click.Choice(["typed", "roll"]), help="Type what real dice show, or have them drawn.  "
              "[default: typed where a person plays]")  # fmt: skip
@click.option("--seed", type=cli.WholeNumber(min=0), help="Draws the dice and the programs' turns.")
@click.option("--strength", type=cli.STRENGTH, help="How good hints are.  "
              "[default: as in the settings]")  # fmt: skip
@click.option("--time", "seconds", type=cli.Number(0.01, 600), help="Seconds that a hint may take.  "
              "[default: as in the settings]")  # fmt: skip
@click.option("--no-hints", is_flag=True, help="Disable hints.")
@click.option("--position", metavar="TEXT", help="Begin with this position (docs/games/).")
@click.option("--set-up", "set_up", metavar="HOW", help="Begin with pieces rolled (`rolled`), as the options say "
              "(`usual`), or as yours stand, such as \"c1=stop e1=x …\".  [default: rolled at a terminal]")  # fmt: skip
@click.option("--load", type=cli.READABLE_FILE, help="Go on with the game of this record.")
@click.option("--record", "record_file", type=_RECORD, help="Where to keep the game.  [default: GAME-TIME.txt]")
@click.option("--force", is_flag=True, help="Overwrite an existing --record file.")
@click.option("--no-record", is_flag=True, help="Do not keep the game.")
@click.option("--new", "is_new", is_flag=True, help="Begin a new game without asking about an unfinished one.")
@click.option("--list", "most_listed", type=cli.WholeNumber(0, 200), default=12, show_default=True,
              help="List the legal turns, numbered, if there are at most this many.")  # fmt: skip
@click.option("--turns", "most_turns", type=cli.WholeNumber(1), default=10_000, show_default=True,
              help="Stop once the game has this many turns.")  # fmt: skip
@click.pass_obj
def play_command(
    context: cli.CommandContext,
    game_name: str | None,
    options: tuple[str, ...],
    players: tuple[str, ...],
    names: tuple[str, ...],
    dice: str | None,
    seed: int | None,
    strength: str | None,
    seconds: float | None,
    no_hints: bool,
    position: str | None,
    set_up: str | None,
    load: Path | None,
    record_file: Path | None,
    force: bool,
    no_record: bool,
    is_new: bool,
    most_listed: int,
    most_turns: int,
) -> None:
    """Play a game at the terminal.

    People type their turns, hints and programs play theirs; `help` lists what else can be typed. The game is kept as
    a record after every turn, and the next `play` offers to go on with one that was left, of any game if none is named.
    Turns can come from a file or a pipe, one a line.

    Examples:
      ./run play deblockle
      ./run play deblockle --player teal=hint:fair --time 0.5 --name gold=Ann
      ./run play deblockle --player gold=hint:gentle --player teal=random --seed 7
    """
    if sum(given is not None for given in (position, load)) + bool(options or set_up) > 1:
        raise click.UsageError("a position and a record carry their own options and set-up; give one of the three.")
    if record_file is not None:
        _check_record_option(record_file, no_record=no_record, is_free=force or record_file == load)
    has_own_rules = bool(options or set_up)
    has_own_start = bool(position or load or record_file or no_record or is_new)
    resumed = None if game_name or has_own_start or has_own_rules else _game_to_resume(None, is_asked=_is_asked())
    game = registry.load(game_name or (resumed.game if resumed else _game_of_record(load)))
    tags = _tags(game, names)
    start_options = cli.parse_options(game, options)
    hints = context.configuration().settings.hints
    best = Strength(strength or (Strength.STRONG.value if hints.strength == "none" else hints.strength))
    seconds = seconds or hints.seconds
    given = cli.read_sides(game, players, "teal=hint")
    programs = play.read_players(given, seconds, best, time.monotonic)
    is_played_by_people = not programs.keys() >= set(who_plays(game, game.rules.new(start_options)))
    if resumed is None and not has_own_start and is_played_by_people:
        # A game begun before would ignore the options and set-up.
        resumed = _game_to_resume(game.name, is_asked=_is_asked() and not has_own_rules)
    if resumed is not None:
        load = resumed.path
        programs = play.read_players({**resumed.programs, **given}, seconds, best, time.monotonic)
    seed = random.SystemRandom().randrange(1_000_000) if seed is None else seed
    if load is None and position is None:
        usual = "rolled" if _is_asked() and is_played_by_people else "usual"
        so_far = play.GameHistory(game, _start(game, start_options, set_up or usual, seed), tags=tags)
    else:
        so_far = _initial_game(game, position, load, tags)
    file = play.GameFile(record_file or (play.own_file(load, so_far) if load else None), cli.utc_now, _print_whole)
    file.begin(so_far)
    is_watched = programs.keys() >= set(_playing(so_far, programs))
    settings = play.PlaySettings(
        programs=programs,
        draws_dice=dice == "roll" or (dice is None and is_watched),
        seed=seed,
        strength=best,
        seconds=seconds,
        gives_hints=not no_hints and hints.strength != "none",
        most_listed=most_listed,
        most_turns=most_turns,
    )
    cli.say(Phrase("{game}, seed {seed}. `help` lists what can be typed.", game.title, seed))
    cli.print_legend(game)
    session = PlaySession(
        so_far,
        settings,
        _line_reader(),
        cli.say,
        time.monotonic,
        _show_waiting,
        keep=(lambda _: None) if no_record else file.keep,
        go_on_with=(lambda _, __: None) if no_record else file.go_on_with,
        draw=cli.print_state,
        translate=context.translate,
    )
    try:
        session.run()
    finally:
        if not no_record:
            _close(file, session.so_far, {side: program.word for side, program in programs.items()})


def _print_whole(text: str) -> None:
    """Print a text as it is, such as a record."""
    click.echo(cli.spoken(text))


def _show_waiting(words: str) -> AbstractContextManager[object]:
    """Show that an operation takes some time."""
    # rich would take square brackets in a name for its markup.
    return cli.progress_output().status(Text(words))


def _check_record_option(file: Path, *, no_record: bool, is_free: bool) -> None:
    """Raise click's UsageError or BadParameter unless the game can be kept in this file."""
    if no_record:
        raise click.UsageError("--record says where to keep the game, --no-record not to; give one of them.")
    cli.check_output(file, force=is_free)


def _close(file: play.GameFile, so_far: play.GameHistory, programs: Mapping[str, str]) -> None:
    """Save the game for the last time, and say where it is kept; raises OSError if the disk fails."""
    file.close(so_far)
    if file.is_written:
        goes_on = so_far.game.rules.outcome(so_far.state) is None
        said = [Phrase("Kept as {file}.", file.path)]
        if goes_on and file.path:
            said.append(Phrase("{command} goes on.", _load_command(so_far.game.name, file.path, programs)))
        cli.say(joined(said))


def _load_command(game: str, file: Path, programs: Mapping[str, str]) -> str:
    players = "".join(f" --player {side}={word}" for side, word in programs.items())
    return f"`./run play {game} --load {shlex.quote(str(file))}{players}`"


def _is_asked() -> bool:
    """Return whether a person at a terminal can be asked, because the input is not a file or pipe."""
    return sys.stdin.isatty()


def _game_to_resume(game: str | None, *, is_asked: bool) -> play.UnfinishedGame | None:
    """Return the unfinished game that the person wants to resume; if nobody ``is_asked``, mention it.

    ``game`` is the game's name, ``None`` for any.
    """
    found = play.unfinished_game(game, Path())
    if found is None:
        return None
    if not is_asked:
        how = _load_command(found.game, found.path, found.programs)
        cli.say(Phrase("Not finished: {game}. {command} goes on with it.", found.description, how))
        return None
    goes_on = cli.agrees(Phrase("A game is not finished ({game}). Go on with it?", found.description), default=True)
    return found if goes_on else None


def _game_of_record(load: Path | None) -> str:
    """Return the game of a record; raises click's MissingParameter without one, and the errors of reading it."""
    if load is None:
        raise click.MissingParameter(cli.GAME.listed(), param_hint="GAME", param_type="argument")
    return records.read(play.read_text(load)).game


def _start(game: Game[Any, Any], options: dict[str, OptionValue], how: str, seed: int) -> Any:
    """Return the start position: drawn at random, the usual one, or as given by squares and looks."""
    from referee.commands.entries import read_squares

    match how.strip().lower():
        case "rolled" if game.rolled_set_up is not None:
            return game.rolled_set_up(options, random.Random(f"{seed} set-up"))
        case "rolled" | "usual":
            return game.rules.new(options)
    # The starting place determines the piece's owner, so it may be left out.
    owners = {place: look.split()[0] for place, look in game.table.appearance(game.rules.new(options)).items()}
    words = how.replace("=", " ").split()
    return game.table.set_up(
        read_squares(game, " ".join(f"{word} {owners.get(word.lower(), '')}" for word in words)), options
    )


def _initial_game(
    game: Game[Any, Any], position: str | None, load: Path | None, tags: tuple[tuple[str, str], ...]
) -> play.GameHistory:

    if load is not None:
        return play.game_of_record(game, play.read_text(load), tags)
    return play.GameHistory(game, game.notation.parse_state(position or ""), tags=tags)


def _playing(so_far: play.GameHistory, programs: Iterable[str]) -> tuple[str, ...]:
    """Return who plays in the game; raises click's BadParameter for a program's side that doesn't."""
    playing = who_plays(so_far.game, so_far.start)
    idle = [player for player in programs if player not in playing]
    if idle:
        raise click.BadParameter(f"{idle[0]} has no part in this game; there are {', '.join(playing)}")
    return playing


def _tags(game: Game[Any, Any], names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return the record's tags: the date and the players' names."""
    tags = [("Date", f"{cli.utc_now().astimezone():%Y-%m-%d}")]
    for side, name in cli.read_sides(game, names).items():
        if not is_one_line(name):
            raise click.BadParameter(f"the name {name!r} can't be written in a record")
        tags.append((side.capitalize(), name))
    return tuple(tags)


def _line_reader() -> Callable[[str], str | None]:
    """Return a function that prompts for a line. Lines from a file or pipe are echoed, so that a log is readable."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        # An invalid byte is a typing error like any other, and must not end the game.
        sys.stdin.reconfigure(errors="replace")
    is_terminal = sys.stdin.isatty()
    if is_terminal:
        return _read_edited_line

    def ask(prompt: str) -> str | None:
        click.echo(prompt, nl=False)
        line = sys.stdin.readline()
        if not line:
            click.echo("")
            return None
        click.echo(line.rstrip("\n"))
        return line

    return ask


def _read_edited_line(prompt: str) -> str | None:
    """Prompt at a terminal with line editing and history."""
    import readline  # noqa: F401 - importing it enables line editing in input()

    try:
        return input(prompt)
    except KeyboardInterrupt:
        click.echo("")
        raise
    except EOFError:
        click.echo("")
        return None
