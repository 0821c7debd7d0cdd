"""An error about an unreadable JSON file names the file and the reason."""

from pathlib import Path

import pytest

from common.json_files import read_json, read_json_object


class WrongFileError(ValueError):
    pass


def test_an_object_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": "é"}', encoding="utf-8")

    assert read_json_object(path, "the layout", WrongFileError) == {"a": "é"}


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(WrongFileError, match=r"^cannot read the layout .*a\.json: No such file or directory$"):
        read_json(tmp_path / "a.json", "the layout", WrongFileError)


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"{", "valid JSON: "), (b"[" * 30_000, "valid JSON: it is nested too deeply$"), (b"\xff\xfe", "UTF-8 text$")],
)
def test_invalid_json_is_reported_with_the_reason(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(data)

    with pytest.raises(WrongFileError, match=rf"^the layout .*a\.json is not {reason}"):
        read_json(path, "the layout", WrongFileError)
    with pytest.raises(WrongFileError, match=rf"^the looks .*a\.json are not {reason}"):
        read_json(path, "the looks", WrongFileError, plural=True)


def test_a_list_is_refused_where_an_object_is_expected(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("[]", encoding="utf-8")

    assert read_json(path, "the layout", WrongFileError) == []
    with pytest.raises(WrongFileError, match=r"the layout .*a\.json is not a JSON object, which begins with a brace$"):
        read_json_object(path, "the layout", WrongFileError)
    with pytest.raises(WrongFileError, match=r"the looks .*a\.json are not a JSON object, which begins with a brace$"):
        read_json_object(path, "the looks", WrongFileError, plural=True)
