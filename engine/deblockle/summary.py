"""The rules in short, in our own words, with the options in force."""

from __future__ import annotations

from engine.deblockle.cube import PRINTED_NET
from engine.deblockle.settings import Settings


def rules_in_short(settings: Settings) -> str:
    """A few paragraphs, parted by blank lines."""
    gold, teal = settings.blocks_gold, settings.blocks_teal
    each = f"{gold} each" if gold == teal else f"{gold} of gold and {teal} of teal"
    paragraphs = [
        "Deblockle is for two players, gold and teal. Get all your blocks off the board first to win. There are "
        f"{each} on 7 by 7 squares, and {settings.starts} begins. Gold's goal is the star square d6, teal's is d2.",
        "A turn is a roll and then a hop with the same block. Roll it over an edge onto the open square beside it; the "
        "symbol that comes up says how it hops, without turning: stop stays, the cross goes one square straight, the x "
        "one square diagonally, the slider straight on until a block or the edge stops it, the hoops exactly three "
        "straight steps over open squares. No hop ends on a star square or on a block.",
        "The star may be rolled up in one place only: on your goal, and then the block leaves the board.",
        _stuck(settings),
        "You may not pass. Who has no turn waits while the other plays on; if neither has one, it is a draw.",
    ]
    if not settings.side_by_side:
        paragraphs.append(
            "No turn may end with one of your blocks right beside one of the opponent's, and a slide is to be stopped "
            "by the edge or your own block."
        )
    if settings.repetition_draw:
        paragraphs.append(
            "From the third time a position comes up, the player to move may claim a draw. Anyone may resign, and both "
            "may agree on a draw."
        )
    else:
        paragraphs.append("Anyone may resign, and both may agree on a draw.")
    if settings.net != PRINTED_NET:
        paragraphs.append(f"The blocks show {settings.net} (up/down/north/east/south/west).")
    return "\n\n".join(paragraphs)


def _stuck(settings: Settings) -> str:
    hop = (
        "If no hop is possible after a roll, the block stays where it rolled."
        if settings.hop_forfeited_when_stuck
        else "A roll after which no hop is possible is not allowed."
    )
    slide = (
        "A slide that would end on a star square may stop just before it."
        if settings.slider_stops_before_star
        else "A slide that would end on a star square is not allowed."
    )
    return f"{hop} {slide}"
