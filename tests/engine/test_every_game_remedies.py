"""Every game: breaches name changed places, and obeying their remedies makes the table legal."""

import re
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.errors import IllegalTurnError
from engine.registry import games, load
from engine.values import EMPTY
from tests.engine import checks
from tests.engine.games.blokus_dice import test_explain as blokus_dice
from tests.engine.games.number_drop import test_explain as number_drop
from tests.engine.obeying import asks_for_more, blocks_obeyed, hops_obeyed, obeyed, pieces_obeyed, start_obeyed
from tests.engine.whole_games import is_light, play, roll_of, steps_of
from tests.present import present

GAMES = [load(name) for name in games()]
every_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)

PUTS_BACK = re.compile(
    r"Put everything back|Put (the|\d) .* back|Put (it|them) back|Put .*'s ball back|Take it back"
    r"|Take the .* off (?!.*it has arrived)|Take the ball off"
    r"|Erase it|Wipe .* clean|Write .* (again|as it was)|Write it again|Draw .* again|Turn the"
)
"""Beginnings of remedies that undo a change; further advice follows after it."""


def moved(game, table, rng):
    """A table with one piece on another square, with any look of its owner: a typical mistake."""
    table = dict(table)
    standing = [place for place, look in table.items() if look != EMPTY]
    if not standing:
        return checks.altered(game, table, rng)
    start, end = rng.choice(standing), rng.choice(list(table))
    owner = table[start].split()[0]
    look = rng.choice([table[start], *(look for look in game.looks if look.split()[0] == owner)])
    table[start] = EMPTY
    table[end] = look
    return table


def written_on(text, turn):
    """The looks that a typed turn of Number Drop leaves; empty if it writes no mark on a free cell."""
    game = load("number-drop")
    state = game.notation.parse_state(text)
    played = number_drop.attempt(state, turn)
    cells, marks = getattr(played, "squares", ()), getattr(played, "digits", "")
    if not marks:
        return []
    looks = ("cross" if mark == "X" else f"digit {mark}" for mark in marks)
    change = {f"{played.player}.{cell}": look for cell, look in zip(cells, looks, strict=True)}
    before = game.table.appearance(state)
    return [f"{place}={look}" for place, look in change.items() if before[place] == EMPTY != look]


PUT_BACK_ON = re.compile(r"(?:back on|one on) (\w\d)\b")
TAKEN = re.compile(
    r"(?:[Tt]he|Another|\d|more) (\w+ (?:small|medium|large))s? "
    r"(?:(?:on|back on) (\w\d)\b|(?:is|are) gone from (\w\d))"
)
"""The piece to be put back on a stack, and the place."""
BLACK_OFF = re.compile(r"Put the black small back beside the board")
STACKED = ("large", "medium", "small")
MOST_STEPS = 40


def undone(before, seen, breaches):
    """Blockade's table after obeying the remedies: the places that they name look as before."""
    if any(breach.remedy.startswith("Put everything back") for breach in breaches):
        return before
    after = dict(seen)
    for breach in breaches:
        after |= {place: before[place] for place in breach.places}
    # The named pieces of a stack are put back, the smallest on top; one above them may have left legally.
    told = [match for breach in breaches for match in TAKEN.findall(f"{breach.sentence} {breach.remedy}")]
    told.sort(key=lambda match: STACKED.index(match[0].split()[1]))
    after |= {match[1] or match[2]: match[0] for match in told if not before[match[1] or match[2]].startswith("black")}
    for breach in breaches:
        if BLACK_OFF.match(breach.remedy):
            # What the black piece lay on may have left legally before it was put there.
            (place,) = breach.places
            piece = before[place]
            if any(look == piece != before[end] for end, look in after.items()):
                after[place] = piece.replace("small", "large")
    return after


def check_changes(game, seed, count):
    """Random changes along a game: breaches name changed places, and obeying the remedies makes the table legal."""
    rng = Random(seed)
    start = game.rules.new()
    steps = play(game, start, rng, most_steps=steps_of(game, rng.randrange(1, MOST_STEPS)))
    states = [state for state in (start, *(step.after for step in steps)) if is_played(game, state)]
    for number in range(count if states else 0):
        state = rng.choice(states)
        before = game.table.appearance(state)
        seen = (moved if number % 2 else checks.altered)(game, before, rng)
        breaches = game.table.explain(state, seen)
        told = f"{game.notation.format_state(state)}: {checks.changed_looks(before, seen)}: {breaches}"
        changed = set(checks.changed_places(before, seen))
        for breach in breaches:
            checks.check_breach(game, breach)
            assert changed & set(breach.places), f"{breach.rule} names no place that changed in {told}"
            for place in PUT_BACK_ON.findall(breach.remedy):
                assert before[place] != EMPTY, f"nothing stood on {place}: {told}"
        if game.has_sheets:
            check_obeyed(game, state, before, seen, breaches)
        elif game.name == "deblockle":
            ways = hops_obeyed(before, seen, *breaches) if len(breaches) == 1 else []
            for after in (blocks_obeyed(before, seen, breaches), *ways):
                assert game.table.explain(state, after) == (), f"obeyed word for word, the table is still wrong: {told}"
        elif game.name == "diaballik":
            after = pieces_obeyed(before, seen, breaches)
            if after is not None:
                assert game.table.explain(state, after) == (), f"obeyed word for word, the table is still wrong: {told}"
        elif breaches and all(PUTS_BACK.match(breach.remedy) for breach in breaches):
            after = undone(before, seen, breaches)
            assert game.table.explain(state, after) == (), f"undone as PUTS_BACK says, the table is still wrong: {told}"


def check_obeyed(game, state, before, seen, breaches):
    """What the remedies say leaves the sheets right, or a part of a legal turn on them."""
    after = obeyed(before, seen, breaches)
    said = [f"{each.rule}: {each.remedy}" for each in breaches]
    told = f"{game.notation.format_state(state)}: {checks.changed_looks(before, seen)}: {said}"
    if asks_for_more(breaches):
        written = {place: look for place, look in after.items() if look != before[place]}
        assert any(turn_shows(game, state, before, turn, written) for turn in game.rules.legal_turns(state)), (
            f"no legal turn completes the table after {told}"
        )
    else:
        assert game.table.explain(state, after) == (), f"obeyed word for word, the table is still wrong: {told}"


def turn_shows(game, state, before, turn, written):
    """Whether the turn leaves what is written as it is, on the sheets that it writes on."""
    shown = game.table.appearance(game.rules.apply(state, turn))
    own = {place: look for place, look in written.items() if place.startswith(f"{turn.player}.")}
    return bool(own) and all(shown[place] == look for place, look in own.items())


SHEETS = [
    *((load("blokus-dice"), case[0], case[1].split()) for case, _ in blokus_dice.CASES.values()),
    *((load("blokus-dice"), text, change.split()) for text, change, _, _ in blokus_dice.TOLD),
    *((load("number-drop"), text, change.split(",")) for _, text, change, _ in number_drop.TABLES),
    *(
        (load("number-drop"), text, written_on(text, turn))
        for _, text, turn, _ in number_drop.CASES
        if written_on(text, turn)
    ),
]


@pytest.mark.parametrize(("game", "text", "change"), SHEETS)
def test_each_rule_of_a_sheet_has_a_remedy_that_leaves_it_right(game, text, change):
    state = game.notation.parse_state(text)
    before = game.table.appearance(state)
    seen = {**before, **dict(part.split("=") for part in change)}
    breaches = game.table.explain(state, seen)
    assert breaches
    check_obeyed(game, state, before, seen, breaches)


def is_played(game, state):
    """Whether a player is to move, and searching the turns takes little time."""
    return state.to_move is not None and not game.awaits_roll(state) and is_light(game, roll_of(game, state))


@every_game
@settings(max_examples=min(present(settings()).max_examples, 100) // 2)
@given(seed=st.integers(0, 2**32))
@example(seed=68456518)
@example(seed=50837)
def test_obeying_the_remedies_makes_the_table_legal(game, seed):
    check_changes(game, seed, 4)


@pytest.mark.long
@every_game
def test_obeying_ten_thousand_remedies_makes_ten_thousand_tables_legal(game):
    for seed in range(100):
        check_changes(game, seed, 100)


STARTED = {"deblockle": "{} block, x up", "diaballik": "{} piece"}
"""The games whose starts are put right piece by piece, and the look of a new piece of a colour."""


def disarranged(before, rng):
    """A start on which some pieces stand elsewhere, are missing, added, or have the other's colour."""
    table = dict(before)
    colours = sorted({look.split()[0] for look in table.values()} - {EMPTY})
    for place in rng.sample(list(table), rng.randrange(1, 8)):
        start = rng.choice([place, *(square for square, look in table.items() if look != EMPTY)])
        look, table[start] = table[start], rng.choice([EMPTY, table[place]])
        colour = look.split()[0]
        if rng.random() < 0.5 and colour in colours:
            look = look.replace(colour, next(other for other in colours if other != colour))
        table[place] = look
    return table


@pytest.mark.parametrize("name", STARTED)
@settings(max_examples=present(settings()).max_examples)
@given(seed=st.integers(0, 2**32))
def test_obeying_the_remedies_of_a_start_in_the_order_said_sets_it_up(name, seed):
    game = load(name)
    seen = disarranged(game.table.appearance(game.rules.new()), Random(seed))
    try:
        game.table.set_up(seen)
        return
    except IllegalTurnError as error:
        breaches = error.breaches
    told = f"{seen}: {[each.remedy for each in breaches]}"
    if any("star square" in each.sentence and "without a star" in each.remedy for each in breaches):
        return
    try:
        after = start_obeyed(seen, breaches, STARTED[name].format)
    except AssertionError as error:
        raise AssertionError(f"{error} in {told}") from error
    game.table.set_up(after)
