"""Tapped turns by the API: the next taps, the whole turn, and taps that begin none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.values import Outcome
from tests.referee.web.page_table import client_of, port_of, snapshot_of


def test_taps_are_answered_with_the_next_possible_taps_and_the_turn() -> None:
    port = port_of()
    client = client_of(port)
    assert client.get("/api/tapped").status_code == 404
    port.snapshots(snapshot_of(port.game, 7))
    begun = client.get("/api/tapped").json()
    assert begun["squares"] == ["a1", "b1", "c1", "d1", "e1", "f1", "g1"]
    assert (begun["turn"], begun["event_number"]) == (None, 7)
    played = client.get("/api/tapped", params={"taps": "a1,a2"}, headers={"Accept-Language": "de"}).json()
    assert played["turn"] == {"text": "a1-a2", "player": "black", "words": "Schwarz zieht a1 nach a2."}


@pytest.mark.parametrize("taps", ["a1,g7", "nowhere", "a2", "'\"<>", "a1" * 900])
def test_taps_that_begin_no_turn_are_refused_with_the_reason(taps: str) -> None:
    port = port_of()
    port.snapshots(snapshot_of(port.game))
    refused = client_of(port).get("/api/tapped", params={"taps": taps})
    assert refused.status_code == 422
    assert "no turn begins with" in refused.json()["words"]


def test_nothing_can_be_tapped_once_the_game_is_over() -> None:
    port = port_of()
    over = replace(snapshot_of(port.game), outcome=Outcome("black", "white resigned"))
    port.snapshots(over)
    assert client_of(port).get("/api/tapped").json()["squares"] == []


def test_an_unknown_symbol_is_asked_for_in_words() -> None:
    port = port_of("deblockle")
    port.snapshots(snapshot_of(port.game))
    client = client_of(port)
    first = client.get("/api/tapped").json()["squares"][0]
    rolled = client.get("/api/tapped", params={"taps": first}).json()["squares"][0]
    asked = client.get("/api/tapped", params={"taps": f"{first},{rolled}"}).json()
    assert asked["choices"] or len(asked["taps"]) == 3
