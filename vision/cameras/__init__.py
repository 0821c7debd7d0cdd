"""Cameras: where frames come from. Live devices, image files, videos and growing folders look the same from here."""

from vision.cameras.camera import Camera
from vision.cameras.files import GrowingFolder, ImageFiles, VideoFile, image_paths
from vision.cameras.live import LiveCamera
from vision.cameras.sources import is_live, open_camera, source_path

__all__ = [
    "Camera",
    "GrowingFolder",
    "ImageFiles",
    "LiveCamera",
    "VideoFile",
    "image_paths",
    "is_live",
    "open_camera",
    "source_path",
]
