"""Checks of a game's table: each takes a game and raises AssertionError.

They are functions, so that a test can show that they notice a game in which a method does nothing.
"""

import re
from collections import Counter
from contextlib import suppress
from itertools import chain, compress
from pathlib import Path
from random import Random

from engine.errors import IllegalTurnError, UnreadableError
from engine.options import read_options
from engine.showing import turns_by_trying, turns_showing, turns_to_draw_from, unfinished_showing
from engine.support.players import one_to_move, parse_announcement, who_plays
from engine.values import EMPTY, LookName, OutcomeKind, Place
from tests.engine.whole_games import is_light, roll_of, states_along, variant_name
from tests.games.known import known_of

ROOT = Path(__file__).parents[2]
MOST_STEPS = 40
MOST_TRIED = 700
"""Positions with more legal turns than this are not tried turn by turn."""

FEWEST_RULES = 3
"""The fewest rules that random faults must break; one rule for everything explains nothing."""


def lists_nothing_unfinished(game):
    """Why a game lists no positions in the middle of a turn, if it lists none."""
    return known_of(game.name).get("nothing_unfinished")


def playable(game, options, seed, some):
    """States along a game in which somebody is to play, and listing the turns takes little time."""
    for state in states_along(game, options, seed, most_steps=MOST_STEPS, some=some):
        if state.to_move is not None and not game.awaits_roll(state) and is_light(game, roll_of(game, state)):
            yield state


def ends(game, state, rng, count):
    """Some legal turns and what the table shows after each."""
    turns = turns_to_draw_from(game, state)
    for _ in range(count):
        turn = turns[rng.randrange(len(turns))]
        yield turn, game.table.appearance(game.rules.apply(state, turn))


def changed_places(before, after):
    return [place for place in before if before[place] != after[place]]


def altered(game, table, rng):
    """A table with one to three changes: a piece moved, removed, added or exchanged."""
    table = dict(table)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        standing = [place for place, look in table.items() if look != EMPTY]
        place = rng.choice(standing or list(table))
        match rng.randrange(4):
            case 0:
                end = rng.choice(list(table))
                table[end], table[place] = table[place], EMPTY
            case 1:
                table[place] = EMPTY
            case 2:
                table[rng.choice(list(table))] = rng.choice(game.looks)
            case _:
                table[place] = rng.choice(game.looks)
    return table


def with_one_more(game, table, rng):
    """A table with a piece on a place that was empty; the same table if there is none."""
    free = [place for place, look in table.items() if look == EMPTY]
    return {**table, rng.choice(free): rng.choice([look for look in game.looks if look != EMPTY])} if free else table


def check_explain(game, options):
    """Illegal tables break various rules of the catalogue: a breach if and only if no turn explains the table."""
    rng = Random(f"explain {game.name} {variant_name(options)}")
    judged, rules = 0, set()
    for state in playable(game, options, rng.random(), some=4):
        before = game.table.appearance(state)
        assert game.table.explain(state, {}) == (), "places that are not shown count as changed"
        for _, end in ends(game, state, rng, 3):
            change = changed_looks(before, end)
            for shown in (end, change):
                assert game.table.explain(state, shown) == (), f"a legal turn is called illegal: {change}"
            forgotten = rng.choice([*change, *(() if change else before)])
            mistakes = {**end, forgotten: before[forgotten]}, with_one_more(game, before, rng)
            for seen in (*mistakes, altered(game, before, rng), altered(game, end, rng)):
                if seen == before:
                    continue
                breaches = game.table.explain(state, seen)
                legal = can_be_played(game, state, seen)
                what = f"{game.notation.format_state(state)}: {changed_looks(before, seen)}: {breaches}"
                assert bool(breaches) != legal, f"expected {'no' if legal else 'a'} breach in {what}"
                judged += not legal
                for breach in breaches:
                    check_breach(game, breach)
                    rules.add(breach.rule)
                named = {place for breach in breaches for place in breach.places}
                assert legal or named & set(changed_places(before, seen)), f"no changed place is named in {what}"
    assert judged, "no illegal table was checked"
    assert len(rules) >= FEWEST_RULES, f"different faults are all explained by {rules}"


def changed_looks(before, after):
    return {place: after[place] for place in changed_places(before, after)}


def can_be_played(game, state, seen):
    """Whether legal turns lead to a table: one turn, or one or two of each player if several write at once."""
    before = game.table.appearance(state)
    if before == seen:
        return True
    exactly = {place: [look] for place, look in seen.items()}
    if next(turns_showing(game, state, exactly), None) is not None:
        return True
    if (
        game.rules.players_to_move is one_to_move
        or game.awaits_roll(state)
        or len(game.rules.players_to_move(state)) == 0
    ):
        return False
    partly = {place: {before[place], look} for place, look in seen.items()}
    for turn in turns_showing(game, state, partly):
        after = game.rules.apply(state, turn)
        if game.table.appearance(after) != before and can_be_played(game, after, seen):
            return True
    return False


def check_breach(game, breach):
    """A breach names a rule of the catalogue, what happened, the remedy and the places."""
    assert breach.rule in game.rules.catalogue, f"{breach.rule} is no rule of {game.name}"
    assert re.search(r"\w.*[.!]$", breach.sentence), f"{breach.rule} has no sentence: {breach.sentence!r}"
    assert re.search(r"\w.*[.!]$", breach.remedy), f"{breach.rule} has no remedy: {breach.remedy!r}"
    assert set(breach.places) <= set(game.places)


def check_set_up(game, options):
    """The start's own table sets the game up; another one is refused with its rules, or taken as it is."""
    rng = Random(f"set-up {game.name} {variant_name(options)}")
    start = game.rules.new(options)
    table = game.table.appearance(start)
    again = game.table.set_up(table, options)
    assert game.table.appearance(again) == table
    assert again.to_move == start.to_move
    if game.side_faces is None:
        assert again == start
    refusals: dict[bool, list[IllegalTurnError]] = {False: [], True: []}
    for number in range(60):
        wrong, anywhere = altered(game, table, rng), number % 2 == 0
        try:
            found = game.table.set_up(wrong, options, anywhere=anywhere)
        except UnreadableError:
            continue
        except IllegalTurnError as error:
            refusals[anywhere].append(error)
        else:
            shown = game.table.appearance(found)
            assert shown == wrong, f"the set-up ignores a part of the table: {changed_looks(shown, wrong)}"
    for anywhere, refused in refusals.items():
        assert refused, f"no wrong start was refused with anywhere={anywhere}"
    for refusal in chain.from_iterable(refusals.values()):
        assert refusal.breaches, f"refused without a rule: {refusal}"
        for breach in refusal.breaches:
            check_breach(game, breach)


def once_each(text):
    """A state's text without the counts of repeated positions, which a correction may forget."""
    return re.sub(r" seen=\S+", "", text)


def check_amend(game, options):
    """A correction sets the table and the next player as a person says."""
    rng = Random(f"amend {game.name} {variant_name(options)}")
    others = honoured = accepted = 0
    for state in states_along(game, options, rng.random(), most_steps=MOST_STEPS, some=8):
        table = game.table.appearance(state)
        for said in game.rules.announcements(state):
            with suppress(UnreadableError):  # Some games go on only when the announcement is taken back.
                again = game.table.amend(game.rules.announce(state, said), {}, state.to_move)
                assert again.to_move == state.to_move, f"corrected after {said}, it is the turn of {again.to_move}"
        for player in {said.player for said in game.rules.announcements(state)} - {None, state.to_move}:
            others += 1
            with suppress(UnreadableError):  # A player who cannot play now can't be named next.
                after = game.table.amend(state, {}, player)
                assert game.table.appearance(after) == table
                honoured += after.to_move == player
    for state in playable(game, options, rng.random(), some=4):
        table = game.table.appearance(state)
        unchanged = game.notation.format_state(game.table.amend(state, {}))
        assert once_each(unchanged) == once_each(game.notation.format_state(state)), "a correction loses something"
        tables = [end for _, end in ends(game, state, rng, 12)] + [altered(game, table, rng) for _ in range(5)]
        for seen in (changed_looks(table, end) for end in tables):
            try:
                after = game.table.amend(state, seen)
            except UnreadableError:
                continue
            accepted += bool(seen)
            assert game.notation.parse_state(game.notation.format_state(after)) == after
            shown = game.table.appearance(after)
            assert shown == {**table, **seen}, f"amended to {seen}, and it shows {changed_looks(table, shown)}"
    assert honoured or not others, "no correction ever changed the next player"
    assert accepted, "no correction was ever accepted"


def check_unfinished(game, options):
    """Positions in the middle of a turn are listed; none looks like a whole turn or an unchanged table."""
    rng = Random(f"unfinished {game.name} {variant_name(options)}")
    if lists_nothing_unfinished(game):
        return
    listed_in_all = 0
    for state in playable(game, options, rng.random(), some=3):
        before = game.table.appearance(state)
        listed = list(unfinished_showing(game, state, {}))
        listed_in_all += len(listed)
        known = begun = 0
        for turn, end in ends(game, state, rng, 12):
            start = turn.places[0] if turn.places else None
            if start is not None and before[start] != end[start] and EMPTY in (before[start], end[start]):
                table = {**before, start: end[start]}
                if not is_whole_turn(game, state, table):
                    begun += 1
                    known += any({**before, **position.change} == table for position in listed)
        # A turn may begin elsewhere than on the first of its places.
        assert 4 * known >= 3 * begun, (
            f"{begun - known} of {begun} begun turns are not listed as unfinished: {game.notation.format_state(state)}"
        )
        for position in (listed[rng.randrange(len(listed))] for _ in range(3 if listed else 0)):
            assert any(look != before[place] for place, look in position.change.items())
            assert position.instruction.endswith(".")
            assert not is_whole_turn(game, state, {**before, **position.change}), f"a whole turn: {position}"
    assert listed_in_all, (
        "no position in the middle of a turn is listed; if the game has none, say why: nothing_unfinished"
    )


def is_whole_turn(game, state, table):
    """Whether a legal turn leaves just this table."""
    return next(turns_showing(game, state, {place: [look] for place, look in table.items()}), None) is not None


def check_turns_showing(game, options):
    """The turns and unfinished positions found for a table are those found by trying each."""
    rng = Random(f"showing {game.name} {variant_name(options)}")
    for state in playable(game, options, rng.random(), some=2):
        turns = game.rules.legal_turns(state)
        if len(turns) > MOST_TRIED:
            continue
        before, inside = game.table.appearance(state), list(unfinished_showing(game, state, {}))
        tried = {turn: game.table.appearance(game.rules.apply(state, turn)) for turn in turns}
        for could_be in possible_looks(game, state, rng):
            found = list(turns_showing(game, state, could_be))
            shown = {turn for turn, end in tried.items() if all(end[at] in could_be.get(at, (end[at],)) for at in end)}
            assert len(set(found)) == len(found), "a turn is found twice"
            # the same end may be found by other moves
            ends_found, ends_shown = (
                Counter(game.rules.apply(state, turn) for turn in each) for each in (found, shown)
            )
            assert ends_found == ends_shown, f"{game.notation.format_state(state)} showing {could_be}"
            tables = [{**before, **position.change} for position in inside]
            fitting = [all(look in could_be.get(at, (look,)) for at, look in table.items()) for table in tables]
            assert list(unfinished_showing(game, state, could_be)) == list(compress(inside, fitting))
        assert set(turns_by_trying(game, state, could_be)) == shown


def possible_looks(game, state, rng):
    """Looks that places could show: those after a turn, exactly, partly hidden or in doubt, or impossible ones."""
    before = game.table.appearance(state)
    for _, end in ends(game, state, rng, 2):
        exactly: dict[Place, list[LookName]] = {place: [look] for place, look in end.items()}
        yield exactly
        hidden = set(rng.sample(list(end), min(len(end), rng.choice((1, 3, 8)))))
        hidden |= {place for place in changed_places(before, end) if rng.random() < 0.5}
        yield {place: looks for place, looks in exactly.items() if place not in hidden}
        yield {
            place: [*looks, before[place], *rng.sample(game.looks, min(2, len(game.looks)))]
            for place, looks in exactly.items()
        }
        yield {**exactly, **{place: [rng.choice(game.looks)] for place in rng.sample(list(end), 1)}}
    yield {place: [look] for place, look in before.items()}
    yield {"nowhere": []}
    yield {rng.choice(list(before)): []}


def check_rules(game, cases):
    """Each rule of the catalogue is broken by one of the cases of the game's file."""
    assert {case["rule"] for case in cases} == set(game.rules.catalogue), "each rule needs a [[breach]] of its own"
    for case in cases:
        found = [breach.rule for breach in broken_by(game, case)]
        assert case["rule"] in found, f"{case} breaks {found or 'no rule'}"


def broken_by(game, case):
    """The breaches of a start, a change, a turn or an announcement as a game's file has them."""
    options = case.get("options", {})
    try:
        if "start" in case:
            shown = game.table.appearance(game.rules.new(options))
            game.table.set_up({**shown, **case["start"]}, options, anywhere=case.get("anywhere", False))
            return ()
        state = game.notation.parse_state(case["state"])
        if "facings" in case:
            return game.side_faces.explain(state, case["shows"], case["facings"])
        if "shows" in case:
            return game.table.explain(state, case["shows"])
        if "said" in case:
            game.rules.announce(state, parse_announcement(case["said"], game.players))
        else:
            game.notation.parse_turn(state, case["turn"], case.get("player"))
    except IllegalTurnError as error:
        return error.breaches
    return ()


def check_page(game):
    """The game's page names the command that lists its options and rules, and the options it shows are valid."""
    page = (ROOT / "docs" / "games" / f"{game.name}.md").read_text(encoding="utf-8")
    command = f"`./run tools rules {game.name}`"
    assert f"{command} lists the options; with `--by-id`, every rule that the referee may name." in page
    for name, value in re.findall(r"`(\w+)=(\w+)`", page):
        if name in {option.name for option in game.options}:
            assert read_options(game.options, {name: value})


def check_pieces(game, options):
    """A game says whether its turns bring pieces onto the board, and whether they turn over or take another's."""
    if game.dice is not None or game.has_sheets:
        assert not game.adds_pieces, "this is only for games of turns on a board"
        assert not game.turns_pieces_over, "this is only for games of turns on a board"
        return
    rng = Random(f"pieces {game.name} {variant_name(options)}")
    added = turned = False
    for state in playable(game, options, rng.random(), some=20):
        before = game.table.appearance(state)
        for _, end in ends(game, state, rng, 10):
            pieces = [sum(look != EMPTY for look in table.values()) for table in (before, end)]
            added |= pieces[1] > pieces[0]
            owners = [
                {place: look.split()[0] for place, look in table.items() if look != EMPTY} for table in (before, end)
            ]
            turned |= any(owners[1].get(place, owner) != owner for place, owner in owners[0].items())
    assert added == game.adds_pieces, (
        f"adds_pieces={game.adds_pieces}, and turns {'add' if added else 'do not add'} any"
    )
    assert turned == game.turns_pieces_over, f"turns_pieces_over={game.turns_pieces_over}, and turned over: {turned}"


def check_standing(game, options):
    """What the board doesn't show is said in printable lines, the first of which names who plays or rolls."""
    for state in states_along(game, options, 10, most_steps=MOST_STEPS, some=3):
        lines = game.notation.standing(state)
        assert lines, "nothing is said of who plays"
        assert state.to_move is None or state.to_move in " ".join(lines).lower()
        assert all(line.isprintable() and line == line.strip() for line in lines)
        assert all(game.squares(state).values())


def check_scores(game, options):
    """A game that is decided by a count has scores, and they are among what the board doesn't show."""
    rng = Random(f"scores {game.name} {variant_name(options)}")
    for state in states_along(game, options, rng.random(), most_steps=400, some=3):
        outcome = game.rules.outcome(state)
        if outcome is not None and re.search(r"\d", outcome.reason) and outcome.kind is not OutcomeKind.GIVEN_UP:
            assert game.scores is not None, f"decided by a count, and there are no scores: {outcome.reason}"
        if game.scores is not None:
            scores = game.scores(state)
            assert tuple(scores) == who_plays(game, game.rules.new(options)), f"some have no score: {scores}"
            told = " ".join(game.notation.standing(state))
            missing = [points for points in scores.values() if str(points) not in told]
            assert not missing, f"the standing leaves out {missing}: {told}"
