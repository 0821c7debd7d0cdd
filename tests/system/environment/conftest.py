"""A small project around the real scripts, as the tests of the scripts have it."""

from tests.scripts.conftest import lock_version, new_project, offline, project, real_python

__all__ = ["lock_version", "new_project", "offline", "project", "real_python"]
