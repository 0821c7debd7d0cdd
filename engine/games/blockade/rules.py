"""Which rolls, turns and announcements are legal, what follows from them, and turns tapped on the board.

docs/games/blockade.md has the rulings. A turn is tapped as a piece and its destination, as often as the dice allow.

A turn stands for one end position, however it was reached. The state holds whole stacks; a look is the top of one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from common.phrases import Phrase, capitalized, either
from engine.api import Tapped, Taps
from engine.errors import IllegalTurnError
from engine.games.blockade import state as states
from engine.games.blockade import turns
from engine.games.blockade.notation import STAY, format_turn, paths_of, read_dice
from engine.games.blockade.playing import play
from engine.games.blockade.state import (
    COLOURS,
    GRID,
    LARGE,
    OWNED,
    PLACES,
    PLAYERS,
    BlockadeState,
    BlockadeTurn,
    Path,
    Stacks,
    allocations,
    breach_of_timing,
    colour_of,
    distances,
    options_from,
    rolled_state,
    size_of,
    walls_against,
)
from engine.games.blockade.turns import turn_of
from engine.support.breaches import check_announcement, illegal_turn, only_turn, rules_by_id
from engine.support.chance import ORDINARY_DIE, every_roll, format_roll
from engine.support.players import common_announcements, one_to_move
from engine.values import Announcement, Breach, Certainty, OptionValue, PossibleRoll, Roll, Rule

_ROLLS = every_roll((ORDINARY_DIE, ORDINARY_DIE))


def awaits_roll(state: BlockadeState) -> bool:
    """Return whether the player to move must roll: for who starts, or for the turn."""
    return state.to_move is not None and state.roll is None


def possible_rolls(state: BlockadeState) -> Sequence[PossibleRoll]:
    """List the 36 rolls of two dice, all equally likely, when one is awaited."""
    return _ROLLS if awaits_roll(state) else ()


def dice_names(state: BlockadeState) -> tuple[str, ...]:
    """Return the colours of the two dice of the player to move, the one of red or green first."""
    return () if state.to_move is None else tuple(COLOURS[colour] for colour in OWNED[state.to_move])


def rolled(state: BlockadeState, roll: Roll) -> BlockadeState:
    """Return the state after a roll; raises IllegalTurnError."""
    if len(roll.faces) != 2 or any(face not in ORDINARY_DIE for face in roll.faces):
        faces = ",".join(roll.faces)
        raise IllegalTurnError(
            Phrase("a roll of {faces} is impossible; expected two dice from 1 to 6, such as 4,1", faces)
        )
    if not awaits_roll(state):
        raise IllegalTurnError(
            either(
                state.to_move is None,
                "got a roll of {roll}, but the game is over",
                "got a roll of {roll}, but a roll lies on the table already",
                format_roll(roll),
            )
        )
    return rolled_state(state, (int(roll.faces[0]), int(roll.faces[1])))


def told(before: BlockadeState, roll: Roll) -> str:
    """Say who won the roll for who starts; empty for any other roll."""
    if not before.opening:
        return ""
    starts = rolled_state(before, (int(roll.faces[0]), int(roll.faces[1]))).to_move
    warm, cool = sum(before.opening), sum(map(int, roll.faces))
    if warm == cool:
        return Phrase("Both rolled {warm}, so both roll again.", warm)
    return Phrase(
        "{starts} starts, with {max} against {min}.", capitalized(str(starts)), max(warm, cool), min(warm, cool)
    )


def roll_of(state: BlockadeState) -> Roll | None:
    """Return the roll that is still to be used."""
    return None if state.roll is None else Roll(tuple(str(die) for die in state.roll))


def parse_roll(state: BlockadeState, text: str) -> Roll:
    """Read a roll leniently; raises UnreadableError, or IllegalTurnError when none is awaited."""
    roll = Roll(tuple(str(die) for die in read_dice(text, text, 1)))
    rolled(state, roll)
    return roll


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


turns_showing = turns.turns_showing
legal_turns = perft_turns = turns.legal_turns
players_to_move = one_to_move
outcome = states.outcome_of


def new(options: Mapping[str, OptionValue] | None = None) -> BlockadeState:
    """Return the starting state; players roll for who starts unless that is agreed. Raises OptionError."""
    return states.new_state(options_from(options))


def count_from(state: BlockadeState, roll: Roll | None, colour: str | None) -> BlockadeState:
    """Return the state whose turns are counted for a roll; warm starts if the starter is still open.

    Raises IllegalTurnError for a colour, and for an impossible or missing roll.
    """
    if colour is not None:
        raise IllegalTurnError(
            Phrase("got the colour {colour!r}, but in Blockade nobody holds one; leave it out", colour)
        )
    if state.opening is not None:
        state = replace(state, opening=None, to_move=PLAYERS[0])
    if roll is None:
        if state.to_move is not None and state.roll is None:
            raise IllegalTurnError(Phrase("a turn begins with a roll; give one, such as 4,1"))
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


_RESTED = "rested-on-"
"""The prefix of the rules whose breach a later move of the same turn may still correct, if the options allow that."""


def tapped(state: BlockadeState, taps: Taps) -> Tapped[BlockadeTurn]:
    """Return what may follow these taps, which alternate between starts and ends of moves.

    An end where the piece may not stay is offered only if the piece can move on from there.
    """
    if state.to_move is None or state.roll is None:
        return Tapped()
    if taps == (STAY,):
        return Tapped(turn=BlockadeTurn(state.to_move, ()))
    if not set(taps) <= GRID.index.keys():
        return Tapped()
    numbers = [GRID.index[square] for square in taps]
    made = tuple(zip(numbers[::2], numbers[1::2], strict=False))
    if not _may_be(state, made):
        return Tapped()
    if len(numbers) % 2:
        return Tapped(tuple(PLACES[end] for end in _ends(state, made, numbers[-1])))
    starts = tuple(place for start, place in enumerate(PLACES) if any(True for _ in _ends(state, made, start)))
    turn = turn_of(state, made) if made else None
    is_legal = turn is not None and certainty(state, turn) is Certainty.CERTAIN
    return Tapped(starts, {} if made else {STAY: Phrase("moves nothing")}, turn if is_legal else None)


def _ends(state: BlockadeState, made: tuple[Path, ...], start: int) -> Iterator[int]:
    """Yield where the piece on a square can go after these moves."""
    player, dice = state.to_move, state.roll
    assert player is not None
    assert dice is not None
    played = play(state, player, None, made)
    piece = played.stacks[start][-1]
    if colour_of(piece) not in OWNED[player] or size_of(piece) == LARGE:
        return
    which = OWNED[player].index(colour_of(piece))
    left = max((may[which] for may in allocations(dice) if may[1 - which] >= played.used[1 - which]), default=0)
    steps = distances(walls_against(state.stacks, player))[start]
    for end in range(len(PLACES)):
        if end != start and steps[end] <= left - played.used[which] and _may_be(state, (*made, (start, end))):
            yield end


def _may_be(state: BlockadeState, made: tuple[Path, ...]) -> bool:
    """Return whether a turn may begin with these moves: legal now, or once the piece that may not rest moves on."""
    breaches = _breaches(state, made)
    if not breaches or state.options.strict or len(breaches) > 1 or not breaches[0].rule.startswith(_RESTED):
        return not breaches
    wrong = GRID.index[breaches[0].places[0]]
    return any(not _breaches(state, (*made, (wrong, end))) for end in range(len(PLACES)))


def _breaches(state: BlockadeState, made: tuple[Path, ...]) -> tuple[Breach, ...]:
    assert state.to_move is not None
    return play(state, state.to_move, state.roll, made).breaches
