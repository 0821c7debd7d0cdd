"""A game at the terminal: asking people, letting programs play, and the commands besides turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from engine.api import Announcement, Clock, Hint, Player, Strength
from engine.errors import EngineError
from engine.options import written_options
from engine.records.record import write
from engine.support.chance import format_roll
from engine.support.players import DRAW, REPETITION, RESIGN, parse_announcement
from referee.cli.games import told
from referee.cli.play.game import HELP, GameSoFar, ended, game_of_record, player_meant, reasons, refusal, said
from referee.cli.play.players import Program, draw_roll, program_rng, turns_of
from referee.errors import PlayError
from referee.hints.advice import RULED_OUT, Stage, advice_of
from referee.hints.advice import hint_text as told_hint

_MOST_LISTED_ON_DEMAND = 60
_MOST_SEARCHED = 100_000


@dataclass(frozen=True)
class PlaySettings:
    """How a game at the terminal is played.

    ``draws_dice`` has dice drawn rather than typed; legal turns are listed unasked while there are at most
    ``most_listed``; a hint takes ``seconds``.
    """

    programs: Mapping[Player, Program]
    draws_dice: bool
    seed: int
    strength: Strength
    seconds: float
    gives_hints: bool
    most_listed: int
    most_turns: int


class PlaySession:
    """One game; ``ask`` gives the line a person typed after a prompt, ``None`` at the end of the input."""

    def __init__(
        self,
        so_far: GameSoFar,
        settings: PlaySettings,
        ask: Callable[[str], str | None],
        say: Callable[[str], None],
        clock: Clock,
        waiting: Callable[[str], AbstractContextManager[object]] = lambda _: nullcontext(),
    ) -> None:
        """Begin with a game so far, the start or a kept one; ``waiting`` shows that something takes its time."""
        self.so_far = so_far
        self._settings = settings
        self._ask = ask
        self._say = say
        self._clock = clock
        self._waiting = waiting
        self._game = so_far.game
        self._refused: EngineError | PlayError | None = None
        self._hint: tuple[int, Hint[Any]] | None = None
        self._shown = -1
        self._going_on = True
        self._commands: Mapping[str, Callable[[str], None]] = {
            "help": lambda _: self._say(HELP),
            "?": lambda _: self._say(HELP),
            "turns": self._list_turns,
            "hint": lambda _: self._give_hint(),
            "roll": lambda _: self._roll(),
            "undo": lambda _: self._undo(),
            "board": lambda _: self._show_board(),
            "rules": lambda _: self._tell_rules(),
            "why": lambda _: self._tell_why(),
            "resign": self._resign,
            "draw": lambda _: self._agree_on_draw(),
            "claim": self._claim,
            "save": self._save,
            "load": self._load,
            "quit": lambda _: self._quit(),
        }

    @property
    def _state(self) -> Any:
        return self.so_far.state

    def run(self) -> None:
        """Play to the end of the game or of the input, or until somebody stops."""
        while self._going_on and self._game.rules.players_to_move(self._state):
            if self.so_far.turns >= self._settings.most_turns:
                self._say(self._game.notation.diagram(self._state))
                self._say(f"Stopped after {self.so_far.turns} turns.")
                return
            player = self._game.rules.players_to_move(self._state)[0]
            program = self._settings.programs.get(player)
            if self._game.awaits_roll(self._state) and self._settings.draws_dice:
                self._roll()
            elif program is None or self._game.awaits_roll(self._state):
                self._prompt(player)
            else:
                self._let_play(player, program)
        if not self._game.rules.players_to_move(self._state):
            self._say(self._game.notation.diagram(self._state))
            self._say(ended(self._game, self._state))

    def _let_play(self, player: Player, program: Program) -> None:
        rng = program_rng(self._settings.seed, player, len(self.so_far.steps))
        with self._waiting(f"{player} thinks"):
            choice = program.choose(self._game, self._state, player, rng)
        self.so_far = self.so_far.played(choice.turn, by_person=False)
        because = f" That {choice.reason.rstrip('.')}." if choice.reason else ""
        notation = self._game.notation
        self._say(f"{player}: {notation.format_turn(choice.turn)}  {notation.describe(choice.turn)}{because}")

    def _prompt(self, player: Player) -> None:
        if self._shown != len(self.so_far.steps):
            self._show_board()
        awaits_roll = self._game.awaits_roll(self._state)
        line = self._ask(f"{player} rolls> " if awaits_roll else f"{player}> ")
        if line is None:
            self._going_on = False
            return
        line = line.strip()
        if not line:
            return
        try:
            self._obey(line, awaits_roll=awaits_roll)
        except (EngineError, PlayError) as error:
            self._refused = error
            for refused in refusal(error, line):
                self._say(refused)

    def _obey(self, line: str, *, awaits_roll: bool) -> None:
        word, _, rest = line.partition(" ")
        command = self._commands.get(word.lower())
        if command is not None:
            command(rest.strip())
        elif line.partition(":")[2].strip().lower() in self._announced_kinds():
            self._announce(parse_announcement(line, self._game.players))
        elif awaits_roll:
            self._play(self._game.dice_for(line).parse_roll(self._state, line))
        else:
            self._play(self._typed_turn(line))

    def _announced_kinds(self) -> set[str]:
        """What may be said after a colon; what can't be said just now is refused with the rules' reason."""
        return {RESIGN, DRAW, REPETITION, *(each.kind for each in self._game.rules.announcements(self._state))}

    def _typed_turn(self, line: str) -> Any:
        named, text = player_meant(self._game, self._state, line)
        if named in self._settings.programs:
            raise PlayError(f"{named} is played by a program; it plays when its turn comes")
        player = named or self._game.rules.players_to_move(self._state)[0]
        if text.isascii() and text.isdecimal() and len(text) < 6:
            numbered = self._numbered(player)
            if 1 <= int(text) <= len(numbered):
                return numbered[int(text) - 1]
        return self._game.notation.parse_turn(self._state, text, named)

    def _play(self, what: Any) -> None:
        self.so_far = self.so_far.played(what, by_person=True)
        self._refused = None

    def _announce(self, announcement: Announcement) -> None:
        if announcement.player in self._settings.programs:
            raise PlayError(f"{announcement.player} is played by a program; nobody else can speak for it")
        if announcement.player is None and self._settings.programs:
            raise PlayError("a program plays, and programs agree to nothing; play on, or resign")
        self._play(announcement)
        self._say(said(announcement))

    def _show_board(self) -> None:
        self._shown = len(self.so_far.steps)
        self._say("")
        self._say(self._game.notation.diagram(self._state))
        if self._game.awaits_roll(self._state):
            return
        for number, turn in enumerate(self._numbered(self._game.rules.players_to_move(self._state)[0]), 1):
            self._say(f"{number:4}  {self._game.notation.format_turn(turn)}  {self._game.notation.describe(turn)}")

    def _numbered(self, player: Player) -> Sequence[Any]:
        """The legal turns that are listed unasked with their numbers, none where they are many or cost seconds."""
        if self._settings.most_listed == 0 or self._game.is_slow_to_list:
            return ()
        turns = turns_of(self._game, self._state, player)
        return turns if len(turns) <= self._settings.most_listed else ()

    def _list_turns(self, part: str) -> None:
        """List the first legal turns, or the first whose text has ``part`` in it."""
        dice = self._game.dice
        if dice is not None and dice.awaits_roll(self._state):
            rolls = dice.possible_rolls(self._state)
            such_as = format_roll(rolls[0].roll)
            self._say(f"The dice come first; {len(rolls)} rolls are possible, such as {such_as}.")
            return
        turns = turns_of(self._game, self._state, self._game.rules.players_to_move(self._state)[0])
        searched = (turns[number] for number in range(min(len(turns), _MOST_SEARCHED)))
        fitting = (turn for turn in searched if part.lower() in self._game.notation.format_turn(turn).lower())
        listed = list(islice(fitting, _MOST_LISTED_ON_DEMAND))
        for turn in listed:
            self._say(f"  {self._game.notation.format_turn(turn)}  {self._game.notation.describe(turn)}")
        if len(listed) == len(turns):
            self._say(f"{len(turns)} legal turns.")
        elif part:
            self._say(f"{len(listed)} shown of {len(turns)} legal turns, those with {part!r} in them.")
        else:
            self._say(f"{len(listed)} shown of {len(turns)} legal turns; `turns PART` lists those with that in them.")

    def _give_hint(self) -> None:
        if not self._settings.gives_hints:
            raise PlayError(RULED_OUT)
        at = len(self.so_far.steps)
        if self._hint is not None and self._hint[0] == at:
            hint, is_first = self._hint[1], False
        else:
            rng = program_rng(self._settings.seed, "hint", at)
            with self._waiting("looking for a hint"):
                hint = self._game.advice.hint(
                    self._state, self._settings.seconds, rng, clock=self._clock, strength=self._settings.strength
                )
            self._hint, is_first = (at, hint), True
        stage: Stage = "piece" if is_first and self._settings.strength is Strength.GENTLE else "whole"
        self._say(told_hint(self._game, self._state, advice_of(self._game, hint), stage).words)
        if stage == "whole":
            self._say(f"  {self._game.notation.format_turn(hint.turn)}")

    def _roll(self) -> None:
        if not self._game.awaits_roll(self._state):
            raise PlayError("no roll is awaited now; play a turn")
        number = self.so_far.rolls
        roll = draw_roll(self._game, self._state, self._settings.seed, number)
        player = self._game.rules.players_to_move(self._state)[0]
        self.so_far = self.so_far.played(roll, by_person=False)
        self._say(f"{player} rolls {format_roll(roll)}")

    def _undo(self) -> None:
        before = self.so_far.taken_back()
        if before is None:
            raise PlayError("there is nothing to take back: nobody has typed anything yet")
        self.so_far = before
        self._hint = None
        self._shown = -1
        self._say("Taken back.")

    def _tell_rules(self) -> None:
        options = written_options(self._game.options, self._game.notation.format_state(self._state))
        for line in told(self._game, options):
            self._say(line)

    def _tell_why(self) -> None:
        if self._refused is None:
            self._say("Nothing was refused since the last turn.")
            return
        for line in reasons(self._game, self._refused):
            self._say(line)

    def _resign(self, player: str) -> None:
        who = player.lower() or self._game.rules.players_to_move(self._state)[0]
        if who not in self._game.players:
            raise PlayError(f"there is no player {player!r}; there are {', '.join(self._game.players)}")
        self._announce(Announcement(RESIGN, who))

    def _agree_on_draw(self) -> None:
        self._announce(Announcement(DRAW))

    def _claim(self, kind: str) -> None:
        claims = [
            each
            for each in self._game.rules.announcements(self._state)
            if each.kind not in (RESIGN, DRAW) and kind.lower() in ("", each.kind)
        ]
        if not claims:
            raise PlayError(f"nothing{f' called {kind!r}' if kind else ''} can be claimed now")
        if len(claims) > 1:
            listed = ", ".join(f"{each.player}:{each.kind}" for each in claims)
            raise PlayError(f"several things can be claimed; type one of {listed}")
        self._announce(claims[0])

    def _save(self, name: str) -> None:
        if not name:
            raise PlayError("a file is needed, such as `save game.txt`")
        text = write(self.so_far.record())
        try:
            Path(name).write_text(text, encoding="utf-8")
        except (OSError, ValueError) as error:  # a ValueError is a name that no file can have
            self._say(f"Not saved: {name}: {getattr(error, 'strerror', None) or error}")
        else:
            self._say(f"Saved: {name}")

    def _load(self, name: str) -> None:
        if not name:
            raise PlayError("a file is needed, such as `load game.txt`")
        try:
            text = Path(name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            self._say(f"Not loaded: {name} is no game record (it is not UTF-8 text)")
        except (OSError, ValueError) as error:
            self._say(f"Not loaded: {name}: {getattr(error, 'strerror', None) or error}")
        else:
            self.so_far = game_of_record(self._game, text, self.so_far.tags)
            self._hint = None
            self._shown = -1
            self._say(f"Loaded: {name}, {self.so_far.turns} turns.")

    def _quit(self) -> None:
        self._going_on = False
