"""A table finds the broker of its hall by multicast DNS, if its owner asks for that.

A hall announces its broker as a service of the type ``SERVICE_TYPE``, under the hall's name. Anybody in the network can
announce one, so what is found is believed no more than an address that anybody could have given.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import socket
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

from zeroconf import BadTypeInNameException, IPVersion, ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from referee.errors import BrokerError
from referee.mqtt.options import MqttOptions
from referee.settings.sections import ANY_HALL

SERVICE_TYPE = "_referee-hall._tcp.local."
MOST_NAME_BYTES = 63
"""What DNS allows for a name."""
_MULTICAST = ("224.0.0.251", 5353)
_LOOK_S = 10.0
_SETTLE_S = 1.5
"""How long a second hall is waited for: they all answer within a second."""
_MOST_HALLS, _MOST_NAMED = 50, 5
_HOST = re.compile(r"[A-Za-z0-9._:-]{1,253}")
_YES, _NO = "yes", "no"


@dataclass(frozen=True)
class HallBroker:
    """The broker of a hall, as the hall announces it.

    ``host`` is empty in an announcement where the broker runs on the hall's own machine. ``prefix`` is what the hall's
    topics begin with.
    """

    hall: str
    host: str
    port: int
    prefix: str
    is_encrypted: bool

    def service(self, address: str) -> AsyncServiceInfo:
        """Return what a hall at this IPv4 address announces."""
        fields = {"prefix": self.prefix, "tls": _YES if self.is_encrypted else _NO}
        return AsyncServiceInfo(
            SERVICE_TYPE,
            f"{self.hall}.{SERVICE_TYPE}",
            port=self.port,
            addresses=[socket.inet_aton(address)],
            properties=fields | ({"host": self.host} if self.host else {}),
            # The machine may have a name already, which says another address.
            server=f"referee-hall-{hashlib.sha256(self.hall.encode()).hexdigest()[:8]}.local.",
        )

    def fits(self, options: MqttOptions) -> bool:
        """Whether a table with these options may mean this hall."""
        return self.prefix == options.prefix and options.hall in (ANY_HALL, self.hall)

    def label(self, prefix: str) -> str:
        """Say its name, and its topics where they begin with something else than ``prefix``."""
        return f"{self.hall!r}" if self.prefix == prefix else f"{self.hall!r} with the topic_prefix {self.prefix!r}"


def parsed_broker(service: AsyncServiceInfo) -> HallBroker | None:
    """Read an announcement, ``None`` for one that no hall makes."""
    fields, addresses = service.decoded_properties, service.parsed_addresses(IPVersion.V4Only)
    host = fields.get("host") or (addresses[0] if addresses else "")
    if not _HOST.fullmatch(host) or not service.port:
        return None
    hall = service.name.removesuffix(f".{SERVICE_TYPE}")
    return HallBroker(hall, host, service.port, fields.get("prefix") or "", fields.get("tls") == _YES)


async def at_found_broker(options: MqttOptions, *, look_s: float = _LOOK_S, settle_s: float = _SETTLE_S) -> MqttOptions:
    """Return the options with the broker of the hall that they name.

    Looks for it for ``look_s``, and ``settle_s`` longer for a second one where any hall will do. Raises BrokerError
    where there is none or more than one, and where the network can't be asked.
    """
    assert options.hall is not None
    search = _Search(options, look_s)
    async with multicast_dns(own_address(options.own_address)) as dns:
        try:
            async with AsyncServiceBrowser(dns.zeroconf, SERVICE_TYPE, handlers=[search.heard]):
                await search.wait(settle_s)
        finally:
            await search.close()
    broker = chosen_broker(search.brokers, options)
    return replace(options, address=broker.host, port=broker.port)


def chosen_broker(brokers: Collection[HallBroker], options: MqttOptions) -> HallBroker:
    """Return the one that a table means; raises BrokerError where there is none, or more than one."""
    fitting = [broker for broker in brokers if broker.fits(options)]
    labels = sorted(broker.label(options.prefix) for broker in fitting or brokers)
    named = ", ".join(labels[:_MOST_NAMED])
    if len(fitting) > 1:
        raise BrokerError(f"several halls are announced in this network ({named}); name one as hall below [mqtt]")
    if not fitting and named:
        raise BrokerError(
            f"this network has other halls than the one wanted ({named}); correct hall or topic_prefix below [mqtt]"
        )
    if not fitting:
        raise BrokerError(
            "no hall is announced in this network; open one with --announce NAME, or set address below [mqtt]"
        )
    (broker,) = fitting
    if broker.is_encrypted and options.tls is None:
        raise BrokerError(f"the broker of the hall {named} is encrypted; set tls = true below [mqtt]")
    if options.tls is not None and not broker.is_encrypted:
        raise BrokerError(f"the broker of the hall {named} is not encrypted, and tls = true is set; is that your hall?")
    return broker


class _Search:
    """What was heard of halls, and the one that is wanted. All of it belongs to one event loop."""

    def __init__(self, options: MqttOptions, look_s: float) -> None:
        self._options = options
        self._look_s = look_s
        self._heard: dict[str, HallBroker] = {}
        self._changed = asyncio.Event()
        self._asking: dict[str, asyncio.Task[None]] = {}

    @property
    def brokers(self) -> Collection[HallBroker]:
        """All that were heard of."""
        return self._heard.values()

    def heard(self, zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange) -> None:
        """Ask for the address of a service that has appeared."""
        del service_type
        is_wanted = name == f"{self._options.hall}.{SERVICE_TYPE}"
        is_new = name not in self._asking and (is_wanted or len(self._asking) < _MOST_HALLS)
        if state_change is ServiceStateChange.Added and is_new:
            self._asking[name] = asyncio.create_task(self._ask(zeroconf, name))

    async def _ask(self, zeroconf: Zeroconf, name: str) -> None:
        try:
            told = AsyncServiceInfo(SERVICE_TYPE, name)
        except BadTypeInNameException:
            return
        if await told.async_request(zeroconf, self._look_s * 1000):
            broker = parsed_broker(told)
            if broker is not None:
                self._heard[name] = broker
                self._changed.set()

    async def wait(self, settle_s: float) -> None:
        """Wait for a hall that fits, and for a second one where any will do."""
        await self._until(1, self._look_s)
        if self._options.hall == ANY_HALL and self._fitting():
            await self._until(2, settle_s)

    async def _until(self, count: int, at_most_s: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(at_most_s):
                while self._fitting() < count:
                    await self._changed.wait()
                    self._changed.clear()

    async def close(self) -> None:
        """Ask no more."""
        for task in self._asking.values():
            task.cancel()
        await asyncio.gather(*self._asking.values(), return_exceptions=True)

    def _fitting(self) -> int:
        return sum(broker.fits(self._options) for broker in self.brokers)


def own_address(chosen: str | None) -> str:
    """Return this machine's IPv4 address in the network that is asked; raises BrokerError where it has none.

    Without a ``chosen`` one, it is the address by which this machine sends to many.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            if chosen is None:
                probe.connect(_MULTICAST)
            else:
                probe.bind((chosen, 0))
        except OSError as error:
            which = "this machine has no network" if chosen is None else f"{chosen} is no address of this machine"
            raise BrokerError(f"{which} in which halls could be announced ({error.strerror})") from error
        return str(probe.getsockname()[0])


@asynccontextmanager
async def multicast_dns(address: str) -> AsyncIterator[AsyncZeroconf]:
    """Speak multicast DNS in the network of this address while this is entered; raises BrokerError."""
    try:
        dns = AsyncZeroconf(interfaces=[address], ip_version=IPVersion.V4Only)
    except OSError as error:
        raise BrokerError(f"multicast DNS can't be spoken at {address} ({error.strerror})") from error
    try:
        yield dns
    finally:
        await dns.async_close()
