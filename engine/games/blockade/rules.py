"""Which turns and announcements are legal, and what follows from them; docs/games/blockade.md has the rulings.

A turn stands for one end position, however it was reached. The state holds whole stacks; a look is the top of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.errors import IllegalTurnError
from engine.games.blockade import showing
from engine.games.blockade import state as states
from engine.games.blockade.board import PLAYERS, Stacks, options_from
from engine.games.blockade.moves import play
from engine.games.blockade.notation import format_turn, paths_of
from engine.games.blockade.rolls import rolled
from engine.games.blockade.state import BlockadeState, BlockadeTurn, breach_of_timing
from engine.games.blockade.turns import turns_of
from engine.support.breaches import check_announcement, illegal_turn, only_turn, rules_by_id
from engine.support.players import common_announcements, one_to_move
from engine.values import Announcement, Breach, Certainty, OptionValue, Roll, Rule

catalogue = rules_by_id(
    Rule(
        "wrong-start", "The game starts from its one set-up: larges, a small on each coloured one, mediums in corners."
    ),
    Rule("game-over", "Nothing moves after the end of the game, and the fifth tower ends it at once."),
    Rule("not-your-turn", "Players take turns: wait until it is your turn."),
    Rule("roll-first", "Roll both dice, then move."),
    Rule("moved-opponent-piece", "Move only pieces of your own two colours."),
    Rule("large-moved", "Large pieces never move."),
    Rule("black-moved", "A black piece stays on its tower."),
    Rule("passed-over-blockade", "Nothing passes over, or onto, the other player's blockades."),
    Rule("too-many-points", "Each colour takes at most as many steps as its die shows."),
    Rule("sum-for-one-colour", "Dice that both show three or less may be added up, but only for one colour."),
    Rule("rested-on-other-colour", "A piece never rests on a piece of another colour, not even your own other one."),
    Rule("rested-on-smaller", "A piece rests on its own colour only where the piece below is at least as big."),
    Rule("rested-on-other-blockade", "A piece rests on black only where the tower below has its own colour."),
    Rule("rested-on-black-not-larger", "A piece rests only on a black piece that is larger."),
    Rule("tower-not-capped", "A new tower gets a black piece at once."),
    Rule("largest-black-first", "A new tower gets the largest black piece that is left."),
    Rule("black-without-tower", "Black is placed only on a tower that was made in this turn."),
    Rule("piece-gone", "No piece leaves the board."),
    Rule("piece-added", "No coloured piece comes onto the board during the game."),
)


turns_showing = showing.turns_showing
players_to_move = one_to_move
outcome = states.outcome_of


def new(options: Mapping[str, OptionValue] | None = None) -> BlockadeState:
    """Return the starting state; players roll for who starts unless that is agreed. Raises OptionError."""
    return states.new_state(options_from(options))


def legal_turns(state: BlockadeState) -> Sequence[BlockadeTurn]:
    """List one turn for each end position that the roll allows, starting with the one where nothing moves.

    The sequence is lazy: its length and items are cheap. It is empty while a roll is awaited.
    """
    return () if state.to_move is None or state.roll is None else turns_of(state)


perft_turns = legal_turns


def count_from(state: BlockadeState, roll: Roll | None, colour: str | None) -> BlockadeState:
    """Return the state whose turns are counted for a roll; warm starts if the starter is still open.

    Raises IllegalTurnError for a colour, and for an impossible or missing roll.
    """
    if colour is not None:
        raise IllegalTurnError(f"got the colour {colour!r}, but in Blockade nobody holds one; leave it out")
    if state.opening is not None:
        state = replace(state, opening=None, to_move=PLAYERS[0])
    if roll is None:
        if state.to_move is not None and state.roll is None:
            raise IllegalTurnError("a turn begins with a roll; give one, such as 4,1")
        return state
    return rolled(state, roll)


def announcements(state: BlockadeState) -> Sequence[Announcement]:
    """List the legal announcements: both agree on a draw, or either player resigns."""
    return () if state.to_move is None else common_announcements(PLAYERS)


def announce(state: BlockadeState, announcement: Announcement) -> BlockadeState:
    """Return the state after an announcement; raises IllegalTurnError."""
    check_announcement(announcement, announcements(state))
    return states.settle(replace(state, announced=announcement))


def certainty(state: BlockadeState, turn: BlockadeTurn) -> Certainty:
    """Return whether the turn is legal: certain or impossible, since nothing is hidden."""
    return Certainty.IMPOSSIBLE if _play_turn(state, turn)[1] else Certainty.CERTAIN


def apply(state: BlockadeState, turn: BlockadeTurn) -> BlockadeState:
    """Return the state after the turn; raises IllegalTurnError with breaches."""
    stacks, breaches = _play_turn(state, turn)
    if breaches:
        raise illegal_turn(format_turn(turn), breaches)
    return states.state_after(state, stacks)


def _play_turn(state: BlockadeState, turn: BlockadeTurn) -> tuple[Stacks, tuple[Breach, ...]]:
    wrong = breach_of_timing(state, turn.player)
    if wrong is not None:
        return state.stacks, (wrong,)
    played = play(state, turn.player, state.roll, paths_of(turn))
    return played.stacks, played.breaches


def combine(turns: Sequence[BlockadeTurn]) -> BlockadeTurn:
    """Return the only turn; raises AmbiguousError for several, as their stacks differ even if they look alike."""
    return only_turn(turns, format_turn)
