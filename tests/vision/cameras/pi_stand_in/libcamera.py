"""Stands in for libcamera's Python module, with only the controls that are used."""

from enum import IntEnum


class controls:  # noqa: N801 - as libcamera names it
    """Values of controls, numbered as in libcamera's control_ids_core.yaml."""

    class AfModeEnum(IntEnum):
        Manual = 0
        Auto = 1
        Continuous = 2
