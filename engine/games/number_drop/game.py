"""Number Drop behind the engine's one interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random

from engine.api import (
    Announcement,
    Appearance,
    Breach,
    Certainty,
    Clock,
    Facing,
    Hint,
    LookName,
    Option,
    OptionValue,
    Outcome,
    Place,
    Player,
    PossibleRoll,
    Roll,
    Rule,
    Strength,
    Tally,
    Unfinished,
)
from engine.errors import AmbiguousError, IllegalTurnError, UnreadableError
from engine.games.number_drop.advice.hints import find_hint
from engine.games.number_drop.advice.playouts import play_random_games
from engine.games.number_drop.play import flow, rolls
from engine.games.number_drop.play import state as states
from engine.games.number_drop.play import turns as playing
from engine.games.number_drop.play.components import components_file, drawn_file, options_of_file
from engine.games.number_drop.play.options import OPTIONS, options_from
from engine.games.number_drop.play.rules import RULES
from engine.games.number_drop.play.sheet import Sheet
from engine.games.number_drop.play.state import LOOKS, PLACES, PLAYERS, NumberDropState, NumberDropTurn, Phase
from engine.games.number_drop.play.violations import breaches_of
from engine.games.number_drop.table import set_up
from engine.games.number_drop.table.explain import explain_change
from engine.games.number_drop.text import display
from engine.games.number_drop.text import states as state_text
from engine.games.number_drop.text import turns as turn_text
from engine.support.announcements import DRAW, RESIGN, format_announcement
from engine.support.notation import words
from engine.support.traits import WithoutSideFaces


class NumberDrop(WithoutSideFaces[NumberDropState, NumberDropTurn]):
    """Number Drop's rules; see docs/games/number-drop.md for the rulings and the options.

    ``players`` and ``places`` are those of the largest game; a state's own are told by its option ``players``.
    """

    name: str = "number-drop"
    sheet_option: str = ""
    title: str = "Number Drop"
    players: tuple[Player, ...] = PLAYERS
    options: tuple[Option, ...] = OPTIONS
    places: tuple[Place, ...] = PLACES
    looks: tuple[LookName, ...] = LOOKS
    rules: Mapping[str, Rule] = RULES

    def new(self, options: Mapping[str, OptionValue] | None = None) -> NumberDropState:
        """Give the starting state, sheets empty and the tiles still to be drawn; raises OptionError."""
        return flow.new_state(options_from(options))

    def set_up(
        self,
        appearance: Appearance,
        options: Mapping[str, OptionValue] | None = None,
        *,
        anywhere: bool = False,  # noqa: ARG002
    ) -> NumberDropState:
        """Give the start that the sheets show: empty, or with their first digits; the tiles are still to be drawn.

        Raises IllegalTurnError with breaches when more is written. The lowest line has no suggested cells, so
        ``anywhere`` makes no difference.
        """
        return set_up.set_up_state(appearance, options_from(options))

    def players_to_move(self, state: NumberDropState) -> tuple[Player, ...]:
        """Name everyone who may write now, clockwise from the first; who rolls where a roll is awaited."""
        busy = tuple(PLAYERS[player] for player in state.busy())
        return busy or (() if state.to_move is None else (state.to_move,))

    def legal_turns(self, state: NumberDropState, roll: Roll | None = None) -> Sequence[NumberDropTurn]:
        """List every turn of everyone who may play now as a lazy sequence; drops alone can be 360,000 a player."""
        return playing.legal_turns(state if roll is None else self.rolled(state, roll))

    def counted_turns(self, state: NumberDropState) -> Sequence[NumberDropTurn]:
        """List the turns of the player to move alone: after a roll, one drop for each distinct sheet."""
        busy = state.busy()
        return playing.turns_of(state, busy[0]) if busy else ()

    def count_from(self, state: NumberDropState, roll: Roll | None, colour: str | None) -> NumberDropState:
        """Give the state in which the player to move alone drops this roll onto their sheet as it stands.

        The set-up, penalties and the solo slides are passed over. Without a roll, a position in which one lies on the
        table is counted as it is. Raises IllegalTurnError for a roll that can't be or is missing, and for a colour.
        """
        if colour is not None:
            raise IllegalTurnError(f"got the colour {colour!r}, but in {self.title} nobody holds one; leave it out")
        faces = state.roll if roll is None else rolls.read_dice_roll(state.settings.components, roll.faces)
        if roll is None and state.busy() and state.phase is not Phase.SETUP:
            return state
        if not faces:
            raise IllegalTurnError(f"{self.title} waits for a roll, and none is given; give one such as 1,3,4,5,T")
        player = PLAYERS.index(state.to_move) if state.to_move else state.first
        tiles = state.tiles or rolls.tile_draws(state.settings)[0].roll.faces
        sheets = state.sheets if state.tiles else (Sheet(),) * state.settings.players
        return replace(
            state, phase=Phase.DROP, tiles=tiles, sheets=sheets, roll=faces, first=player, playing=1 << player,
            combining=0, slot=None, star_slid=False,
        )  # fmt: skip

    def possible_rolls(self, state: NumberDropState) -> Sequence[PossibleRoll]:
        """List every draw of the tiles at the start, later every roll of the five dice; empty when none is awaited."""
        if state.phase is Phase.TILES:
            return rolls.tile_draws(state.settings)
        return rolls.dice_rolls(state.settings.components) if state.phase is Phase.ROLL else ()

    def awaits_roll(self, state: NumberDropState) -> bool:
        """Say whether the tiles are to be drawn or the dice to be rolled."""
        return state.phase in (Phase.TILES, Phase.ROLL)

    def rolled(self, state: NumberDropState, roll: Roll) -> NumberDropState:
        """Give the state after the tiles were drawn or the dice rolled; raises IllegalTurnError.

        Faces of dice may be given in any order; those of tiles are in the order of their slots.
        """
        if state.phase is Phase.TILES:
            return flow.tiles_drawn(state, rolls.read_tile_draw(state.settings, roll.faces))
        if state.phase is not Phase.ROLL:
            waits = "the game is over" if state.to_move is None else f"{state.to_move} is still to play"
            raise IllegalTurnError(f"got a roll of {self.format_roll(roll)}, but {waits}")
        return flow.dice_rolled(state, rolls.read_dice_roll(state.settings.components, roll.faces))

    def roll_of(self, state: NumberDropState) -> Roll | None:
        """Give the roll that is still to be dropped, or ``None``; a roll that let a penalty strike is used up."""
        return Roll(state.roll) if state.roll else None

    def announcements(self, state: NumberDropState) -> Sequence[Announcement]:
        """List who may resign, and the draw that two players may agree on."""
        if state.phase is Phase.OVER:
            return ()
        active = tuple(player for number, player in enumerate(self._in_play(state)) if not state.gone >> number & 1)
        resigning = tuple(Announcement(RESIGN, player) for player in active)
        return (*resigning, Announcement(DRAW)) if state.settings.players == 2 else resigning

    def announce(self, state: NumberDropState, announcement: Announcement) -> NumberDropState:
        """Give the state after somebody resigned or two agreed on a draw; raises IllegalTurnError."""
        if announcement not in self.announcements(state):
            listed = ", ".join(format_announcement(each) for each in self.announcements(state)) or "nothing"
            said = format_announcement(announcement)
            breaches: tuple[Breach, ...] = ()
            if state.phase is Phase.OVER:
                breaches = (Breach("game-over", f"The game is over, so {said} means nothing.", "Begin a new game."),)
            raise IllegalTurnError(f"got {said}; what may be announced now is {listed}", breaches)
        if announcement.player is None:
            return replace(state, phase=Phase.OVER, roll=(), playing=0, combining=0, slot=None, drawn=True)
        return flow.resigned(state, PLAYERS.index(announcement.player))

    @staticmethod
    def _in_play(state: NumberDropState) -> tuple[Player, ...]:
        return PLAYERS[: state.settings.players]

    def scores(self, state: NumberDropState) -> Mapping[Player, int]:
        """Give everyone's points as they stand: combinations, full columns, full lines, lines above the line."""
        return flow.scores_of(state)

    def playouts(self, state: NumberDropState, count: int, rng: Random, *, most_plies: int = 10_000) -> Tally:
        """Play ``count`` games to their end, each turn and roll drawn evenly among the legal ones."""
        return play_random_games(state, count, rng, most_plies)

    def hint(
        self,
        state: NumberDropState,
        deadline_s: float,
        rng: Random,
        *,
        clock: Clock,
        strength: Strength = Strength.STRONG,
        better: Callable[[Hint[NumberDropTurn]], None] | None = None,
    ) -> Hint[NumberDropTurn]:
        """Find a good turn of ``state.to_move`` in time; raises IllegalTurnError when there is none to play."""
        return find_hint(state, deadline_s, rng, clock=clock, strength=strength, better=better)

    def certainty(self, state: NumberDropState, turn: NumberDropTurn) -> Certainty:
        """Say whether the turn is legal; nothing is hidden, so it is certain or impossible."""
        return Certainty.CERTAIN if playing.is_legal(state, turn) else Certainty.IMPOSSIBLE

    def apply(self, state: NumberDropState, turn: NumberDropTurn) -> NumberDropState:
        """Give the state after the turn of anyone who may play; raises IllegalTurnError with breaches."""
        if not playing.is_legal(state, turn):
            breaches = breaches_of(state, turn)
            told = " ".join(breach.sentence for breach in breaches)
            raise IllegalTurnError(f"{turn_text.format_turn(turn)} is not legal here: {told}", breaches)
        return playing.played(state, turn)

    def combine(self, turns: Sequence[NumberDropTurn]) -> NumberDropTurn:
        """Give the one turn that ``turns`` are; raises AmbiguousError for several: each leaves another state.

        A combination with its letter and one without look alike, but they differ in what may strike later.
        """
        different = list(dict.fromkeys(turns))
        if len(different) != 1:
            listed = ", ".join(turn_text.format_turn(turn) for turn in different) or "no turn"
            raise AmbiguousError(f"got {listed}; expected one turn, as each leaves another state")
        return different[0]

    def unfinished(self, state: NumberDropState) -> Sequence[Unfinished]:  # noqa: ARG002
        """List nothing: a half-written shape has far too many forms; it is told as what it still lacks."""
        return ()

    def outcome(self, state: NumberDropState) -> Outcome | None:
        """Say how the game ended, or ``None`` while it goes on."""
        return flow.outcome_of(state)

    def appearance(self, state: NumberDropState) -> Appearance:
        """Map every place of the sheets in play to its look."""
        return states.appearance_of(state)

    def amend(
        self, state: NumberDropState, looks: Mapping[Place, LookName], to_move: Player | None = None
    ) -> NumberDropState:
        """Give the state as a person puts it right; raises UnreadableError for what can't be a position."""
        return set_up.amended(state, looks, to_move)

    def explain(
        self,
        before: NumberDropState,
        after: Appearance,
        facings: Mapping[Place, Facing] | None = None,  # noqa: ARG002
    ) -> tuple[Breach, ...]:
        """Say which rules the change breaks, the nearest first; empty when none, or when legal turns explain it.

        Places that ``after`` leaves out count as unchanged. Raises UnreadableError for a place or look that isn't one.
        """
        return explain_change(before, after)

    def format_state(self, state: NumberDropState) -> str:
        """Write a state in its strict text form."""
        return state_text.format_state(state)

    def parse_state(self, text: str) -> NumberDropState:
        """Read a state's text leniently, or a bare sheet; raises UnreadableError."""
        return state_text.parse_state(text)

    def format_turn(self, turn: NumberDropTurn) -> str:
        """Write a turn in its strict text form."""
        return turn_text.format_turn(turn)

    def parse_turn(self, state: NumberDropState, text: str, player: Player | None = None) -> NumberDropTurn:
        """Read a turn's text leniently, as ``player``'s or the next one's; raises UnreadableError or IllegalTurnError.

        Where nobody is named, the player that the text begins with (``p2: d1=2``) plays.
        """
        named = next(
            (each for each in self._in_play(state) if text.strip().lower().startswith((f"{each}.", f"{each}:"))), None
        )
        turn = turn_text.read_turn(state, text, player or named or state.to_move or PLAYERS[state.first])
        if not playing.is_legal(state, turn):
            breaches = breaches_of(state, turn)
            raise IllegalTurnError(" ".join(breach.sentence for breach in breaches), breaches)
        return turn

    def format_roll(self, roll: Roll) -> str:
        """Write a roll as its faces, parted by commas: ``1,3,4,*,T``."""
        return ",".join(roll.faces)

    def parse_roll(self, state: NumberDropState, text: str) -> Roll:
        """Read a roll's text leniently (commas, spaces, case, any order of dice).

        Raises UnreadableError, or IllegalTurnError for a roll that can't be or none awaited.
        """
        faces = tuple(word.text.upper() for word in words(text.replace(",", " ")))
        if not faces:
            raise UnreadableError(f"cannot read {text!r} as a roll; expected faces such as 1,3,4,*,T", 1)
        known = set("".join(state.settings.components.dice)) | set(state.settings.components.shapes) | {"*"}
        for word in words(text.replace(",", " ")):
            if word.text.upper() not in known:
                raise UnreadableError(
                    f"cannot read {word.text!r} at column {word.column} of the roll {text!r}; expected digits, * and a "
                    "shape such as 1,3,4,*,T, or the faces of the tiles",
                    word.column,
                )
        self.rolled(state, Roll(faces))
        if state.phase is Phase.TILES:
            return Roll(rolls.read_tile_draw(state.settings, faces))
        return Roll(rolls.read_dice_roll(state.settings.components, faces))

    def diagram(self, state: NumberDropState) -> str:
        """Draw the sheets and what lies on the table."""
        return display.diagram_of(state)

    def summary(self, options: Mapping[str, OptionValue] | None = None) -> str:
        """Tell the rules in short with these options in force."""
        return display.summary_of(options_from(options))

    def describe(self, turn: NumberDropTurn) -> str:
        """Say the turn in a short sentence for a person."""
        return turn_text.describe_turn(turn)

    def sheet_file(self) -> str:
        """Give the text of the components file that ships."""
        return components_file()

    def read_sheet_file(self, text: str) -> Mapping[str, OptionValue]:
        """Read a components file and give the options it comes to; raises UnreadableError."""
        return options_of_file(text)

    def draw_sheet(self, text: str) -> str:
        """Draw the dice and tiles of a components file; raises UnreadableError."""
        return drawn_file(text)
