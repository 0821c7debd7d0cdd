"""All settings together, and the files that they name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from referee.errors import ConfigError
from referee.settings.network_sections import MqttSection, PageSection
from referee.settings.sections import (
    JOURNAL_FILE,
    BoardSection,
    CameraSection,
    ClockSection,
    DemoSection,
    GameSection,
    HintSection,
    JournalSection,
    LightSection,
    OpponentSection,
    Section,
    SensorSection,
    TableSection,
    TurnSection,
)
from referee.settings.sources import expanded, user_folder


class Settings(Section):
    """All settings."""

    game: GameSection = GameSection()
    camera: CameraSection = CameraSection()
    table: TableSection = TableSection()
    turn: TurnSection = TurnSection()
    lights: LightSection = LightSection()
    board: BoardSection = BoardSection()
    sensors: SensorSection = SensorSection()
    hints: HintSection = HintSection()
    opponent: OpponentSection = OpponentSection()
    clock: ClockSection = ClockSection()
    page: PageSection = PageSection()
    mqtt: MqttSection = MqttSection()
    journal: JournalSection = JournalSection()
    demo: DemoSection = DemoSection()

    def changed(self, values: Mapping[str, Any]) -> Settings:
        """Return the settings with other ``values``, by ``section.key``. They aren't validated."""
        sections: dict[str, Section] = {}
        for name, value in values.items():
            section, _, key = name.partition(".")
            before: Section = sections.get(section) or getattr(self, section)
            sections[section] = before.model_copy(update={key: value})
        return self.model_copy(update=sections)

    def with_absolute_paths(self, bases: Mapping[str, Path], folder: Path, environment: Mapping[str, str]) -> Settings:
        """Return the settings with absolute paths: relative ones start from ``bases`` (by setting), ``~`` is expanded.

        Without a path in the settings, the journal is in the user's data folder. Raises ConfigError for a path that
        can't be one.
        """
        placed: dict[str, Path] = {}
        for name, path in self.paths().items():
            try:
                placed[name] = bases.get(name, folder) / expanded(path)
            except ConfigError as error:
                raise ConfigError(f"{name}: {error}") from error
        if "journal.path" not in bases:
            placed["journal.path"] = user_folder(environment, "XDG_DATA_HOME", ".local/share") / JOURNAL_FILE
        return self.changed(placed)

    def paths(self) -> dict[str, Path]:
        """Return the files and folders that are named, by setting."""
        return {
            f"{section}.{key}": value
            for section in type(self).model_fields
            for key, value in getattr(self, section)
            if isinstance(value, Path)
        }


SECTIONS: Mapping[str, type[Section]] = MappingProxyType(
    {name: type(field.default) for name, field in Settings.model_fields.items()}
)
"""The class of each section, in the order of the settings file."""
