"""JSON files that can't be read say which file it is and what is wrong."""

from pathlib import Path

import pytest

from common.json_files import read_json, read_json_object


class WrongFileError(ValueError):
    pass


def test_an_object_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": "é"}', encoding="utf-8")

    assert read_json_object(path, "the layout", WrongFileError) == {"a": "é"}


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(WrongFileError, match=r"^cannot read the layout .*a\.json: No such file or directory$"):
        read_json(tmp_path / "a.json", "the layout", WrongFileError)


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"{", "valid JSON: "), (b"[" * 30_000, "valid JSON: it is nested too deeply$"), (b"\xff\xfe", "UTF-8 text$")],
)
def test_what_is_not_json_is_said(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(data)

    with pytest.raises(WrongFileError, match=rf"^the layout .*a\.json is not {said}"):
        read_json(path, "the layout", WrongFileError)
    with pytest.raises(WrongFileError, match=rf"^the looks .*a\.json are not {said}"):
        read_json(path, "the looks", WrongFileError, plural=True)


def test_a_list_is_no_object(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("[]", encoding="utf-8")

    assert read_json(path, "the layout", WrongFileError) == []
    with pytest.raises(WrongFileError, match=r"a\.json holds a list; expected an object$"):
        read_json_object(path, "the layout", WrongFileError)
    with pytest.raises(WrongFileError, match=r"a\.json hold a list; expected an object$"):
        read_json_object(path, "the looks", WrongFileError, plural=True)
