"""The four untrained networks that read dice, and their losses.

vision/readers/dice/finding.py describes their inputs and outputs.
"""

from __future__ import annotations

import math

import torch
from torch import nn

from benchmarks.training.support import block
from vision.readers.dice.finding import CLASSES, CROP_PX

LEANS_WEIGHT = 8.0
"""Weight of the squared error of a die's lean, relative to the cross-entropy of whether it leans."""

LEAST_LIKELY = 0.003
"""Probability of a label below which the classifier does not learn from it. Higher: learns less of hard faces."""


def finder_network() -> nn.Sequential:
    """From BGR squares (n, 3, 4 h, 4 w) to (n, 4, h, w): log-odds of a die's centre, log of its edge, its offset."""
    last = nn.Conv2d(32, 4, 1)
    with torch.no_grad():
        last.bias[0] = -4.0  # few cells hold a centre
    return nn.Sequential(
        block(3, 16, 5, 2),
        block(16, 32, 3, 2),
        block(32, 32),
        block(32, 32, dilation=2),
        block(32, 32),
        last,
    )


def faces_network() -> nn.Sequential:
    """From ``square_input`` (n, 4, CROP_PX, CROP_PX) to unnormalised log-probabilities of CLASSES, and corrections.

    The next three of (n, 14) correct the upper side's estimated centre, across and down in edges, and its edge, as the
    logarithm of a factor. The last two are the logarithms of its box's width and height in corrected edges.
    """
    return nn.Sequential(
        block(4, 24, 5, 2),
        block(24, 40),
        block(40, 56, 3, 2),
        block(56, 64),
        block(64, 64, 3, 2),
        nn.Flatten(),
        nn.Linear(64 * (CROP_PX // 8) ** 2, 48),
        nn.ReLU(inplace=True),
        nn.Dropout(0.2),
        nn.Linear(48, len(CLASSES) + 5),
    )


def leaning_network() -> nn.Sequential:
    """From ``square_input`` (n, 4, CROP_PX, CROP_PX) to the log-odds that a die leans, and ``TrueDie.leans``."""
    return nn.Sequential(
        block(4, 16, 5, 2),
        block(16, 32, 3, 2),
        block(32, 40),
        block(40, 40, 3, 2),
        nn.Flatten(),
        nn.Linear(40 * (CROP_PX // 8) ** 2, 24),
        nn.ReLU(inplace=True),
        nn.Dropout(0.1),
        nn.Linear(24, 3),
    )


def printed_network(kinds: int) -> nn.Sequential:
    """From ``printed_input`` (n, 1, 24, 24) to unnormalised log-probabilities of printed faces."""
    return nn.Sequential(
        block(1, 16),
        block(16, 32, 3, 2),
        block(32, 48),
        block(48, 64, 3, 2),
        block(64, 64, 3, 2),
        nn.Flatten(),
        nn.Linear(64 * 3**2, 48),
        nn.ReLU(inplace=True),
        nn.Dropout(0.1),
        nn.Linear(48, kinds),
    )


def faces_loss(given: torch.Tensor, kinds: torch.Tensor, off: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of the classes, plus the absolute errors of centre and edge, and of the box, where they are known.

    Some labels of photographs are wrong: what the network thinks less likely than LEAST_LIKELY is not counted.
    """
    wrong = (given[:, len(CLASSES) :] - off[:, :5]).abs()
    shape, box = (
        (part.sum(dim=1) * known).sum() / known.sum().clamp(min=1)
        for part, known in ((wrong[:, :3], off[:, 5]), (wrong[:, 3:], off[:, 6]))
    )
    surprise = nn.functional.cross_entropy(given[:, : len(CLASSES)], kinds, reduction="none")
    return surprise.clamp(max=-math.log(LEAST_LIKELY)).mean() + shape + box


def leaning_loss(given: torch.Tensor, leans: torch.Tensor, how: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of whether a die leans, plus the weighted squared error of its lean."""
    error = nn.functional.mse_loss(given[:, 1:], how)
    return nn.functional.binary_cross_entropy_with_logits(given[:, 0], leans) + LEANS_WEIGHT * error


def finder_loss(given: torch.Tensor, heat: torch.Tensor, shape: torch.Tensor) -> torch.Tensor:
    """CenterNet's focal loss (Zhou et al., 2019), plus the absolute errors of edge and offset at the centres."""
    likely = torch.sigmoid(given[:, 0]).clamp(1e-4, 1 - 1e-4)
    target, weight = heat[:, 0], heat[:, 1]
    hit = target.eq(1).float()
    found = -torch.log(likely) * (1 - likely) ** 2 * hit
    empty = -torch.log(1 - likely) * likely**2 * (1 - target) ** 4 * (1 - hit)
    count = hit.sum().clamp(min=1)
    edges = (given[:, 1:] - shape[:, :3]).abs().sum(dim=1) * shape[:, 3]
    return (found * weight + empty * weight).sum() / count + edges.sum() / count
