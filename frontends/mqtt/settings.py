"""The settings of MQTT."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from common.shown_text import NOT_IN_A_LINE, ONE_LINE
from referee.section import Section

TOPIC_PREFIX = r"^[A-Za-z0-9_-]{1,40}(/[A-Za-z0-9_-]{1,40}){0,4}$"
"""What topics may begin with."""

ANY_HALL = "auto"
"""The hall's name that means: the one that is announced, whatever it is called."""


class MqttSection(Section):
    """An MQTT broker, for a smart home such as Home Assistant, or for a hall of many tables."""

    address: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9._:-]{1,253}$",
        examples=["homeassistant.local"],
        description="The broker's name or address. Without one, and without hall, MQTT is off.",
    )
    hall: str | None = Field(
        default=None,
        pattern=rf"^[^{NOT_IN_A_LINE}.]{{1,63}}$",
        examples=["auto"],
        description='Instead of address: the name of a hall, whose broker is found in the network; "auto" takes the '
        "only one there.",
    )
    own_address: str | None = Field(
        default=None,
        pattern=r"^(\d{1,3}\.){3}\d{1,3}$",
        examples=["192.168.1.20"],
        description="This machine's address in the network where hall is looked for. "
        "Default: the address it multicasts from.",
    )
    port: int | None = Field(
        default=None, ge=1, le=65535, examples=[1883], description="Its port. Default: 1883, and 8883 with tls."
    )
    user: str | None = Field(default=None, examples=["referee"], description="The user name for the broker.")
    password_file: Path | None = Field(
        default=None,
        examples=["mqtt-password"],
        description="A file with the password in its first line. Default: the variable REFEREE_MQTT_PASSWORD.",
    )
    tls: bool = Field(default=False, description="Whether the connection is encrypted, and the broker's name checked.")
    ca_file: Path | None = Field(
        default=None,
        examples=["ca.crt"],
        description="The certificate of the authority that signed the broker's. Default: those the system trusts.",
    )
    certificate_file: Path | None = Field(
        default=None, examples=["table.crt"], description="The table's own certificate, if the broker asks for one."
    )
    key_file: Path | None = Field(default=None, examples=["table.key"], description="The key of that certificate.")
    table: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_-]{1,40}$",
        examples=["table-3"],
        description="The table's id in topics, different for each table. Default: this machine's name.",
    )
    table_name: str | None = Field(
        default=None,
        pattern=ONE_LINE,
        examples=["Table by the window"],
        description="What people call the table. Default: its id.",
    )
    topic_prefix: str = Field(
        default="referee",
        pattern=TOPIC_PREFIX,
        examples=["referee"],
        description="The prefix of all topics.",
    )
    discovery: bool = Field(default=True, description="Whether Home Assistant discovers the table.")
    discovery_prefix: str = Field(
        default="homeassistant",
        pattern=TOPIC_PREFIX,
        examples=["homeassistant"],
        description="The topic that Home Assistant watches for new devices.",
    )
    commands: Literal["off", "play", "own"] = Field(
        default="off",
        description="What MQTT may command: nothing, what players may do, or also what the owner or an arbiter may do.",
    )
