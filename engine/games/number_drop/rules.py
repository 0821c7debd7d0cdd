"""Number Drop's rules; see docs/games/number-drop.md for the rulings and the options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.api import Announcement, Breach, Certainty, OptionValue, Player, PossibleRoll, Roll
from engine.errors import AmbiguousError, IllegalTurnError, UnreadableError
from engine.games.number_drop import flow, rolls
from engine.games.number_drop import turns as playing
from engine.games.number_drop.notation import format_turn
from engine.games.number_drop.play.catalogue import RULES
from engine.games.number_drop.play.options import options_from
from engine.games.number_drop.sheet import Sheet
from engine.games.number_drop.state import PLAYERS, NumberDropState, NumberDropTurn, Phase
from engine.games.number_drop.table.showing import turns_showing
from engine.games.number_drop.violations import breaches_of
from engine.support.announcements import DRAW, RESIGN, format_announcement
from engine.support.breaches import not_legal
from engine.support.dice import format_roll
from engine.support.notation import words


class NumberDropRules:
    """Which turns and announcements are legal and what comes of them."""

    catalogue = RULES
    legal_turns = staticmethod(playing.legal_turns)
    turns_showing = staticmethod(turns_showing)
    outcome = staticmethod(flow.outcome_of)

    def new(self, options: Mapping[str, OptionValue] | None = None) -> NumberDropState:
        """Give the starting state, sheets empty and the tiles still to be drawn; raises OptionError."""
        return flow.new_state(options_from(options))

    def players_to_move(self, state: NumberDropState) -> tuple[Player, ...]:
        """Name everyone who may write now, clockwise from the first; who rolls where a roll is awaited."""
        busy = tuple(PLAYERS[player] for player in state.busy())
        return busy or (() if state.to_move is None else (state.to_move,))

    def perft_turns(self, state: NumberDropState) -> Sequence[NumberDropTurn]:
        """List the turns of the player to move alone: after a roll, one drop for each distinct sheet."""
        busy = state.busy()
        return playing.turns_of(state, busy[0]) if busy else ()

    def count_from(self, state: NumberDropState, roll: Roll | None, colour: str | None) -> NumberDropState:
        """Give the state in which the player to move alone drops this roll onto their sheet as it stands.

        The set-up, penalties and the solo slides are passed over. Without a roll, a position in which one lies on the
        table is counted as it is. Raises IllegalTurnError for a roll that can't be or is missing, and for a colour.
        """
        if colour is not None:
            raise IllegalTurnError(f"got the colour {colour!r}, but in Number Drop nobody holds one; leave it out")
        faces = state.roll if roll is None else rolls.read_dice_roll(state.settings.components, roll.faces)
        if roll is None and state.busy() and state.phase is not Phase.SETUP:
            return state
        if not faces:
            raise IllegalTurnError("Number Drop waits for a roll, and none is given; give one such as 1,3,4,5,T")
        player = PLAYERS.index(state.to_move) if state.to_move else state.first
        tiles = state.tiles or rolls.tile_draws(state.settings)[0].roll.faces
        sheets = state.sheets if state.tiles else (Sheet(),) * state.settings.players
        return replace(
            state, phase=Phase.DROP, tiles=tiles, sheets=sheets, roll=faces, first=player, playing=1 << player,
            combining=0, slot=None, star_slid=False,
        )  # fmt: skip

    def announcements(self, state: NumberDropState) -> Sequence[Announcement]:
        """List who may resign, and the draw that two players may agree on."""
        if state.phase is Phase.OVER:
            return ()
        in_play = PLAYERS[: state.settings.players]
        active = tuple(player for number, player in enumerate(in_play) if not state.gone >> number & 1)
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

    def certainty(self, state: NumberDropState, turn: NumberDropTurn) -> Certainty:
        """Say whether the turn is legal; nothing is hidden, so it is certain or impossible."""
        return Certainty.CERTAIN if playing.is_legal(state, turn) else Certainty.IMPOSSIBLE

    def apply(self, state: NumberDropState, turn: NumberDropTurn) -> NumberDropState:
        """Give the state after the turn of anyone who may play; raises IllegalTurnError with breaches."""
        if not playing.is_legal(state, turn):
            raise not_legal(format_turn(turn), breaches_of(state, turn))
        return playing.played(state, turn)

    def combine(self, turns: Sequence[NumberDropTurn]) -> NumberDropTurn:
        """Give the one turn that ``turns`` are; raises AmbiguousError for several: each leaves another state.

        A combination with its letter and one without look alike, but they differ in what may strike later.
        """
        different = list(dict.fromkeys(turns))
        if len(different) != 1:
            listed = ", ".join(format_turn(turn) for turn in different) or "no turn"
            raise AmbiguousError(f"got {listed}; expected one turn, as each leaves another state")
        return different[0]


class NumberDropDice:
    """The five dice, and at the start the draw of the tiles."""

    def awaits_roll(self, state: NumberDropState) -> bool:
        """Say whether the tiles are to be drawn or the dice to be rolled."""
        return state.phase in (Phase.TILES, Phase.ROLL)

    def possible_rolls(self, state: NumberDropState) -> Sequence[PossibleRoll]:
        """List every draw of the tiles at the start, later every roll of the five dice; empty when none is awaited."""
        if state.phase is Phase.TILES:
            return rolls.tile_draws(state.settings)
        return rolls.dice_rolls(state.settings.components) if state.phase is Phase.ROLL else ()

    def rolled(self, state: NumberDropState, roll: Roll) -> NumberDropState:
        """Give the state after the tiles were drawn or the dice rolled; raises IllegalTurnError.

        Faces of dice may be given in any order; those of tiles are in the order of their slots.
        """
        if state.phase is Phase.TILES:
            return flow.tiles_drawn(state, rolls.read_tile_draw(state.settings, roll.faces))
        if state.phase is not Phase.ROLL:
            waits = "the game is over" if state.to_move is None else f"{state.to_move} is still to play"
            raise IllegalTurnError(f"got a roll of {format_roll(roll)}, but {waits}")
        return flow.dice_rolled(state, rolls.read_dice_roll(state.settings.components, roll.faces))

    def roll_of(self, state: NumberDropState) -> Roll | None:
        """Give the roll that is still to be dropped, or ``None``; a roll that let a penalty strike is used up."""
        return Roll(state.roll) if state.roll else None

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
