"""The benchmark of slow pictures reads those it makes and those of folders, in each way."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.slow_pictures import main
from tests.effort import some


@pytest.mark.parametrize("how", some([[], ["--lines"]], 1))
def test_the_longest_stay_is_measured_in_each_way(how: list[str], tmp_path: Path) -> None:
    for name in ("one.png", "two.png", "three.png"):
        assert cv2.imwrite(str(tmp_path / name), np.full((90, 160, 3), 120, np.uint8))
    result = CliRunner().invoke(main, [str(tmp_path), "--size", "160x90", "--most", "2", *how])
    assert result.exit_code == 0, result.output
    for way in ("film", "its next frame", "photo", "film, lens known", "photo, lens known"):
        assert f"{way}, 4 pictures: longest stay: median" in result.output
    assert "the longest stays:" in result.output
