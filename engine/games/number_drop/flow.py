"""The sequence of play: rolls, penalties, slides, drops, combinations, and the ends of turns and of the game."""

from __future__ import annotations

from dataclasses import replace

from common.phrases import counted, listed
from engine.games.number_drop.components import STAR
from engine.games.number_drop.drops import landings, turned_shapes
from engine.games.number_drop.sheet import LETTERS, SLOT_OF_BOX, Sheet, earns_letter, has_combination
from engine.games.number_drop.state import PLAYERS, SLIDES_TO_GO, NumberDropOptions, NumberDropState, Phase
from engine.support.grid import members, set_of, union
from engine.support.polyomino import Shape
from engine.values import Outcome


def new_state(options: NumberDropOptions) -> NumberDropState:
    """Return the starting state: empty sheets, and the tiles still to be drawn."""
    return NumberDropState(
        options, Phase.TILES, (Sheet(),) * options.players, notches=(0,) * len(LETTERS) if options.solo else ()
    )


def everyone(state: NumberDropState) -> int:
    """Return the set of players still in the game."""
    return ((1 << state.options.players) - 1) & ~state.gone


def players_without_digit(state: NumberDropState) -> int:
    """Return the set of players still in the game whose sheets are empty."""
    return sum(1 << player for player in members(everyone(state)) if not any(state.sheets[player].heights))


def apply_tiles(state: NumberDropState, faces: tuple[str, ...]) -> NumberDropState:
    """Return the state after the tiles are drawn; players without a first digit write it next."""
    waiting = players_without_digit(state)
    return replace(state, tiles=faces, phase=Phase.SETUP if waiting else Phase.ROLL, playing=waiting)


def apply_roll(state: NumberDropState, faces: tuple[str, ...]) -> NumberDropState:
    """Return the state after the dice are rolled; a penalty, the solo slides or everyone's drop comes next."""
    rolled = replace(state, roll=faces)
    if state.options.solo:
        return replace(rolled, phase=Phase.SLIDE, playing=1)
    slot = struck_slot(rolled)
    if slot is None:
        return begin_drop(rolled)
    return _begin_penalty(replace(rolled, roll=()), slot)


def struck_slot(state: NumberDropState) -> int | None:
    """Return the slot whose penalty a star triggers: that of the first circled letter that isn't crossed off."""
    if not state.has_star():
        return None
    circled = union(state.sheets[player].letters for player in members(everyone(state)))
    return next(members(circled & ~state.crossed_off), None)


def _begin_penalty(state: NumberDropState, slot: int) -> NumberDropState:
    shapes = turned_shapes(state.options.components, state.tiles[slot])
    struck = [player for player in members(everyone(state)) if not state.sheets[player].letters >> slot & 1]
    begun = _let_write(replace(state, phase=Phase.PENALTY, slot=slot), struck, shapes)
    return begun if begun.playing else _end_penalty(begun)


def _let_write(state: NumberDropState, players: list[int], shapes: tuple[Shape, ...]) -> NumberDropState:
    """Let these players write one of these shapes; if it fits nowhere on a sheet, this turn is the last."""
    able = [player for player in players if landings(state.sheets[player].heights, shapes)]
    return replace(state, playing=set_of(able), last_turn=state.last_turn or len(able) < len(players))


def _end_penalty(state: NumberDropState) -> NumberDropState:
    done = replace(state, slot=None, playing=0)
    if state.options.solo:
        return _continue_slides(done)
    return end_turn(replace(done, crossed_off=state.crossed_off | 1 << int(state.slot or 0)))


def begin_drop(state: NumberDropState) -> NumberDropState:
    """Let every player whose sheet has room drop the rolled shape."""
    shapes = turned_shapes(state.options.components, state.roll[-1])
    begun = _let_write(replace(state, phase=Phase.DROP), list(members(everyone(state))), shapes)
    return begun if begun.playing else end_turn(begun)


def write_marks(state: NumberDropState, player: int, marks: dict[int, str]) -> NumberDropState:
    """Return the state after a player wrote a first digit, shape or penalty."""
    sheet = state.sheets[player].with_marks(marks)
    playing = state.playing & ~(1 << player)
    now = replace(state.with_sheet(player, sheet), playing=playing)
    if state.phase is Phase.DROP and has_combination(sheet):
        return replace(now, combining=now.combining | 1 << player)
    return advance_phase(now)


def draw_loop(state: NumberDropState, player: int, box: int | None, squares: int, *, letter: bool) -> NumberDropState:
    """Return the state after a player drew a combination, or chose none (``box`` is ``None``)."""
    if box is not None:
        state = state.with_sheet(player, state.sheets[player].with_loop(box, squares, letter=letter))
    return advance_phase(replace(state, combining=state.combining & ~(1 << player)))


def advance_phase(state: NumberDropState) -> NumberDropState:
    """Return the state in the next phase if nobody has anything left to do in this one, else the same state."""
    if state.playing or state.combining:
        return state
    if state.phase is Phase.SETUP:
        return replace(state, phase=Phase.ROLL)
    if state.phase is Phase.PENALTY:
        return _end_penalty(state)
    return end_turn(state)


def slidable(state: NumberDropState) -> tuple[int, ...]:
    """Return the slots whose tile may slide now; empty if no slide is due."""
    loose = tuple(slot for slot, notch in enumerate(state.notches) if notch < SLIDES_TO_GO)
    if state.phase is Phase.SLIDE or (state.phase is Phase.STAR_SLIDE and state.roll[-1] == STAR):
        return loose
    if state.phase is Phase.STAR_SLIDE:
        return tuple(slot for slot in loose if state.tiles[slot].startswith(state.roll[-1]))
    return ()


def slide_tile(state: NumberDropState, slot: int) -> NumberDropState:
    """Slide a tile by one notch; when it reaches GO!, its penalty drops unless the letter is circled."""
    notches = (*state.notches[:slot], state.notches[slot] + 1, *state.notches[slot + 1 :])
    now = replace(state, notches=notches, playing=0, star_slid=state.phase is Phase.STAR_SLIDE)
    if notches[slot] == SLIDES_TO_GO:
        now = replace(now, crossed_off=now.crossed_off | 1 << slot)
        if not state.sheets[0].letters >> slot & 1:
            return _begin_penalty(now, slot)
    return _continue_slides(now)


def _continue_slides(state: NumberDropState) -> NumberDropState:
    if state.has_star() and not state.star_slid:
        starred = replace(state, phase=Phase.STAR_SLIDE, playing=1)
        if slidable(starred):
            return starred
    return begin_drop(replace(state, star_slid=False, playing=0))


def end_turn(state: NumberDropState) -> NumberDropState:
    """Return the state after the turn: the game is over, or the next player on the left rolls."""
    ended = replace(state, roll=(), playing=0, combining=0, star_slid=False)
    if is_last_turn(state):
        return replace(ended, phase=Phase.OVER)
    return replace(ended, phase=Phase.ROLL, first=next_player(state))


def is_last_turn(state: NumberDropState) -> bool:
    """Return whether the game ends with this turn: a shape fits nowhere, someone is too high, or all tiles are down."""
    return state.last_turn or bool(reached_the_line(state)) or all_tiles_down(state)


def next_player(state: NumberDropState, way: int = 1) -> int:
    """Return the next player in the game on the left of the first player, or with ``way`` -1 on the right."""
    others = [player for player in state.in_order() if player != state.first] or [state.first]
    return others[0] if way == 1 else others[-1]


def reached_the_line(state: NumberDropState) -> tuple[int, ...]:
    """Return the players still in the game who have written above the Game Over line."""
    x_counts = state.options.x_counts_above_line
    return tuple(player for player in members(everyone(state)) if state.sheets[player].game_over_lines(x_counts))


def all_tiles_down(state: NumberDropState) -> bool:
    """Return whether every tile of a solo game has reached the bottom."""
    return bool(state.notches) and all(notch == SLIDES_TO_GO for notch in state.notches)


def resign(state: NumberDropState, player: int) -> NumberDropState:
    """Return the state after a player resigned: the others play on, and penalties ignore that sheet."""
    mask = 1 << player
    now = replace(state, gone=state.gone | mask, playing=state.playing & ~mask, combining=state.combining & ~mask)
    if is_given_up(now):
        return replace(now, phase=Phase.OVER, roll=(), playing=0, combining=0, slot=None, star_slid=False)
    if state.first == player and state.phase in (Phase.TILES, Phase.SETUP, Phase.ROLL):
        now = replace(now, first=next_player(now))
    return now if state.phase in (Phase.TILES, Phase.ROLL) else advance_phase(now)


def is_given_up(state: NumberDropState) -> bool:
    """Return whether so many players have resigned that the game is over."""
    return everyone(state).bit_count() <= (0 if state.options.solo else 1)


def scores_of(state: NumberDropState) -> dict[str, int]:
    """Return everyone's current points, including players who resigned."""
    x_counts = state.options.x_counts_above_line
    return {PLAYERS[player]: sheet.score(x_counts) for player, sheet in enumerate(state.sheets)}


def outcome_of(state: NumberDropState) -> Outcome | None:
    """Return how the game ended, or ``None`` while it goes on."""
    if state.phase is not Phase.OVER:
        return None
    if state.drawn:
        return Outcome(None, "both agreed on a draw")
    left = list(members(everyone(state)))
    if is_given_up(state):
        gone = listed(PLAYERS[player] for player in members(state.gone))
        return Outcome(PLAYERS[left[0]] if left else None, f"{gone} resigned")
    scores = scores_of(state)
    best = max(scores[PLAYERS[player]] for player in left)
    winners = tuple(PLAYERS[player] for player in left if scores[PLAYERS[player]] == best)
    points = counted(best, "point")
    if state.options.solo:
        return Outcome(winners[0], f"{'game over' if reached_the_line(state) else _why_over(state)}: {points}")
    if len(winners) > 1:
        return Outcome(None, f"{_why_over(state)}; {points} each", winners)
    return Outcome(winners[0], f"{_why_over(state)}; {points}")


def _why_over(state: NumberDropState) -> str:
    names = [PLAYERS[player] for player in reached_the_line(state)]
    if names:
        return f"{listed(names)} crossed the Game Over line"
    return "all tiles are down" if all_tiles_down(state) else "a shape fitted nowhere"


def letter_for(state: NumberDropState, player: int, box: int) -> str | None:
    """Return the letter that the player may circle on filling this box, or ``None``."""
    sheet = state.sheets[player]
    if not earns_letter(sheet.loops, sheet.letters, box) or state.crossed_off >> SLOT_OF_BOX[box] & 1:
        return None
    return LETTERS[SLOT_OF_BOX[box]]
