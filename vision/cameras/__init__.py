"""Cameras: where frames come from. Live devices, image files, videos and growing folders look the same from here."""

from vision.cameras.camera import Camera, Clock, Wait
from vision.cameras.files import GrowingFolder, ImageFiles, VideoFile, image_paths
from vision.cameras.live import Capture, LiveCamera, Shot, usb_camera
from vision.cameras.pi import pi_camera
from vision.cameras.sources import CAMERA_SPECS, is_live, open_camera, source_path

__all__ = [
    "CAMERA_SPECS",
    "Camera",
    "Capture",
    "Clock",
    "GrowingFolder",
    "ImageFiles",
    "LiveCamera",
    "Shot",
    "VideoFile",
    "Wait",
    "image_paths",
    "is_live",
    "open_camera",
    "pi_camera",
    "source_path",
    "usb_camera",
]
