"""The fixtures of a refereed game."""

from tests.referee.fixtures import *  # noqa: F403
