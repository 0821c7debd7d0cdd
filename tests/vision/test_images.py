"""Frames and files that cannot be used are named."""

from __future__ import annotations

import os

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.errors import CameraError, FrameError
from vision.images import (
    check_frame,
    decode_image,
    decode_photo,
    image_size,
    is_complete_image,
    load_image,
    write_image,
)


def picture(seed=1):
    return np.random.default_rng(seed).integers(40, 200, (60, 80, 3), dtype=np.uint8)


def encoded(suffix):
    return bytes(cv2.imencode(suffix, picture())[1])


def test_a_good_frame_passes():
    check_frame(picture(), (80, 60))


def test_a_black_frame_is_named():
    with pytest.raises(FrameError, match="black; take the lens cap off"):
        check_frame(np.full((60, 80, 3), 3, np.uint8))


def test_a_dim_frame_with_something_in_it_is_not_black():
    dim = np.full((60, 80, 3), 2, np.uint8)
    dim[20:40, 20:40] = 30
    check_frame(dim)


def test_a_frame_of_another_size_is_named():
    with pytest.raises(FrameError, match="the webcam gave a picture of 80 x 60 pixels where 640 x 480 is expected"):
        check_frame(picture(), (640, 480), source="the webcam")


@pytest.mark.parametrize("thing", [np.zeros((4, 4, 3)), np.zeros(5, np.uint8), np.zeros((0, 4), np.uint8)])
def test_what_is_no_picture_is_named(thing):
    with pytest.raises(FrameError, match="expected a picture of 8 bits a channel"):
        check_frame(thing)


@pytest.mark.parametrize("suffix", [".jpg", ".png"])
def test_whole_files_decode_and_any_cut_is_noticed(suffix):
    data = encoded(suffix)
    assert decode_image(data, "frame").shape == (60, 80, 3)
    for length in (1, 10, len(data) // 2, len(data) - 20):
        with pytest.raises(FrameError, match="frame"):
            decode_image(data[:length], "frame")


@given(st.integers(min_value=2, max_value=2000))
def test_a_jpeg_cut_anywhere_does_not_look_whole(length):
    data = encoded(".jpg")
    assert not is_complete_image(data[: min(length, len(data) - 2)])


@given(st.binary(max_size=200))
def test_any_bytes_give_a_picture_or_a_frame_error(data):
    try:
        said, image = "", decode_image(data, "noise")
    except FrameError as error:
        said, image = str(error), None
    assert said.startswith("noise ") if image is None else image.ndim == 3


def test_a_missing_file_is_a_camera_error(tmp_path):
    with pytest.raises(CameraError, match=r"cannot read .*none\.jpg: No such file"):
        load_image(tmp_path / "none.jpg")


def test_a_png_with_a_chunk_that_claims_more_than_is_there_is_refused() -> None:
    whole = encoded(".png")
    end = whole.index(b"IEND") - 4
    claims = whole[:end] + (0x30000000).to_bytes(4) + whole[end + 4 :]
    assert is_complete_image(whole)
    assert not is_complete_image(claims)
    with pytest.raises(FrameError, match="cut off"):
        decode_photo(claims, "photo", most_pixels=1_000_000)


@pytest.mark.parametrize("name", [b"plain.png", b"\xff.jpg", "Spielbrett-ä.png".encode()])
def test_a_picture_is_written_under_any_name_that_a_file_may_have(tmp_path, name):
    path = tmp_path / os.fsdecode(name)
    write_image(path, np.full((20, 30, 3), 99, np.uint8))
    assert load_image(path).shape == (20, 30, 3)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (b"picture.what", r"should end in \.png or \.jpg"),
        (b"picture", r"should end in \.png or \.jpg"),
        (b"picture.\xff", r"should end in \.png or \.jpg"),
        (b"no/folder/picture.png", "check that its folder exists"),
    ],
)
def test_a_picture_that_cannot_be_written_says_why(tmp_path, name, message):
    with pytest.raises(FrameError, match=message):
        write_image(tmp_path / os.fsdecode(name), np.full((20, 30, 3), 99, np.uint8))


@pytest.mark.parametrize("suffix", [".jpg", ".png"])
def test_a_photos_size_is_read_before_it_is_decoded(suffix: str) -> None:
    data = cv2.imencode(suffix, np.full((60, 80, 3), 90, np.uint8))[1].tobytes()
    assert image_size(data) == (80, 60)
    assert decode_photo(data, "photo", most_pixels=4800).shape == (60, 80, 3)
    with pytest.raises(FrameError, match=r"80 x 60 pixels; 0\.004 million are the most"):
        decode_photo(data, "photo", most_pixels=4000)
    # What says to be small and isn't whole, and what says to be huge.
    with pytest.raises(FrameError, match="cut off"):
        decode_photo(data[: len(data) // 2], "photo", most_pixels=4800)
    huge = bytearray(cv2.imencode(".png", np.full((60, 80, 3), 90, np.uint8))[1].tobytes())
    huge[16:24] = b"\x00\x01\x00\x00" * 2
    with pytest.raises(FrameError, match="65536 x 65536"):
        decode_photo(bytes(huge), "photo", most_pixels=40_000_000)
    with pytest.raises(FrameError, match="65536 x 65536 pixels; 100 million are the most"):
        decode_image(bytes(huge), "picture")


@given(
    data=st.binary(max_size=200), start=st.sampled_from([b"", b"\xff\xd8", b"\xff\xd8\xff\xe0", b"\x89PNG\r\n\x1a\n"])
)
def test_noise_has_a_size_or_none(data: bytes, start: bytes) -> None:
    size = image_size(start + data)
    assert size is None or min(size) >= 0
    with pytest.raises(FrameError):
        decode_photo(b"noise" + data, "photo", most_pixels=1000)
