import json
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tests.vision import photoreal
from vision.__main__ import STAGES, main
from vision.images import load_image
from vision.locating.markers import MarkerDetector
from vision.readers.blocks.appearance import save_appearance


@pytest.fixture(scope="module")
def looks_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("looks") / "looks.json"
    save_appearance(photoreal.looks(), path)
    return path


@pytest.mark.parametrize("stage", STAGES)
def test_each_stage_runs_alone_and_draws_what_it_found(stage: str, tmp_path: Path, looks_file: Path) -> None:
    picture, drawn = photoreal.FOLDER / "012.jpg", tmp_path / "drawn.png"
    result = CliRunner().invoke(
        main,
        [
            *(stage, str(picture), "--calibration", str(photoreal.FOLDER / "pi3.json")),
            *("--looks", str(looks_file), "--debug-image", str(drawn)),
        ],
    )
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    assert found
    assert (load_image(drawn) != photoreal.picture("012.jpg")).any()
    if stage == "markers":
        seen = {one.marker_id: one for one in MarkerDetector("DICT_4X4_50").plain(photoreal.picture("012.jpg"))}
        assert {one["id"] for one in found} == set(seen)
        for one in found:
            assert one["corners_px"] == pytest.approx(seen[one["id"]].corners_px, abs=0.0051)
            x, y = np.round(seen[one["id"]].corners_px[0]).astype(int)
            assert (load_image(drawn)[y - 1 : y + 2, x - 1 : x + 2] == (80, 220, 80)).all(axis=2).any()
    if stage == "locate":
        assert found["markers"] == [1, 2]
        assert found["error_px"] == round(found["error_px"], 3) < 1.0
        assert found["uncertain"] is False
        position = photoreal.pose("012.jpg").camera_position_mm
        assert found["camera_mm"] == pytest.approx(position, abs=0.0501)
    if stage == "blocks":
        assert found["c4"]["symbol"] == "slider"
        for place, block in found.items():
            assert (block["colour"], block["symbol"]) != (None, None)
            assert 0.6 < block["fit"] == round(block["fit"], 3) <= 1
            assert block["log_odds"] == round(block["log_odds"], 2) >= -6, place
            assert all(share == round(share, 3) for side in block["sides"].values() for share in side.values())
            assert all(sum(side.values()) == pytest.approx(1, abs=0.01) for side in block["sides"].values())
        assert any(block["fit"] != round(block["fit"], 2) for block in found.values())
        assert any(block["log_odds"] != round(block["log_odds"], 1) for block in found.values())
        assert any(block["sides"] for block in found.values())
    if stage == "coverings":
        assert found[0]["kind"] == "hand"
        assert found[0]["area_mm2"] == round(found[0]["area_mm2"]) > 1000
    if stage == "read":
        assert found["a4"] == "hand"


def test_pieces_that_are_no_blocks_can_be_read() -> None:
    layout = str(resources.files("vision.layout").joinpath("games", "diaballik.json"))
    calibration = str(photoreal.FOLDER / "pi3.json")
    arguments = [str(photoreal.FOLDER / "012.jpg"), "--calibration", calibration, "--layout", layout]
    result = CliRunner().invoke(main, ["read", *arguments])
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["a4"] == "hand"
    refused = CliRunner().invoke(main, ["blocks", *arguments])
    assert refused.exit_code == 1
    assert "the pieces on the board are no blocks; use the stage read" in refused.output


def test_an_unreadable_picture_ends_with_exit_code_1(tmp_path: Path) -> None:
    arguments = ["--calibration", str(photoreal.FOLDER / "pi3.json")]
    result = CliRunner().invoke(main, ["locate", str(tmp_path / "missing.jpg"), *arguments])
    assert result.exit_code == 1
    assert "missing.jpg" in result.output
    wrong_camera = CliRunner().invoke(main, ["locate", str(photoreal.FOLDER / "pi3.json"), *arguments])
    assert wrong_camera.exit_code == 1
