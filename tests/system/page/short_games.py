"""Whole games that are short, for the virtual table: what its players roll and play in each."""

from random import Random
from typing import Any

from app.demo.table import thinking_players
from engine.api import Game
from engine.registry import load
from referee.record.fold import after_step, read_step
from simulator.play.game import GameOptions
from simulator.play.players import Habits
from tests.games.known import known_of
from tests.system.page.playing import parts_of, two_players

SEED = 3
"""Of the players that think, and of the dice: the games are short with it."""


def short_game(name: str, habits: Habits) -> GameOptions:
    """A game to its end, by chosen turns and rolls, in which each turn ends by resting and changes the table."""
    game, known = load(name), known_of(name)["whole_game"]
    rules = known.get("options", two_players(name))
    if name == "deblockle":
        # its blocks are set up with any side up, so no turn is known before
        return GameOptions(name, rules, turns=99, habits=habits, turn_end="rest", choose=thinking_players(game, SEED))
    steps = _thought_out(game) if name == "blockade" else _known(game, rules, known["steps"])

    def choose(state: Any) -> Any:
        return steps[game.notation.format_state(state)]

    return GameOptions(name, rules, turns=99, habits=habits, turn_end="rest", choose=choose, choose_roll=choose)


def _known(game: Game[Any, Any], rules: Any, texts: list[str]) -> dict[str, Any]:
    """The steps of a known game, by the state in which each is taken."""
    state, steps = game.rules.new(rules), dict[str, Any]()
    for text in texts:
        player, kind, played = parts_of(game, text)
        step = read_step(game, state, kind, played, player or state.to_move)
        steps[game.notation.format_state(state)] = step
        state = after_step(game, state, step)
    return steps


def _thought_out(game: Game[Any, Any]) -> dict[str, Any]:
    """The steps of a game with lucky rolls: no turn leaves the table as it was."""
    assert game.dice is not None
    shown = game.table.appearance
    think, rng = thinking_players(game, SEED), Random(SEED)
    state, steps = game.rules.new({}), dict[str, Any]()
    while game.rules.outcome(state) is None:
        rolls = [one.roll for one in game.dice.possible_rolls(state)]
        for roll in rng.sample(rolls, len(rolls)):
            rolled = game.dice.rolled(state, roll)
            turn = None if game.awaits_roll(rolled) else think(rolled)
            if turn is None or shown(game.rules.apply(rolled, turn)) != shown(rolled):
                break
        steps[game.notation.format_state(state)] = roll
        if turn is not None:
            steps[game.notation.format_state(rolled)] = turn
            rolled = game.rules.apply(rolled, turn)
        state = rolled
    return steps
