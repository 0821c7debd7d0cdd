"""The checks of every game's table, and proof that they notice a method that does nothing."""

from dataclasses import replace
from functools import partial

import pytest

from engine.errors import UnreadableError
from engine.registry import games, load
from engine.values import EMPTY
from tests.effort import some
from tests.engine import checks
from tests.engine.whole_games import extremes, variant_name
from tests.games.known import known_of

GAMES = [load(name) for name in games()]

every_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
two_variants = pytest.mark.parametrize(
    ("game", "options"),
    [
        pytest.param(game, options, id=f"{game.name}-{variant_name(options)}")
        for game in GAMES
        for options in some(extremes(game), 1)
    ],
)


@two_variants
@pytest.mark.parametrize(
    "check",
    [
        checks.check_explain,
        checks.check_set_up,
        checks.check_amend,
        checks.check_unfinished,
        checks.check_turns_showing,
        checks.check_pieces,
        checks.check_scores,
        checks.check_standing,
    ],
    ids=lambda check: check.__name__,
)
def test_each_check_of_a_games_table_passes(check, game, options):
    check(game, options)


@every_game
def test_the_games_page_names_the_command_that_lists_options_and_rules(game):
    checks.check_page(game)


@every_game
def test_every_rule_is_raised(game):
    checks.check_rules(game, known_of(game.name)["breach"])


@every_game
def test_unknown_places_looks_and_players_are_refused(game):
    state = next(checks.playable(game, {}, 1, some=1))
    table = game.table.appearance(state)
    for unknown in ({"nowhere": EMPTY}, {next(iter(table)): "no such look"}):
        for read in (partial(game.table.explain, state), partial(game.table.amend, state), game.table.set_up):
            with pytest.raises(UnreadableError):
                read({**table, **unknown})
    with pytest.raises(UnreadableError):
        game.table.amend(state, {}, "nobody")


class Emptied:
    """A game's table with one method that does nothing."""

    def __init__(self, table, name, method):
        self._table = table
        setattr(self, name, method)

    def __getattr__(self, name):
        return getattr(self._table, name)


def emptied(game, name):
    """The game, with one method of its table doing nothing."""
    idle = {
        "explain": lambda before, after: (),
        "unfinished": lambda state: (),
        "set_up": lambda appearance, options=None, *, anywhere=False: game.rules.new(options),
        "amend": lambda state, looks, to_move=None: game.table.amend(state, looks),
    }
    return replace(game, table=Emptied(game.table, name, idle[name]))


@every_game
@pytest.mark.parametrize("name", ["explain", "set_up", "amend", "unfinished"])
def test_the_checks_notice_a_method_that_does_nothing(game, name):
    if name == "unfinished" and checks.lists_nothing_unfinished(game):
        assert not game.table.unfinished(game.rules.new())
        return
    with pytest.raises(AssertionError):
        getattr(checks, f"check_{name}")(emptied(game, name), {})


def with_one_rule(game):
    """The explanation of every fault by the same rule."""
    rule = next(iter(game.rules.catalogue))
    return lambda before, after: tuple(replace(one, rule=rule) for one in game.table.explain(before, after))


def taking_anything(game):
    """A set-up that accepts any table where the pieces may stand anywhere."""

    def set_up(appearance, options=None, *, anywhere=False):
        if anywhere:
            return game.table.amend(game.rules.new(options), appearance)
        return game.table.set_up(appearance, options)

    return set_up


@every_game
@pytest.mark.parametrize(
    ("name", "cut"),
    [
        ("explain", with_one_rule),
        ("set_up", taking_anything),
        ("unfinished", lambda game: lambda state: game.table.unfinished(state)[:1]),
    ],
)
def test_the_checks_notice_a_method_that_does_too_little(game, name, cut):
    if name == "unfinished" and checks.lists_nothing_unfinished(game):
        assert not game.table.unfinished(game.rules.new())
        return
    with pytest.raises(AssertionError):
        getattr(checks, f"check_{name}")(replace(game, table=Emptied(game.table, name, cut(game))), {})


@every_game
def test_the_check_notices_that_every_other_begun_turn_is_missing(game):
    if checks.lists_nothing_unfinished(game) or game.heights is not None:
        # On stacks, a piece that was lifted looks like one that was moved onto its like.
        return
    cut = Emptied(game.table, "unfinished", lambda state: game.table.unfinished(state)[::2])
    with pytest.raises(AssertionError, match="are not listed as unfinished"):
        checks.check_unfinished(replace(game, table=cut), {})


@pytest.mark.parametrize("field", ["adds_pieces", "turns_pieces_over"])
@every_game
def test_the_checks_notice_a_wrong_word_about_pieces(game, field):
    with pytest.raises(AssertionError):
        checks.check_pieces(replace(game, **{field: not getattr(game, field)}), {})


@pytest.mark.parametrize("name", ["number-drop", "blokus-dice"])
def test_the_checks_notice_scores_that_are_missing_or_not_told(name):
    game = load(name)
    assert game.scores is not None
    with pytest.raises(AssertionError, match="leaves out"):
        checks.check_scores(
            replace(game, notation=Emptied(game.notation, "standing", lambda state: ("Red to move.",))), {}
        )
    with pytest.raises(AssertionError, match="have no score"):
        checks.check_scores(replace(game, scores=lambda state: {}), {})


@every_game
def test_the_checks_notice_that_nothing_is_said(game):
    with pytest.raises(AssertionError, match="nothing is said"):
        checks.check_standing(replace(game, notation=Emptied(game.notation, "standing", lambda state: ())), {})


@every_game
def test_the_checks_notice_a_rule_that_nothing_raises(game):
    cases = known_of(game.name)["breach"]
    with pytest.raises(AssertionError, match="needs a"):
        checks.check_rules(game, cases[1:])
    silent = replace(game, table=Emptied(game.table, "explain", lambda before, after: ()))
    with pytest.raises(AssertionError, match="breaks no rule"):
        checks.check_rules(silent, cases)


def test_the_checks_notice_a_breach_of_an_unknown_rule():
    game = load("diaballik")
    renamed = replace(game.rules.catalogue["piece-removed"], id="another")
    rules = Emptied(game.rules, "catalogue", {"another": renamed})
    with pytest.raises(AssertionError, match="is no rule of diaballik"):
        checks.check_explain(replace(game, rules=rules), {})
