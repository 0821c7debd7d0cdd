"""Frames and files that cannot be used are refused with their name."""

import os
import re
import struct

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vision.photos import Order, segment, telling, tiff
from vision.errors import CameraError, FrameError
from vision.geometry import CameraModel, Pose, project
from vision.images import (
    check_frame,
    decode_image,
    decode_photo,
    focal_share,
    image_size,
    is_complete_image,
    load_image,
    write_image,
)
from vision.opencv import (
    align_affine,
    aruco_dictionary,
    as_grey,
    detect_markers,
    planar_poses,
    points_2d,
    project_with_jacobian,
    refine_saddles,
    undistort_points,
)


def picture(seed=1):
    return np.random.default_rng(seed).integers(40, 200, (60, 80, 3), dtype=np.uint8)


def encoded(suffix):
    return bytes(cv2.imencode(suffix, picture())[1])


def test_a_good_frame_is_accepted():
    check_frame(picture(), (80, 60))


def test_a_black_frame_is_named():
    with pytest.raises(FrameError, match="black; take the lens cap off"):
        check_frame(np.full((60, 80, 3), 3, np.uint8))


def test_a_dark_frame_with_a_brighter_part_is_not_black():
    dim = np.full((60, 80, 3), 2, np.uint8)
    dim[20:40, 20:40] = 30
    check_frame(dim)


@pytest.mark.parametrize("missing", [1, 36, 59])
def test_a_frame_of_which_only_a_part_arrived_is_refused(missing: int) -> None:
    # libjpeg fills missing rows with this grey
    image = picture()
    image[60 - missing :] = 128
    with pytest.raises(FrameError, match=f"lacks its lower {missing} of 60 rows; if that happens often, try another"):
        check_frame(image, (80, 60))


def test_a_grey_frame_is_said_to_be_grey() -> None:
    with pytest.raises(
        FrameError, match=r"^the picture from the phone is the same grey everywhere; point the camera at"
    ):
        check_frame(np.full((60, 80, 3), 128, np.uint8), source="the phone")


def test_a_frame_with_a_nearly_uniform_grey_bottom_is_accepted() -> None:
    image = picture()
    image[20:] = 128
    image[-1, 40] = 127
    check_frame(image, (80, 60))


def test_a_frame_that_is_turned_by_a_quarter_is_named():
    with pytest.raises(FrameError, match="the webcam gave a picture that is turned by 90 degrees, of 480 x 640 pixels"):
        check_frame(np.full((640, 480, 3), 90, np.uint8), (640, 480), source="the webcam")


def test_a_frame_of_another_size_is_named():
    with pytest.raises(FrameError, match="the webcam gave a picture of 80 x 60 pixels where 640 x 480 is expected"):
        check_frame(picture(), (640, 480), source="the webcam")


@pytest.mark.parametrize(
    "thing",
    [
        np.zeros((4, 4, 3)),
        np.zeros(5, np.uint8),
        np.zeros((0, 4), np.uint8),
        *(np.zeros((4, 4, channels), np.uint8) for channels in (1, 2, 4)),
    ],
)
def test_an_array_that_is_no_picture_is_refused(thing):
    with pytest.raises(FrameError, match="expected 8 bits a channel, in one channel or three"):
        check_frame(thing)


@pytest.mark.parametrize("suffix", [".jpg", ".png"])
def test_complete_files_decode_and_truncated_ones_are_refused(suffix):
    data = encoded(suffix)
    assert decode_image(data, "frame").shape == (60, 80, 3)
    for length in (1, 10, len(data) // 2, len(data) - 20):
        with pytest.raises(FrameError, match="frame"):
            decode_image(data[:length], "frame")


@given(st.integers(min_value=2, max_value=2000))
def test_a_jpeg_truncated_anywhere_is_not_complete(length):
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
def test_a_picture_is_written_under_any_valid_file_name(tmp_path, name):
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
    # A truncated file that claims to be small, and a file that claims to be huge.
    with pytest.raises(FrameError, match="cut off"):
        decode_photo(data[: len(data) // 2], "photo", most_pixels=4800)
    huge = bytearray(cv2.imencode(".png", np.full((60, 80, 3), 90, np.uint8))[1].tobytes())
    huge[16:24] = b"\x00\x01\x00\x00" * 2
    with pytest.raises(FrameError, match="65536 x 65536"):
        decode_photo(bytes(huge), "photo", most_pixels=40_000_000)
    with pytest.raises(FrameError, match="65536 x 65536 pixels; 100 million are the most"):
        decode_image(bytes(huge), "picture")


STARTS = (b"", b"\xff\xd8", b"\xff\xd8\xff\xe0", b"\x89PNG\r\n\x1a\n", b"BM", b"RIFF1234WEBPVP8X", b"II*\0", b"MM\0*")


@given(data=st.binary(max_size=200), start=st.sampled_from(STARTS))
def test_random_bytes_have_a_size_or_none(data: bytes, start: bytes) -> None:
    size = image_size(start + data)
    assert size is None or min(size) >= 0
    with pytest.raises(FrameError):
        decode_photo(b"noise" + data, "photo", most_pixels=1000)


@pytest.mark.parametrize(("level", "lit_rows", "is_black"), [(10, 8, False), (9, 400, True), (10, 0, True)])
def test_a_picture_is_black_if_less_than_a_hundredth_of_it_is_lit(level: int, lit_rows: int, is_black: bool) -> None:
    image = np.full((400, 400, 3), 2, dtype=np.uint8)
    image[:lit_rows] = level
    if is_black:
        with pytest.raises(FrameError, match="the picture from the camera is black"):
            check_frame(image)
    else:
        check_frame(image)


def test_a_hundredth_of_a_picture_is_enough_light() -> None:
    # every eighth pixel is looked at: 10 x 10 of them
    image = np.zeros((80, 80), dtype=np.uint8)
    image[40, 40] = 200
    check_frame(image)
    tall = np.zeros((88, 80), dtype=np.uint8)
    tall[40, 40] = 200
    with pytest.raises(FrameError, match="is black"):
        check_frame(tall)


FRAME = b"\x08" + (600).to_bytes(2) + (800).to_bytes(2) + b"\x03"


@pytest.mark.parametrize("kind", [0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xCF])
def test_the_size_of_a_jpeg_is_read_from_its_frame_segment_wherever_that_is(kind: int) -> None:
    other = segment(0xE0, b"JFIF") + segment(0xC4, b"\x08\x00\x01\x00\x01tables") + segment(0xFE, b"")
    start = b"\xff\xd8"
    assert image_size(start + segment(kind, FRAME)) == (800, 600)
    assert image_size(start + other + segment(kind, FRAME)) == (800, 600)
    assert image_size(start + other) is None
    assert image_size(start + segment(kind, FRAME)[:8]) is None
    assert image_size(start + segment(kind, FRAME)[:9]) == (800, 600)
    assert image_size(start + b"\x00" + segment(kind, FRAME)) is None


@pytest.mark.parametrize("bare", [0x00, 0x01, 0xD0, 0xD7, 0xD8, 0xD9])
def test_behind_a_marker_without_a_length_no_size_is_believed(bare: int) -> None:
    """Decoders go on right behind it, and would find another size there."""
    hidden = bytes(0xFFC0 - 2)
    assert image_size(b"\xff\xd8\xff" + bytes((bare,)) + b"\xff\xc0" + hidden + segment(0xC0, FRAME)) is None


def test_a_jpeg_of_thousands_of_scans_is_not_decoded() -> None:
    _, coded = cv2.imencode(".jpg", np.full((16, 16, 3), 90, np.uint8), [cv2.IMWRITE_JPEG_PROGRESSIVE, 1])
    data = coded.tobytes()
    assert decode_image(data, "it").shape == (16, 16, 3)
    scan = data[data.rindex(b"\xff\xda") : -2]
    with pytest.raises(FrameError, match="it has over 100 scans"):
        decode_image(data[:-2] + scan * 100 + data[-2:], "it")


def test_fill_bytes_before_a_jpegs_marker_are_skipped() -> None:
    assert image_size(b"\xff\xd8\xff\xff" + segment(0xC0, FRAME)) == (800, 600)


@pytest.mark.parametrize(
    ("suffix", "parameters"),
    [
        (".jpg", ()),
        (".png", ()),
        (".bmp", ()),
        (".webp", (cv2.IMWRITE_WEBP_QUALITY, 80)),
        (".webp", (cv2.IMWRITE_WEBP_QUALITY, 101)),
        (".tiff", ()),
        (".tiff", (cv2.IMWRITE_TIFF_COMPRESSION, 1)),
    ],
)
def test_the_size_of_every_format_is_read_from_its_header(suffix: str, parameters: tuple[int, ...]) -> None:
    data = cv2.imencode(suffix, picture(), parameters)[1].tobytes()
    assert image_size(data) == (80, 60)
    assert decode_image(data, "picture").shape == (60, 80, 3)


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (b"BM" + bytes(12) + (40).to_bytes(4, "little") + struct.pack("<ii", 40_000, -30_000), (40_000, 30_000)),
        (b"BM" + bytes(12) + (12).to_bytes(4, "little") + struct.pack("<HH", 40_000, 30_000), (40_000, 30_000)),
        (b"RIFF" + bytes(4) + b"WEBPVP8X" + bytes(8) + b"\xff\xff\x00\xff\x3f\x00", (65_536, 16_384)),
        (tiff("little", (256, 4, 40_000), (257, 3, 30_000)), (40_000, 30_000)),
        (tiff("big", (257, 3, 30_000), (256, 3, 40_000), (256, 4, 7)), (40_000, 30_000)),
    ],
    ids=["bmp", "old bmp", "webp", "tiff", "tiff, big-endian, a side twice"],
)
def test_a_small_file_that_claims_to_be_huge_is_refused_before_it_is_decoded(
    data: bytes, size: tuple[int, int]
) -> None:
    assert image_size(data) == size
    with pytest.raises(FrameError, match=f"{size[0]} x {size[1]} pixels; 100 million are the most"):
        decode_image(data, "picture")


@pytest.mark.parametrize("data", [b"BM", b"RIFF1234WEBPVP8 ", b"RIFF1234WEBPVP9 ", tiff("big", (256, 3, 9)), b"GIF89a"])
def test_what_says_no_size_is_no_readable_image(data: bytes) -> None:
    assert image_size(data) is None
    with pytest.raises(FrameError, match="picture is not a readable image"):
        decode_image(data, "picture")


@pytest.mark.parametrize("order", ["little", "big"])
def test_the_focal_length_is_read_from_what_a_photo_tells(order: Order) -> None:
    plain = cv2.imencode(".jpg", picture())[1].tobytes()
    others = segment(0xE0, b"JFIF"), segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0")
    assert focal_share(telling(plain, 26, order)) == pytest.approx(26 / 43.27)
    told = telling(plain, 26, order, *others)
    assert focal_share(told) == focal_share(told[: -len(plain) + 2]) == pytest.approx(26 / 43.27)
    assert {focal_share(told[:length]) for length in range(len(told))} == {None, 26 / 43.27}
    assert np.array_equal(decode_photo(told, "photo", most_pixels=4800), decode_photo(plain, "photo", most_pixels=4800))


def test_no_focal_length_is_read_where_a_photo_tells_none_or_one_that_no_lens_has() -> None:
    plain = cv2.imencode(".jpg", picture())[1].tobytes()
    for data in (plain, telling(plain, 0), telling(plain, 9000), plain[2:], b""):
        assert focal_share(data) is None


@pytest.mark.parametrize("suffix", [".bmp", ".webp", ".tiff"])
def test_a_photo_from_somewhere_else_is_a_jpeg_or_png(suffix: str) -> None:
    with pytest.raises(FrameError, match="photo is not a readable image; expected JPEG or PNG"):
        decode_photo(encoded(suffix), "photo", most_pixels=4800)


@pytest.mark.parametrize("flags", [[cv2.IMWRITE_JPEG_PROGRESSIVE, 1], []])
def test_a_photo_in_several_scans_may_have_fewer_pixels(flags: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    data = cv2.imencode(".jpg", picture(), flags)[1].tobytes()
    assert decode_photo(data, "photo", most_pixels=4800).shape == (60, 80, 3)
    monkeypatch.setattr("vision.images.MOST_PIXELS_IN_SCANS", 4799)
    if not flags:
        assert decode_photo(data, "photo", most_pixels=4800).shape == (60, 80, 3)
        # the first scan then has one of three colours
        data = re.sub(rb"(\xff\xda..)\x03", lambda found: found[1] + b"\x01", data, count=1, flags=re.DOTALL)
    with pytest.raises(FrameError, match=r"progressive JPEG of 80 x 60 pixels; .* save it as a plain JPEG"):
        decode_photo(data, "photo", most_pixels=4800)


def test_a_photo_that_cannot_be_decoded_may_need_more_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cv2, "imdecode", lambda *_: None)
    with pytest.raises(FrameError, match=r"^photo can't be decoded: .* 80 x 60 pixels need more memory than there is$"):
        decode_photo(cv2.imencode(".jpg", picture())[1].tobytes(), "photo", most_pixels=4800)


@pytest.mark.parametrize("kind", [0xC4, 0xC8, 0xCC, 0xD0, 0xBF])
def test_other_segments_of_a_jpeg_give_no_size(kind: int) -> None:
    assert image_size(b"\xff\xd8" + segment(kind, FRAME)) is None


def test_the_size_of_a_png_is_read_from_its_first_chunk() -> None:
    head = b"\x89PNG\r\n\x1a\n" + (13).to_bytes(4) + b"IHDR" + (800).to_bytes(4) + (600).to_bytes(4)
    assert image_size(head) == (800, 600)
    assert image_size(head[:23]) is None
    assert image_size(head.replace(b"IHDR", b"IDAT")) is None


def test_a_jpeg_is_complete_if_its_end_marker_follows_its_scan() -> None:
    start, scan, end = b"\xff\xd8", b"\xff\xda", b"\xff\xd9"
    assert is_complete_image(start + scan + b"data" + end)
    assert not is_complete_image(start + scan + b"data")
    assert not is_complete_image(start + end + scan)
    assert not is_complete_image(start + b"data" + end)
    # a thumbnail in a segment before the pixels, and a film behind them
    thumbnail = segment(0xE1, start + scan + end)
    assert not is_complete_image(start + thumbnail)
    assert not is_complete_image(start + thumbnail + scan + b"data")
    assert is_complete_image(start + thumbnail + scan + b"data" + end + b"film" + scan + b"film")
    assert is_complete_image(start + b"\xff\xff" + thumbnail + scan + b"data" + end)
    assert is_complete_image(b"BM of another format")
    assert not is_complete_image(b"")


def test_a_png_is_complete_if_its_last_chunk_is_there() -> None:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return len(body).to_bytes(4) + kind + body + b"sums"

    head = b"\x89PNG\r\n\x1a\n"
    whole = head + chunk(b"IHDR", b"x" * 13) + chunk(b"IDAT", b"pixels") + chunk(b"IEND", b"")
    assert is_complete_image(whole)
    assert is_complete_image(whole + b"more")
    for missing in (1, 4, 12, 15):
        assert not is_complete_image(whole[:-missing])
    assert not is_complete_image(head)


@pytest.mark.parametrize(("most_pixels", "fits"), [(4800, True), (4799, False)])
def test_a_photo_over_the_limit_of_pixels_or_of_another_format_is_refused(most_pixels: int, fits: bool) -> None:
    data = encoded(".png")
    if fits:
        assert np.array_equal(decode_photo(data, "photo", most_pixels=most_pixels), picture())
    else:
        with pytest.raises(FrameError, match="photo has 80 x 60 pixels"):
            decode_photo(data, "photo", most_pixels=most_pixels)
    with pytest.raises(FrameError, match="not a readable image; expected JPEG or PNG"):
        decode_photo(b"BM bitmap", "photo", most_pixels=most_pixels)


# All supported versions of OpenCV give the same shapes, and empty arrays if nothing is found.

SQUARE = np.array([[-50.0, 50.0], [50.0, 50.0], [50.0, -50.0], [-50.0, -50.0]])


def test_points_of_any_shape_become_rows_of_two() -> None:
    assert points_2d(None).shape == (0, 2)
    assert points_2d([[[1, 2]], [[3, 4]]]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert points_2d(np.zeros((2, 4, 2), dtype=np.float32)).shape == (8, 2)


def test_a_picture_of_one_channel_stays_unchanged() -> None:
    grey = np.arange(6, dtype=np.uint8).reshape(2, 3)
    assert as_grey(grey) is grey
    assert as_grey(np.stack([grey] * 3, axis=-1)).tolist() == grey.tolist()


@pytest.mark.parametrize("name", ["DICT_9X9", "ArucoDetector", "4X4_50", ""])
def test_an_unknown_marker_dictionary_is_refused(name: str) -> None:
    assert aruco_dictionary("DICT_4X4_50").markerSize == 4
    with pytest.raises(ValueError, match=r"expected one of .*DICT_4X4_50"):
        aruco_dictionary(name)


def test_a_marker_is_found_with_its_number() -> None:
    dictionary = aruco_dictionary("DICT_4X4_50")
    marker = np.asarray(cv2.aruco.generateImageMarker(dictionary, 7, 60), dtype=np.uint8)
    picture = np.pad(marker, ((30, 30), (40, 40)), constant_values=255)
    detector = cv2.aruco.ArucoDetector(dictionary)
    ((number, corners),) = detect_markers(detector, picture)
    assert number == 7
    assert corners == pytest.approx(np.array([[40, 30], [99, 30], [99, 89], [40, 89]]), abs=1.0)
    assert detect_markers(detector, np.full((80, 80), 255, dtype=np.uint8)) == []


def test_no_points_give_no_points(camera: CameraModel) -> None:
    none = np.zeros((0, 2))
    assert undistort_points(none, camera.matrix, camera.distortion).shape == (0, 2)
    assert refine_saddles(np.zeros((9, 9), dtype=np.uint8), none, 3) is none


def test_a_chessboards_corner_is_found_to_a_fraction_of_a_pixel() -> None:
    fine = np.zeros((400, 400), dtype=np.uint8)
    fine[:203, :197] = fine[203:, 197:] = 255
    picture = np.asarray(cv2.resize(fine, (40, 40), interpolation=cv2.INTER_AREA), dtype=np.uint8)
    found = refine_saddles(picture, np.array([[21.0, 18.0]]), 5)
    assert found == pytest.approx(np.array([[19.2, 19.8]]), abs=0.15)


def test_the_better_of_the_two_poses_of_a_plane_comes_first(camera: CameraModel, pose: Pose) -> None:
    pixels = project(camera, pose, np.column_stack([SQUARE, np.zeros(4)]))
    poses = planar_poses(SQUARE, undistort_points(pixels, camera.matrix, camera.distortion))
    assert len(poses) == 2
    rotation, translation = poses[0]
    assert rotation == pytest.approx(pose.rotation_vector, abs=1e-3)
    assert translation == pytest.approx(pose.translation, rel=1e-3, abs=1e-6)


def test_the_jacobian_of_projection_tells_how_pixels_move_with_the_pose(camera: CameraModel, pose: Pose) -> None:
    points = np.array([[10.0, -20.0, 5.0], [60.0, 30.0, 0.0]])
    given = (pose.rotation_vector, pose.translation, camera.matrix, camera.distortion)
    pixels, by_pose = project_with_jacobian(points, *given)
    assert by_pose.shape == (2, 2, 10 + len(camera.distortion))
    step = np.array([0.0, 0.1, 0.0])
    moved, _ = project_with_jacobian(points, given[0], given[1] + step, *given[2:])
    assert by_pose[:, :, 4] == pytest.approx((moved - pixels) / 0.1, rel=0.01, abs=1e-3)
    turned, _ = project_with_jacobian(points, given[0] + 0.001 * step, *given[1:])
    assert by_pose[:, :, 1] == pytest.approx((turned - pixels) / 0.0001, rel=0.01, abs=0.5)


def test_a_template_is_aligned_and_a_blank_one_is_not() -> None:
    y, x = np.mgrid[:60, :60].astype(np.float32)
    picture = np.asarray(np.sin(x / 5) + np.cos(y / 7) + np.sin((x + y) / 9), dtype=np.float32)
    found = align_affine(np.ascontiguousarray(picture[20:40, 22:42]), picture, np.array([20.5, 21.5]))
    assert found is not None
    warp, correlation = found
    assert warp == pytest.approx(np.array([[1, 0, 22], [0, 1, 20]]), abs=0.05)
    assert correlation > 0.99
    blank = np.zeros((20, 20), dtype=np.float32)
    assert align_affine(blank, np.zeros((60, 60), dtype=np.float32), np.array([3.0, 3.0])) is None
