"""From the log-odds of a piece and of an empty place to the probabilities of a Reading."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from common.places import EMPTY
from vision.frame import FloatArray
from vision.readers.protocols import PieceSighting
from vision.reading import PlaceReading

LEAST_PROBABILITY = 1e-5
"""Minimum probability of each look, before their sum is made 1, so that none is impossible. Higher: a single place that
was misread counts less. Set by hand.
"""
MOST_LOG_ODDS = 12
"""Maximum log-odds for or against a piece. Higher: almost no effect, as ``LEAST_PROBABILITY`` is reached at 11.5."""


def occupied_place(
    piece: PieceSighting, bare_log_odds: float, centre_mm: tuple[float, float], bare_proves_from: float = math.inf
) -> PlaceReading:
    """Return the reading of a place where a piece was detected.

    If the piece is doubtful, the place is at most as likely empty as its surface looks. Log-odds of the bare surface
    above ``bare_proves_from`` are further evidence against a doubtful piece.
    """
    piece_log_odds = piece.log_odds
    if piece_log_odds <= 0:
        piece_log_odds -= max(0.0, bare_log_odds - bare_proves_from)
    looks = piece.look_probabilities()
    log_odds = min(max(piece_log_odds, -bare_log_odds, -MOST_LOG_ODDS), MOST_LOG_ODDS)
    there = 1 / (1 + math.exp(-log_odds))
    # like probabilities, which takes several times as long for a single place
    found = {EMPTY: max(1 - there, LEAST_PROBABILITY)}
    found |= {look: max(there * share, LEAST_PROBABILITY) for look, share in looks.items()}
    total = sum(found.values())
    solid, is_there = piece.solid, piece.log_odds > 0
    return PlaceReading(
        {look: probability / total for look, probability in found.items()},
        sides=piece.sides if is_there else {},
        offset_mm=None if solid is None else _offset((solid.x_mm, solid.y_mm), centre_mm),
        turned_deg=None if solid is None else solid.turned_deg,
        heights=piece.heights if is_there else {},
        tops_mm={pieces: _offset(top, centre_mm) for pieces, top in piece.tops_mm.items()} if is_there else {},
        picture=piece.picture,
    )


def _offset(point_mm: tuple[float, float], centre_mm: tuple[float, float]) -> tuple[float, float]:
    return point_mm[0] - centre_mm[0], point_mm[1] - centre_mm[1]


def empty_place(looks: Sequence[str], log_odds: float) -> dict[str, float]:
    """Return probabilities of a place where no piece was detected, ``EMPTY`` among the looks."""
    rest = 1 / (1 + math.exp(log_odds))
    others = max(1, len(looks) - 1)
    # like probabilities, but fast enough for very many places a second
    least = max(rest / others, LEAST_PROBABILITY)
    total = 1 - rest + least * (len(looks) - 1)
    found = dict.fromkeys(looks, least / total)
    found[EMPTY] = (1 - rest) / total
    return found


def most_log_odds(clearness: float) -> float:
    """Return the highest log-odds that a place is empty at which ink, or a piece, would stand out from the noise by
    ``clearness`` standard deviations.

    It is the likelihood ratio of what is seen there without it and with it, two normal distributions: with no clearness
    nothing is known.
    """
    return min(max(clearness, 0.0) ** 2 / 2, MOST_LOG_ODDS)


def at_most_empty(reading: PlaceReading, log_odds: float) -> PlaceReading:
    """Return a reading with at most these log-odds that the place is empty; the other looks share the rest evenly."""
    most = 1 / (1 + math.exp(-log_odds))
    empty = reading.probabilities.get(EMPTY, 0.0)
    if empty <= most:
        return reading
    others = (empty - most) / (len(reading.probabilities) - 1)
    found = {look: most if look == EMPTY else share + others for look, share in reading.probabilities.items()}
    return replace(reading, probabilities=found)


def softmax(scores: Mapping[str, float], temperature: float, odd_one_out: float) -> dict[str, float]:
    """Return the softmax of scores by name, with a small share spread evenly over all names.

    The share allows for pieces that are not what they seem, whatever the score. A higher ``temperature``, in units of
    the scores, makes the probabilities more alike.
    """
    best = max(scores.values())
    weights = {name: math.exp((score - best) / temperature) for name, score in scores.items()}
    total = sum(weights.values())
    return {name: (1 - odd_one_out) * weight / total + odd_one_out / len(weights) for name, weight in weights.items()}


def probabilities(log_odds: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the probabilities that places are empty, and of each look, (n, 1 + looks), from the log-odds that they are
    not, (n,), and the looks' shares if so, (n, looks).

    Every look stays possible, however small its share.
    """
    there = 1 / (1 + np.exp(-np.clip(log_odds, -MOST_LOG_ODDS, MOST_LOG_ODDS)))[:, None]
    found = np.maximum(np.concatenate([1 - there, there * shares], axis=1), LEAST_PROBABILITY)
    return np.asarray(found / found.sum(axis=1, keepdims=True))
