from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.vision import photoreal
from vision.__main__ import STAGES, main
from vision.images import load_image
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
    if stage == "locate":
        assert found["markers"] == [1, 2]
    if stage == "blocks":
        assert found["c4"]["symbol"] == "slider"
    if stage == "coverings":
        assert found[0]["kind"] == "hand"
    if stage == "read":
        assert found["a4"] == "hand"


def test_what_cannot_be_seen_is_one_sentence(tmp_path: Path) -> None:
    arguments = ["--calibration", str(photoreal.FOLDER / "pi3.json")]
    result = CliRunner().invoke(main, ["locate", str(tmp_path / "missing.jpg"), *arguments])
    assert result.exit_code == 1
    assert "missing.jpg" in result.output
    wrong_camera = CliRunner().invoke(main, ["locate", str(photoreal.FOLDER / "pi3.json"), *arguments])
    assert wrong_camera.exit_code == 1
