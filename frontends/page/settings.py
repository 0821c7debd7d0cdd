"""The settings of the page."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from referee.section import Section


class PageSection(Section):
    """The page for browsers."""

    open: bool = Field(default=False, description="Whether `./run watch` opens the page without being asked to.")
    address: str | None = Field(
        default=None,
        examples=["0.0.0.0"],
        description="Open it to your network at this address, 0.0.0.0 for all networks. "
        "Default: to this machine alone.",
    )
    port: int | None = Field(
        default=None, ge=1, le=65535, examples=[8000], description="Its port. Default: 8000 or the next free one."
    )
    https_port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        examples=[8443],
        description="The port by which it is also served encrypted; 0: it is not. Default: its port and 443 more.",
    )
    certificate: Path | None = Field(
        default=None,
        examples=["table.pem"],
        description="Your own certificate for that, as PEM. Default: one that the referee makes, and browsers warn of.",
    )
    certificate_key: Path | None = Field(
        default=None, examples=["table.key"], description="The certificate's key, if it is in another file."
    )
    language: Literal["en", "de"] | None = Field(
        default=None,
        examples=["de"],
        description="The language of the terminal, of Home Assistant's texts, and of the page until a device chooses "
        "one. Default: the system's, and the browser's.",
    )
    quiet_hours: str | None = Field(
        default=None,
        pattern=r"^([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d$",
        examples=["22:00-07:00"],
        description="When it is silent, until a device chooses other hours.",
    )


class PageOptions(PageSection):
    """How to serve the page: its settings, and ``owner``, the name of the person at this machine."""

    owner: str = "owner"
