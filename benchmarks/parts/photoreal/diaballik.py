"""Diaballik: each player's pieces by square, and which of them has the ball."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.parts.photoreal.picture_game import PictureGame, TeachingPicture
from common.places import EMPTY
from engine.registry import load
from vision.layout.table import TableLayout
from vision.locating.location import locate
from vision.readers.discs.appearance import DiscAppearance, look_name
from vision.readers.discs.enrolment import enrol
from vision.readers.protocols import EnrolmentPicture
from vision.reading import PlaceReading, Reading

PLAYERS = load("diaballik").players


def learn_discs(pictures: Sequence[TeachingPicture], layout: TableLayout) -> DiscAppearance:
    """The set's colours; raises what ``locate`` and ``enrol`` raise."""
    known = [
        EnrolmentPicture(
            picture.image,
            picture.camera,
            locate(picture.image, picture.camera, layout).pose,
            {piece["cell"]: (PLAYERS[piece["player"] - 1], piece["ball"]) for piece in picture.said["pieces"]},
            picture.name,
            layout.markers,
        )
        for picture in pictures
    ]
    return enrol(known, layout.board)


def pieces_seen(reading: Reading) -> list[dict[str, Any]]:
    """Give each place's most probable look, where it is a piece.

    Each player has one ball, as a judge knows: where none or several are likelier than not, the likeliest has it.
    """
    owners = {place: player for place, one in reading.places.items() if (player := _owner(one)) is not None}
    carriers = {
        max(own, key=lambda place: _carries(reading.places[place], player))
        for player in PLAYERS
        if (own := [place for place, owner in owners.items() if owner == player])
    }
    return [
        {"cell": place, "player": PLAYERS.index(player) + 1, "ball": place in carriers}
        for place, player in owners.items()
    ]


def _owner(one: PlaceReading) -> str | None:
    """Whose piece a place most probably shows."""
    look = one.best[0]
    if one.hidden_by or look == EMPTY:
        return None
    return next(player for player in PLAYERS if look in {look_name(player, ball) for ball in (False, True)})


def _carries(one: PlaceReading, player: str) -> float:
    """The odds that a player's piece on a place has the ball."""
    return one.probabilities[look_name(player, True)] / one.probabilities[look_name(player, False)]


def _answer(reading: Reading, _layout: TableLayout) -> dict[str, Any]:
    return {"pieces": pieces_seen(reading)}


DIABALLIK = PictureGame(learn_discs, _answer)
