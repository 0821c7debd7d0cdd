"""The stress report: tables in Markdown, and every square's numbers."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

import numpy as np

from benchmarks.parts.stress.score import BINS, PictureScore, SquareScore, Tally, calibration_of, tally

GroupT = TypeVar("GroupT")

_HEAD = (
    "| {first} | pictures | located | wholly right | pieces right | places | right | certain | certain and wrong "
    "| hidden | silent bad reads | wrongly named | calibration error | hands missed | hands invented |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
)


def _share(part: int, whole: int) -> str:
    return "–" if whole == 0 else f"{part / whole:.1%}"


def _row(name: str, count: Tally) -> str:
    hands = f"{count.hands_missed} of {count.hands}"
    if count.hands_called_things:
        hands += f" (+{count.hands_called_things} called a thing)"
    pictures = f"{count.tried}"
    if count.refused:
        pictures += f" (+{count.refused} not enrolled)"
    invented = f"{count.hands_invented} of {count.no_hands}"
    if count.things_called_hands:
        invented += f" (+{count.things_called_hands} things called hands)"
    return (
        f"| {name} | {pictures} | {_share(count.located, count.tried)} "
        f"| {_share(count.wholly_right, count.tried)} | {_share(count.blocks_right, count.blocks)} "
        f"| {count.places} | {_share(count.read_right, count.places)} | {_share(count.certain, count.places)} "
        f"| {count.wrong_and_certain} | {_share(count.hidden, count.places)} "
        f"| {count.silent} | {count.misnamed} | {count.calibration_error:.1%} | {hands} | {invented} |\n"
    )


def read_share(count: Tally) -> float:
    """Share of blocks read right; those of unlocated tables count as not read."""
    return count.blocks_right / max(1, count.blocks) * count.located / max(1, count.tried)


def tallies(pictures: Sequence[PictureScore], group_of: Callable[[PictureScore], GroupT]) -> dict[GroupT, Tally]:
    """Tally each group of pictures, in order of appearance."""
    groups: dict[GroupT, list[PictureScore]] = {}
    for picture in pictures:
        groups.setdefault(group_of(picture), []).append(picture)
    return {group: tally(members) for group, members in groups.items()}


def _level(picture: PictureScore) -> str:
    return f"{picture.hardship}: {picture.level}"


def squares_of(pictures: Sequence[PictureScore]) -> list[SquareScore]:
    """All squares of all pictures."""
    return [square for picture in pictures for square in picture.squares]


def tables(pictures: Sequence[PictureScore]) -> str:
    """Two tables in Markdown: by hardship with the weakest levels, and by level."""
    text = _HEAD.format(first="hardship")
    text += "".join(_row(name, count) for name, count in tallies(pictures, attrgetter("hardship")).items())
    text += _row("**all**", tally(pictures))
    levels = tallies(pictures, _level)
    weakest = sorted(levels.items(), key=lambda one: read_share(one[1]))[:5]
    text += "\nWeakest: " + "; ".join(f"{name} ({read_share(count):.1%} of blocks)" for name, count in weakest)
    text += "\n\n" + _HEAD.format(first="hardship and level")
    text += "".join(_row(name, count) for name, count in levels.items())
    refused = sorted({picture.refused for picture in pictures if picture.refused})
    if refused:
        text += "\nPiece sets that could not be learned:\n" + "".join(f"- {sentence}\n" for sentence in refused)
    return text


def calibration_table(title: str, squares: Sequence[SquareScore]) -> str:
    """A reliability table in Markdown: stated probabilities and observed frequencies."""
    found = calibration_of(squares)
    text = f"\n{title}: expected calibration error {found.expected_error:.3%}\n\n"
    text += "| stated | squares | mean stated | came true |\n|---|---|---|---|\n"
    for low, high, count, stated, true in zip(
        BINS, BINS[1:], found.counts, found.stated, found.came_true, strict=False
    ):
        if count:
            text += f"| {low} to {high} | {count} | {stated:.4f} | {true:.4f} |\n"
    return text


def save_squares(pictures: Sequence[PictureScore], path: Path) -> None:
    """Save every square's stated probability and correctness as an npz file."""
    squares = [(picture.number, square) for picture in pictures for square in picture.squares]
    np.savez_compressed(
        path,
        number=np.array([number for number, _ in squares]),
        probability=np.array([square.probability for _, square in squares]),
        right=np.array([square.right for _, square in squares]),
        hidden=np.array([square.hidden_by is not None for _, square in squares]),
        about_a_block=np.array([square.about_a_block for _, square in squares]),
    )


def write_report(
    out: Path, pictures: Sequence[PictureScore], others: Sequence[PictureScore], missing: Sequence[str]
) -> None:
    """Write ``stress.md`` into a folder."""
    squares = squares_of(pictures)
    blocks = [square for square in squares if square.about_a_block]
    text = "# Stress report\n\n" + tables(pictures)
    text += calibration_table("All squares", squares)
    text += calibration_table("Squares with a block, true or said", blocks)
    if others:
        text += "\n" + tables(others) + calibration_table("Photoreal squares", squares_of(others))
    text += "\n" + ("Every target is met.\n" if not missing else "".join(f"- NOT MET: {line}\n" for line in missing))
    (out / "stress.md").write_text(text, encoding="utf-8")
