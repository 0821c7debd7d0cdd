"""Write the playthroughs anew: ``python tests/playthroughs/rewrite.py`` from the checkout. Read the difference.

``python tests/playthroughs/rewrite.py diaballik/`` writes only those whose name begins so.
"""

import random
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from engine.values import OptionValue  # noqa: E402
from tests.playthroughs.playthrough import playthrough  # noqa: E402

PLAYTHROUGHS: dict[str, tuple[str, int, dict[str, OptionValue], bool]] = {
    "blockade/rolled-for": ("blockade", 6, {}, False),
    "blockade/all-options": (
        "blockade",
        14,
        {"starts": "cool", "strict": True, "draw_after_passes": 3, "tower": "contains"},
        False,
    ),
    "blokus_dice/two-players": ("blokus-dice", 60, {"players": 2}, False),
    "blokus_dice/four-players": ("blokus-dice", 14, {}, False),
    "blokus_dice/all-options": (
        "blokus-dice",
        90,
        {
            "players": 3,
            "sheet": "7x6/1/d3,d4/1,2,V3/I3,L4,T4/O4,Z4/I5,L5/P5,U5,V5/W5,Z5,N5",
            "standby": "follows_start_player",
        },
        False,
    ),
    "deblockle/four-a-side": ("deblockle", 6, {}, False),
    "deblockle/hidden-faces": ("deblockle", 8, {"blocks_gold": 1, "blocks_teal": 2}, True),
    "deblockle/side-by-side-variant": (
        "deblockle",
        12,
        {"blocks_gold": 3, "blocks_teal": 2, "side_by_side": False},
        False,
    ),
    "deblockle/all-options": (
        "deblockle",
        12,
        {
            "blocks_gold": 2,
            "blocks_teal": 1,
            "starts": "teal",
            "slider_stops_before_star": True,
            "hop_forfeited_when_stuck": True,
            "repetition_draw": True,
            "net": "star/stop/x/slider/cross/hoops",
        },
        False,
    ),
    "deblockle/to-the-end": ("deblockle", 400, {"blocks_gold": 1, "blocks_teal": 1}, False),
    "diaballik/standard": ("diaballik", 4, {}, False),
    "diaballik/all-options": (
        "diaballik",
        4,
        {
            "start": "variant",
            "pass_over_own": False,
            "antiplay": "automatic",
            "antiplay_contacts": "front",
            "null_turn": False,
            "repetition_draw": True,
        },
        False,
    ),
    "number_drop/two-players": ("number-drop", 40, {}, False),
    "number_drop/alone": ("number-drop", 90, {"players": 1}, False),
    "number_drop/all-options": (
        "number-drop",
        90,
        {
            "players": 3,
            "tiles": "other_side",
            "tile_backs": "T5,X5,U5,I3,V3",
            "x_counts_above_line": False,
            "dice": "123123/123123/123123/12*12*/OOO*OO",
        },
        False,
    ),
}


def main() -> None:
    """Write every playthrough whose name is asked for, its choices drawn from its name."""
    asked = tuple(sys.argv[1:]) or ("",)
    chosen = {name: what for name, what in PLAYTHROUGHS.items() if name.startswith(asked)}
    if not chosen:
        sys.exit(f"no playthrough's name begins with {' or '.join(asked)}; add it to PLAYTHROUGHS")
    for name, (game, plies, options, hidden) in chosen.items():
        rng = random.Random(name)
        choices = [rng.randrange(1000) for _ in range(plies)]
        path = HERE / f"{name}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(playthrough(game, choices, options, hidden=hidden), encoding="utf-8")


if __name__ == "__main__":
    main()
