"""The stress report: tables in Markdown, every square's numbers, and two plots."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

import numpy as np

from benchmarks.parts.stress.score import BINS, Calibration, PictureScore, SquareScore, Tally, calibration_of, tally

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
        f"| {count.silent} of {count.bad} | {count.misnamed} of {count.bad} | {count.calibration_error:.1%} | {hands} "
        f"| {invented} |\n"
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
    """Write ``stress.md`` and the two plots into a folder."""
    squares = squares_of(pictures)
    blocks = [square for square in squares if square.about_a_block]
    text = "# Stress report\n\n" + tables(pictures)
    text += calibration_table("All squares", squares)
    text += calibration_table("Squares with a block, true or said", blocks)
    curves = {"virtual table, all squares": calibration_of(squares), "virtual table, blocks": calibration_of(blocks)}
    if others:
        text += "\n" + tables(others) + calibration_table("Photoreal squares", squares_of(others))
        curves["photoreal, all squares"] = calibration_of(squares_of(others))
    text += "\n" + ("Every target is met.\n" if not missing else "".join(f"- NOT MET: {line}\n" for line in missing))
    (out / "stress.md").write_text(text, encoding="utf-8")
    plot_accuracy(pictures, out / "accuracy-by-hardship.png")
    plot_reliability(curves, out / "reliability.png")


def plot_accuracy(pictures: Sequence[PictureScore], path: Path) -> None:
    """Plot by hardship and level the shares of blocks read right and of tables located."""
    from matplotlib.figure import Figure

    groups = tallies(pictures, _level)
    figure = Figure(figsize=(9, 0.19 * len(groups) + 1.6), dpi=110, layout="constrained")
    axes = figure.subplots()
    rows = np.arange(len(groups))
    located = [count.located / max(1, count.tried) for count in groups.values()]
    right = [read_share(count) for count in groups.values()]
    certain = [
        count.right / max(1, count.places) * share for count, share in zip(groups.values(), located, strict=True)
    ]
    axes.barh(rows, located, color="#d9d9d9", height=0.85, label="tables located")
    axes.barh(rows, right, color="#0072b2", height=0.6, label="pieces read right (of all)")
    axes.plot(certain, rows, "o", color="#e69f00", markersize=3.5, label="places certain and right")
    axes.set_yticks(rows, list(groups), fontsize=7)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.005)
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel("share")
    axes.set_title("What the reader sees, by hardship")
    axes.legend(loc="lower left", fontsize=7)
    figure.savefig(path)


def plot_reliability(curves: dict[str, Calibration], path: Path) -> None:
    """Plot a reliability diagram; the area of a dot grows with the number of squares."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.6, 5.4), dpi=110, layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=1)
    for (name, curve), colour in zip(curves.items(), ("#0072b2", "#d55e00", "#009e73"), strict=False):
        some = curve.counts > 0
        sizes = 8 + 14 * np.log10(curve.counts[some])
        label = f"{name} (error {curve.expected_error:.2%})"
        axes.plot(curve.stated[some], curve.came_true[some], color=colour, linewidth=0.8, alpha=0.6)
        axes.scatter(curve.stated[some], curve.came_true[some], s=sizes, color=colour, label=label, alpha=0.85)
    axes.set_xlim(0, 1.01)
    axes.set_ylim(0, 1.01)
    axes.set_xlabel("stated probability of the look said")
    axes.set_ylabel("how often it was the true one")
    axes.set_title("Reliability of the stated probabilities")
    axes.legend(loc="upper left", fontsize=7)
    figure.savefig(path)
