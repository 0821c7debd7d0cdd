"""Sheets that are at rest while hands are over others: each is judged as soon as its writer's hand has gone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from engine.values import Player
from referee.judge import StabilityFilter, StableView
from referee.judge.stability import BLOCKING_KINDS
from referee.session.settings import ServiceSettings, TurnEnd
from vision.reading import PlaceReading, Reading


class SheetsAtRest:
    """Follows each player's sheet by itself, where several write at once and a turn ends by resting."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings
        self._filters: dict[Player, StabilityFilter] = {}
        self._given: dict[Player, float] = {}

    def add(self, reading: Reading, players: Collection[Player]) -> tuple[StableView, ...]:
        """Process the reading of a table that is not at rest as a whole; return each sheet that has come to rest.

        ``players`` are those who may write. In a view of a sheet everything else is hidden, the dice too.
        """
        if self._settings.turn_end is not TurnEnd.REST or self._settings.stills:
            return ()
        found = []
        for player in players:
            view = self._sheet_at_rest(player, reading)
            if view is not None and view.rested_s >= self._settings.rest_s and self._given.get(player) != view.since_s:
                self._given[player] = view.since_s
                found.append(view)
        return tuple(found)

    def _sheet_at_rest(self, player: Player, reading: Reading) -> StableView | None:
        followed = self._filters.setdefault(player, StabilityFilter(self._settings.settling))
        own = {place: seen for place, seen in reading.places.items() if place.startswith(f"{player}.")}
        if not own or any(map(_is_blocked, own.values())):
            followed.clear()
            return None
        return followed.add(replace(reading, places=own, hindrances=(), rolls=(), changes=()))


def _is_blocked(seen: PlaceReading) -> bool:
    return seen.hidden_by in BLOCKING_KINDS
