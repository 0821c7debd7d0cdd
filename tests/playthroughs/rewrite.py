"""Write the playthroughs anew: ``python tests/playthroughs/rewrite.py`` from the checkout. Read the difference.

``python tests/playthroughs/rewrite.py diaballik/`` writes only those whose name begins so.
"""

import random
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from engine.registry import games  # noqa: E402
from tests.games.known import known_of  # noqa: E402
from tests.playthroughs.playthrough import playthrough  # noqa: E402


def main() -> None:
    """Write every playthrough whose name is asked for, its choices drawn from its name."""
    asked = tuple(sys.argv[1:]) or ("",)
    every = {
        f"{game.replace('-', '_')}/{what['name']}": (game, what)
        for game in games()
        for what in known_of(game)["playthrough"]
    }
    chosen = {name: what for name, what in every.items() if name.startswith(asked)}
    if not chosen:
        sys.exit(f"no playthrough's name begins with {' or '.join(asked)}; add it to the game's file in tests/games")
    for name, (game, what) in chosen.items():
        rng = random.Random(name)
        choices = [rng.randrange(1000) for _ in range(what["plies"])]
        path = HERE / f"{name}.txt"
        path.parent.mkdir(exist_ok=True)
        text = playthrough(game, choices, what.get("options", {}), hidden=what.get("hidden", False))
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
