"""What every section of the settings is: closed to names it does not know, and never changed once read."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, StrictInt, StrictStr

Pin = StrictInt | StrictStr
"""A pin of the Pi's header, as ``hardware.pins.parse_pin`` reads it."""


class Section(BaseModel):
    """A section of the settings file; its docstring is the section's sentence in the example."""

    model_config = ConfigDict(extra="forbid", frozen=True)
