"""Count the ways to play a number of whole turns: the checksum of a game's rules.

    python3 benchmarks/perft.py deblockle --depth 3 --split
    python3 benchmarks/perft.py blokus-dice --depth 1 --roll 1,2,3,4 --colour red

It counts the distinct results of each whole turn, as the game's page in docs/games says. Where dice are rolled, every
roll shows the same faces. The count is the last thing on the last line.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import argparse

from engine import registry
from engine.options import read_options
from engine.perft import counts_of_first_turns, perft, start_of_count


def main(arguments: list[str] | None = None) -> None:
    """Print the count, with ``--split`` that of each first turn before it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", choices=registry.games())
    parser.add_argument("--depth", type=int, required=True, help="how many whole turns")
    parser.add_argument("--position", help="start from this position instead of the start")
    parser.add_argument("--roll", help="what every roll shows, such as 4,1")
    parser.add_argument("--colour", help="in the Blokus Dice Game: the marker that the player to move holds")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the rules")
    parser.add_argument("--split", action="store_true", help="show the count of each first turn")
    asked = parser.parse_args(arguments)
    game = registry.load(asked.game)
    options = read_options(game.options, dict(option.split("=", 1) for option in asked.option))
    state = game.rules.new(options) if asked.position is None else game.notation.parse_state(asked.position)
    start, roll = start_of_count(game, state, asked.roll, asked.colour)
    if not asked.split:
        print(perft(game, start, asked.depth, roll))
        return
    turns, counts = counts_of_first_turns(game, start, asked.depth, roll)
    total = 0
    for turn, count in zip(turns, counts, strict=True):
        print(game.notation.format_turn(turn), count)
        total += count
    print(f"{game.name} to depth {asked.depth}: {total}")


if __name__ == "__main__":
    main()
