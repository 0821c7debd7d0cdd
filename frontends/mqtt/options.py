"""The options of a table's connection to its broker, and what commands by MQTT may do."""

import os
import re
import ssl
from dataclasses import dataclass, field
from pathlib import Path

from common.phrases import Phrase
from common.whole_files import read_text
from frontends.mqtt.settings import MqttSection
from frontends.mqtt.topics import DISCOVERY_PREFIX, PREFIX, Topics
from referee.commands.values import Role
from referee.errors import BrokerError

PLAIN_PORT, TLS_PORT = 1883, 8883  # as registered with IANA


@dataclass(frozen=True)
class TlsOptions:
    """An encrypted connection: ``ca`` is the file of the authority that must have signed the broker's certificate.

    Without it, the system's authorities are used. ``certificate`` and ``key`` are the table's own files.
    """

    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    def context(self) -> ssl.SSLContext:
        """Load the files; raises BrokerError that names the one that can't be read."""
        for file in (self.ca, self.certificate, self.key):
            if file is not None and not os.access(file, os.R_OK):
                raise BrokerError(f"the file {file} under [mqtt] can't be read; name one that is there and readable")
        try:
            context = ssl.create_default_context(cafile=self.ca)
            if self.certificate is not None:
                context.load_cert_chain(self.certificate, self.key, password=_no_passphrase)
        except (OSError, ValueError) as error:
            files = ", ".join(str(file) for file in (self.ca, self.certificate, self.key) if file is not None)
            raise BrokerError(
                f"{files} are not a certificate in PEM and the key that belongs to it ({error})"
            ) from error
        return context


def _no_passphrase() -> str:
    raise ValueError("the key is locked by a passphrase, which nobody could type in")


@dataclass(frozen=True)
class MqttOptions:
    """A broker, and this table on it.

    ``table`` is the table's id in topics, ``table_name`` what people call it. ``allows`` is what commands by MQTT may
    do: nothing (``Role.NOBODY``), what players may, or what the owner may. Without ``discovery_prefix`` there is no
    discovery message. ``page`` is the address of the table's page, for links. With a ``hall``, its broker is searched
    for in the network of ``own_address``, and ``address`` is empty until it is found. ``language`` is that of Home
    Assistant's texts.
    """

    address: str
    port: int
    table: str
    table_name: str
    prefix: str = PREFIX
    discovery_prefix: str | None = DISCOVERY_PREFIX
    allows: Role = Role.NOBODY
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: TlsOptions | None = None
    page: str | None = None
    hall: str | None = None
    own_address: str | None = None
    language: str = "en"

    @property
    def topics(self) -> Topics:
        """The table's topics."""
        return Topics(self.prefix, self.table)

    @property
    def broker(self) -> str:
        """What to call the broker when talking to people."""
        if not self.address:
            return Phrase("the hall")
        return Phrase("{address}, port {port}", f"[{self.address}]" if ":" in self.address else self.address, self.port)


def mqtt_options(section: MqttSection, machine: str, password: str | None, language: str = "en") -> MqttOptions | None:
    """Return the options for these settings, ``None`` if no broker is set.

    ``machine`` is this machine's name, ``password`` the one to take without a file. Raises BrokerError if the file
    with the password can't be read.
    """
    if section.address is None and section.hall is None:
        return None
    table = section.table or re.sub(r"[^A-Za-z0-9_-]+", "-", machine)[:40].strip("-") or "table"
    return MqttOptions(
        section.address or "",
        section.port or (TLS_PORT if section.tls else PLAIN_PORT),
        table,
        section.table_name or table,
        prefix=section.topic_prefix,
        discovery_prefix=section.discovery_prefix if section.discovery else None,
        allows={"off": Role.NOBODY, "play": Role.PLAY, "own": Role.OWN}[section.commands],
        user=section.user,
        password=None if section.user is None else read_password(section.password_file, password),
        tls=TlsOptions(section.ca_file, section.certificate_file, section.key_file) if section.tls else None,
        hall=section.hall,
        own_address=section.own_address,
        language=language,
    )


def read_password(file: Path | None, otherwise: str | None = None) -> str | None:
    """Return the password: the first line of the file, or ``otherwise`` without one; raises BrokerError."""
    if file is None:
        return otherwise
    try:
        lines = read_text(file).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else Phrase("it is not UTF-8 text")
        raise BrokerError("the password of the broker can't be read from {file} ({reason})", file, reason) from error
    if not lines or not lines[0]:
        raise BrokerError("the first line of {file} is empty; expected the password of the broker", file)
    return lines[0]
