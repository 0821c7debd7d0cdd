"""Which turns and announcements are legal, what follows from them, and turns tapped on the board.

docs/games/deblockle.md has the rulings. A turn is tapped as the block, where it rolls, the symbol if it isn't known,
and where it hops.

``new()`` places every block in orientation 0, with every face known: star up, slider north for the printed net. In a
start set up from an observed table only the tops are known.
"""

from collections.abc import Iterator, Mapping, Sequence

from common.phrases import Phrase
from engine.api import PossibleLooks, Tapped, Taps
from engine.errors import AmbiguousError, IllegalTurnError
from engine.games.deblockle import turns as playing
from engine.games.deblockle.notation import WrittenTurn, breaches_of_written, format_turn
from engine.games.deblockle.state import (
    SQUARE_OF,
    DeblockleState,
    DeblockleTurn,
    appearance_of,
    change_by,
    options_from,
)
from engine.games.deblockle.table import new_state
from engine.games.deblockle.turns import fast_rules_of, known_position
from engine.showing import TableConstraint
from engine.support.breaches import illegal_turn, rules_by_id
from engine.support.players import one_to_move
from engine.values import Certainty, OptionValue, Rule

catalogue = rules_by_id(
    Rule("too-many-blocks", "A player starts with the agreed number of blocks, four at most."),
    Rule("too-few-blocks", "A player starts with the agreed number of blocks, one at least."),
    Rule("start-square", "Each block starts on one of its owner's starting squares."),
    Rule("start-on-star", "No block starts on a star square."),
    Rule("game-over", "When the game is over, no more turns are played."),
    Rule("not-your-turn", "Players take turns: wait until it is your turn."),
    Rule("no-turn-left", "A player who can't move is Deblockle'd, and waits until there is a way out again."),
    Rule("moved-opponent-block", "Move only your own blocks."),
    Rule("two-blocks-moved", "One turn moves one block."),
    Rule("no-roll", "A turn begins with a roll over an edge, so another symbol comes up."),
    Rule("rolled-diagonally", "A block rolls straight over an edge, never over a corner."),
    Rule("rolled-too-far", "A block rolls just one square."),
    Rule("roll-blocked", "A block rolls onto an open square of the board."),
    Rule("rolled-onto-star", "No block rolls onto a star square, unless it comes star up onto its goal."),
    Rule("wrong-goal", "A block leaves the board on the star across the board, not on its own."),
    Rule("not-removed", "A block that reaches its goal with the star up leaves the board."),
    Rule("star-rolled-up", "The star may be rolled up nowhere but on the goal."),
    Rule("symbol-not-possible", "After a roll a block shows the symbol that was on its side."),
    Rule("hop-missing", "After the roll the same block must hop as its symbol says."),
    Rule("no-hop-possible", "A roll after which the block can't hop is not allowed."),
    Rule("stop-must-not-hop", "With stop up the turn is over: the block stays where it rolled."),
    Rule("cross-one-orthogonal", "With the cross up the block hops one square straight: sideways, forwards or back."),
    Rule("x-one-diagonal", "With the x up the block hops one square diagonally."),
    Rule("slider-to-the-end", "With the slider up the block slides straight on until a block or the edge stops it."),
    Rule("hoops-three-steps", "With the hoops up the block takes exactly three straight steps over open squares."),
    Rule("landed-on-star", "No turn ends on a star square."),
    Rule("landed-on-block", "No block lands on another block."),
    Rule("side-by-side", "No turn may end with your block right beside your opponent's."),
    Rule("slider-stopped-by-opponent", "A slide may be stopped by the edge or your own block, not by your opponent's."),
    Rule("turned-while-hopping", "A hop or a slide never turns a block."),
    Rule("block-turned-in-place", "A block keeps its sides where they are until it rolls."),
    Rule("top-changed-in-place", "A block shows another symbol only after it has rolled."),
    Rule("block-added", "No block comes onto the board during the game."),
    Rule("block-removed-without-goal", "A block leaves the board only when it rolls star up onto its goal."),
    Rule("colour-changed", "A block stays its owner's colour."),
    Rule("repetition-claim", "From the third time a position comes up, the player to move may claim a draw if agreed."),
)

players_to_move = one_to_move
legal_turns = perft_turns = playing.legal_turns
announcements = playing.announcements
announce = playing.apply_announcement
certainty = playing.certainty_of
outcome = playing.outcome_of


def new(options: Mapping[str, OptionValue] | None = None) -> DeblockleState:
    """Return the starting state, with every face known; raises OptionError for a bad option."""
    return new_state(options_from(options))


def count_results(state: DeblockleState) -> int:
    """Return the number of perft turns; they are not listed if every face is known."""
    position = known_position(state)
    return len(playing.legal_turns(state)) if position is None else fast_rules_of(state.options).count(position)


def apply(state: DeblockleState, turn: DeblockleTurn) -> DeblockleState:
    """Return the state after the turn, narrowed to positions where it was legal; raises IllegalTurnError with breaches.

    A turn of the player who was not to move shows that the other was blocked, and narrows the other's blocks to that.
    """
    if certainty(state, turn) is Certainty.IMPOSSIBLE:
        for place in turn.places:
            if place not in SQUARE_OF:
                raise IllegalTurnError(Phrase("there is no square {place!r}; squares run from a1 to g7", place))
        breaches = breaches_of_written(
            state, WrittenTurn(turn.start, turn.rolled_to, turn.top, turn.end, turn.end is None)
        )
        if not breaches:
            raise IllegalTurnError(Phrase("No {player} block stands on {start}.", turn.player, turn.start))
        raise illegal_turn(format_turn(turn), breaches)
    return playing.play_turn(state, turn)


def combine(turns: Sequence[DeblockleTurn]) -> DeblockleTurn:
    """Merge turns of the same block with the same symbol and end, but different rolls, into one.

    Raises AmbiguousError if they leave different appearances, or if there are none.
    """
    if not turns:
        raise AmbiguousError(Phrase("no turns were given to combine; expected at least one"))
    first = turns[0]
    if any((t.player, t.start, t.top, t.end) != (first.player, first.start, first.top, first.end) for t in turns):
        listed = ", ".join(format_turn(turn) for turn in turns)
        raise AmbiguousError(Phrase("{turns} don't leave the same appearance; ask which was played", listed))
    rolled = {place for turn in turns for place in turn.rolled_to}
    return DeblockleTurn(
        first.player, first.start, tuple(sorted(rolled, key=SQUARE_OF.__getitem__)), first.top, first.end
    )


def turns_showing(state: DeblockleState, could_be: PossibleLooks) -> Iterator[DeblockleTurn]:
    """Yield every turn that is or may be legal, after which the table could look like this; see ``engine.showing``."""
    seen = TableConstraint(appearance_of(state), could_be)
    return seen.nearest_first((turn, change_by(turn)) for turn in playing.legal_turns(state))


_OFF = "off"


def tapped(state: DeblockleState, taps: Taps) -> Tapped[DeblockleTurn]:
    """List what may follow these taps."""
    ways = {_way(turn): turn for turn in legal_turns(state)}
    fitting = [way for way in ways if way[: len(taps)] == taps]
    following = dict.fromkeys(way[len(taps)] for way in fitting if len(way) > len(taps))
    if len(taps) == 2:
        return Tapped(choices={symbol: symbol for symbol in following})
    choices = {_OFF: Phrase("leaves the board")} if _OFF in following else {}
    squares = tuple(square for square in following if square != _OFF)
    return Tapped(squares, choices, ways.get(taps))


def _way(turn: DeblockleTurn) -> Taps:
    """Return the taps of a turn, without an end if the block stays where it rolled."""
    (rolled_to,) = turn.rolled_to
    end = () if turn.end == rolled_to else (turn.end or _OFF,)
    return (turn.start, rolled_to, turn.top, *end)
