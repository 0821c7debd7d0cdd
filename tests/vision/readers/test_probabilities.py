"""From the odds of a piece and of an empty place to the probabilities in a reading."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vision.errors import EnrolmentError, WeightsError
from vision.geometry import CubeSolid
from vision.layout.pieces import Surface
from vision.layout.table import default_layout
from vision.readers.dice.finding import WEIGHTS, Networks
from vision.readers.dice.reader import PrintedFaces
from vision.readers.enrolment import PositionText
from vision.readers.ink.network import InkNetwork
from vision.readers.networks import Network, checksums
from vision.readers.probabilities import at_most_empty, empty_place, most_log_odds, occupied_place, softmax
from vision.readers.stacks.network import StackFinder, StackNetwork
from vision.reading import PlacePicture, PlaceReading

PICTURE = PlacePicture(np.zeros((4, 4), dtype=np.float32), (1.0, 2.0))
SOLID = CubeSolid(12.0, -7.0, 10.0, 30.0, 8.0)


@dataclass(frozen=True)
class Piece:
    log_odds: float
    shares: Mapping[str, float] = field(default_factory=lambda: {"red": 0.75, "blue": 0.25})
    solid: Any = SOLID
    is_clear: bool = True
    sides: Mapping[str, Mapping[str, float]] = field(default_factory=lambda: {"south": {"x": 1.0}})
    heights: Mapping[int, float] = field(default_factory=dict)
    tops_mm: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    picture: PlacePicture | None = None

    def look_probabilities(self) -> Mapping[str, float]:
        return self.shares


@pytest.mark.parametrize(
    ("log_odds", "bare", "there"),
    [(2.0, -1.0, 2.0), (2.0, 5.0, 2.0), (-2.0, 1.0, -1.0), (-2.0, 5.0, -2.0), (0.0, 0.0, 0.0), (-3.0, -4.0, 4.0)],
)
def test_a_doubtful_piece_is_at_most_as_unlikely_as_its_place_looks_occupied(
    log_odds: float, bare: float, there: float
) -> None:
    reading = occupied_place(Piece(log_odds), bare, (10.0, -10.0))
    share = 1 / (1 + math.exp(-there))
    assert reading.probabilities == pytest.approx({"empty": 1 - share, "red": 0.75 * share, "blue": 0.25 * share})
    assert reading.offset_mm == (2.0, 3.0)
    assert reading.turned_deg == 8.0
    assert reading.sides == ({"south": {"x": 1.0}} if log_odds > 0 else {})
    assert reading.heights == {}
    assert reading.picture is None
    assert reading.hidden_by is None


@pytest.mark.parametrize(
    ("log_odds", "bare", "there"),
    [(2.0, 7.0, 2.0), (-1.0, 3.0, -1.0), (-1.0, 6.0, -3.0), (-3.0, 2.0, -2.0), (-5.0, 8.0, -8.0)],
)
def test_a_bare_surface_is_further_evidence_against_a_doubtful_piece_only(
    log_odds: float, bare: float, there: float
) -> None:
    reading = occupied_place(Piece(log_odds), bare, (0.0, 0.0), 4.0)
    assert reading.probabilities["empty"] == pytest.approx(1 / (1 + math.exp(there)), rel=1e-3)


def test_no_look_has_zero_probability_however_certain_a_piece_is() -> None:
    for log_odds in (12.0, 40.0):
        reading = occupied_place(Piece(log_odds, shares={"red": 1.0, "blue": 0.0}), 0.0, (0.0, 0.0))
        empty = max(1e-5, 1 / (1 + math.exp(12)))
        total = 1 + 2 * empty - 1 / (1 + math.exp(12))
        assert reading.probabilities["empty"] == pytest.approx(empty / total)
        assert reading.probabilities["blue"] == pytest.approx(1e-5 / total, rel=1e-6)
        assert sum(reading.probabilities.values()) == pytest.approx(1.0)
    gone = occupied_place(Piece(-40.0), 40.0, (0.0, 0.0))
    assert gone.probabilities["blue"] == pytest.approx(1e-5, rel=1e-3)
    assert gone.probabilities["red"] == pytest.approx(1e-5, rel=1e-3)


@dataclass(frozen=True)
class Pile(Piece):
    heights: Mapping[int, float] = field(default_factory=lambda: {2: 0.6, 3: 0.4})
    tops_mm: Mapping[int, tuple[float, float]] = field(default_factory=lambda: {2: (13.0, -7.0), 3: (15.0, -6.0)})
    picture: PlacePicture | None = PICTURE


@pytest.mark.parametrize(("log_odds", "is_there"), [(0.1, True), (0.0, False), (-2.0, False)])
def test_heights_are_given_for_stacks_that_are_probably_there(log_odds: float, is_there: bool) -> None:
    pile: Any = Pile(log_odds)
    reading = occupied_place(pile, 5.0, (10.0, -10.0))
    assert reading.heights == ({2: 0.6, 3: 0.4} if is_there else {})
    assert reading.tops_mm == ({2: (3.0, 3.0), 3: (5.0, 4.0)} if is_there else {})
    assert reading.picture is PICTURE


def test_a_piece_without_a_body_has_no_position() -> None:
    reading = occupied_place(Piece(3.0, solid=None), 0.0, (0.0, 0.0))
    assert reading.offset_mm is None
    assert reading.turned_deg is None


@pytest.mark.parametrize("log_odds", [-3.0, 0.0, 2.5])
def test_the_looks_share_the_probability_that_a_place_is_occupied(log_odds: float) -> None:
    looks = ("empty", "red", "blue", "green")
    shares = empty_place(looks, log_odds)
    empty = 1 / (1 + math.exp(-log_odds))
    assert shares == pytest.approx({"empty": empty} | dict.fromkeys(looks[1:], (1 - empty) / 3))
    assert tuple(shares) == looks


def test_a_place_is_never_certainly_empty() -> None:
    shares = empty_place(("empty", "red", "blue"), 12.0)
    assert shares["red"] == shares["blue"] == pytest.approx(1e-5, rel=1e-3)
    assert sum(shares.values()) == pytest.approx(1.0)
    assert empty_place(("empty",), 2.0) == {"empty": 1.0}
    assert empty_place(("empty", "red"), 0.0) == {"empty": 0.5, "red": 0.5}


def test_a_softmax_with_a_uniform_share() -> None:
    assert softmax({"a": 1.0, "b": 1.0}, 0.5, 0.1) == pytest.approx({"a": 0.5, "b": 0.5})
    shares = softmax({"a": 2.0, "b": 1.0}, 0.5, 0.1)
    odds = math.exp(2.0)
    assert shares["a"] == pytest.approx(0.9 * odds / (1 + odds) + 0.05)
    assert shares["b"] == pytest.approx(0.9 / (1 + odds) + 0.05)
    far = softmax({"a": 5000.0, "b": 0.0, "c": 0.0}, 1.0, 0.003)
    assert far == pytest.approx({"a": 0.998, "b": 0.001, "c": 0.001})


# Positions of pieces as an owner writes them.

BOARD = default_layout("deblockle").board


def _shell(text: str, _: Surface) -> str | None:
    if text == "broken":
        raise EnrolmentError("no shell is broken")
    return text if text.endswith("shell") else None


SHELLS = PositionText("shell", '"a4=red shell"', _shell, record=("colour", "kind"))
EXPECTED = {"a4": "red shell", "b5": "blue, pale shell"}


@pytest.mark.parametrize(
    "text",
    [
        "a4=red shell, b5=blue, pale shell",
        "A4 = red shell;b5:blue, pale shell",
        "\n a4=red shell\nb5=blue, pale shell\n",
        "a4=red shell;;b5=blue, pale shell;",
    ],
)
def test_squares_are_separated_by_commas_semicolons_or_newlines(text: str) -> None:
    assert SHELLS.read(text, BOARD) == EXPECTED


@pytest.mark.parametrize(
    "data",
    [
        EXPECTED,
        {"shells": EXPECTED},
        {"a4": ["red", "shell"], "b5": "blue, pale shell"},
        {"A4": " red shell ", " b5": "blue, pale shell"},
        {
            "shells": [
                {"cell": "a4", "colour": "red", "kind": "shell"},
                {"cell": "b5", "colour": "blue, pale", "kind": "shell"},
            ]
        },
    ],
)
def test_a_file_holds_squares_or_a_list_of_pieces(data: object, tmp_path: Path) -> None:
    for path in (tmp_path / "position.json", tmp_path / "position"):
        path.write_text(json.dumps(data), encoding="utf-8")
        assert SHELLS.read(str(path), BOARD) == EXPECTED


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "name no shell; expected such as .a4=red shell"),
        ("a4=red shell, a4=blue shell", "the square a4 is given twice"),
        ("h9=red shell", "the positions name 'h9': no square 'h9'"),
        ("a4=red stone", "cannot read the position 'a4=red stone'; expected such as"),
        ("a4=red shell; rest", "cannot read the position 'rest'"),
        ("a4=broken", "the positions put 'broken' on a4: no shell is broken"),
        ("nowhere.json", "cannot read the positions nowhere.json"),
        ("a4 red shell, " * 100, "cannot read the position 'a4 red shell, a4"),
    ],
)
def test_an_unreadable_entry_is_named(text: str, message: str) -> None:
    with pytest.raises(EnrolmentError, match=message):
        SHELLS.read(text, BOARD)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"shells": [{"cell": "a4", "colour": "red"}]}, "the shells in .* each need cell, colour and kind .'kind'"),
        ([["a4", "red shell"]], "hold a list; expected an object of squares"),
        ({"shells": 3}, "hold a int; expected an object of squares"),
        ({}, "name no shell"),
    ],
)
def test_a_file_without_positions_is_refused(data: Any, message: str, tmp_path: Path) -> None:
    (tmp_path / "position.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(EnrolmentError, match=message):
        SHELLS.read(str(tmp_path / "position.json"), BOARD)


def test_a_list_of_pieces_needs_a_name_for_each_kind(tmp_path: Path) -> None:
    (tmp_path / "position.json").write_text(json.dumps({"shells": [{"cell": "a4"}]}), encoding="utf-8")
    with pytest.raises(EnrolmentError, match="hold a list; expected an object of squares"):
        PositionText("shell", "", _shell).read(str(tmp_path / "position.json"), BOARD)


# Networks are loaded only from the files that were tested.


def test_other_weights_are_refused(tmp_path: Path) -> None:
    changed = bytearray((WEIGHTS / "faces.onnx").read_bytes())
    changed[2000] ^= 1
    (tmp_path / "faces.onnx").write_bytes(bytes(changed))
    expected = checksums(WEIGHTS)["faces"]
    with pytest.raises(WeightsError, match="are not those that were tested"):
        Network(tmp_path / "faces.onnx", expected)
    with pytest.raises(WeightsError, match="No such file"):
        Network(tmp_path / "none.onnx", expected)


@pytest.mark.parametrize("load", [Networks, PrintedFaces, StackNetwork, StackFinder, InkNetwork])
def test_missing_and_torn_checksums_are_named(load: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"\.json: No such file or directory; install the project again"):
        load(tmp_path)
    for name in ("weights.json", "printed.json"):
        (tmp_path / name).write_text('{"temperature": 1', encoding="utf-8")
    with pytest.raises(WeightsError, match=r"\.json are not valid JSON: .*; install the project again"):
        load(tmp_path)


@pytest.mark.parametrize(("clearness", "empty"), [(-1.0, 0.5), (0.0, 0.5), (2.0, 0.88), (4.0, 0.99), (10.0, 0.99)])
def test_a_place_is_at_most_as_surely_empty_as_a_piece_would_show_there(clearness: float, empty: float) -> None:
    seen = PlaceReading({"empty": 0.99, "red": 0.008, "blue": 0.002})
    limited = at_most_empty(seen, most_log_odds(clearness)).probabilities
    assert limited["empty"] == pytest.approx(empty, abs=0.001)
    assert sum(limited.values()) == pytest.approx(1.0)
    assert limited["red"] - limited["blue"] == pytest.approx(0.006)
