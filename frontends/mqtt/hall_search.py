"""Finds the broker of a table's hall by multicast DNS, if the settings name a hall.

A hall announces its broker as a service of the type ``SERVICE_TYPE``, under the hall's name. Anybody in the network can
announce one, so the broker that is found may be anybody's.
"""

import asyncio
import hashlib
import re
import socket
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

from zeroconf import BadTypeInNameException, IPVersion, ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from frontends.mqtt.options import MqttOptions
from frontends.mqtt.settings import ANY_HALL
from referee.errors import BrokerError

SERVICE_TYPE = "_referee-hall._tcp.local."
MOST_NAME_BYTES = 63
"""The longest name that DNS allows."""
_MULTICAST = ("224.0.0.251", 5353)
_SEARCH_S = 10.0  # how long to look for a hall; set by hand
_SETTLE_S = 1.5
"""How long, in seconds, to wait for a second hall; all halls answer within a second."""
_MOST_HALLS, _MOST_NAMED = 50, 5  # asked, and named in one sentence
_HOST = re.compile(r"[A-Za-z0-9._:-]{1,253}")
_YES, _NO = "yes", "no"


@dataclass(frozen=True)
class HallBroker:
    """A hall's broker, as the hall announces it.

    ``host`` is empty in an announcement if the broker runs on the hall's own machine. ``prefix`` is the prefix of the
    hall's topics.
    """

    hall: str
    host: str
    port: int
    prefix: str
    is_encrypted: bool

    def service(self, address: str) -> AsyncServiceInfo:
        """Return the service that a hall at this IPv4 address announces."""
        fields = {"prefix": self.prefix, "tls": _YES if self.is_encrypted else _NO}
        return AsyncServiceInfo(
            SERVICE_TYPE,
            f"{self.hall}.{SERVICE_TYPE}",
            port=self.port,
            addresses=[socket.inet_aton(address)],
            properties=fields | ({"host": self.host} if self.host else {}),
            # The machine may already announce its own name with another address.
            server=f"referee-hall-{hashlib.sha256(self.hall.encode()).hexdigest()[:8]}.local.",
        )

    def fits(self, options: MqttOptions) -> bool:
        """Whether a table with these options may mean this hall."""
        return self.prefix == options.prefix and options.hall in (ANY_HALL, self.hall)

    def label(self, prefix: str) -> str:
        """Return the hall's name, with its topic prefix if that isn't ``prefix``."""
        return f"{self.hall!r}" if self.prefix == prefix else f"{self.hall!r} with the topic_prefix {self.prefix!r}"


def parse_service(service: AsyncServiceInfo) -> HallBroker | None:
    """Parse an announcement; returns ``None`` if it isn't a valid one of a hall."""
    fields, addresses = service.decoded_properties, service.parsed_addresses(IPVersion.V4Only)
    host = fields.get("host") or (addresses[0] if addresses else "")
    if not _HOST.fullmatch(host) or not service.port:
        return None
    hall = service.name.removesuffix(f".{SERVICE_TYPE}")
    return HallBroker(hall, host, service.port, fields.get("prefix") or "", fields.get("tls") == _YES)


async def find_hall_broker(
    options: MqttOptions, *, search_s: float = _SEARCH_S, settle_s: float = _SETTLE_S
) -> MqttOptions:
    """Return the options with the broker of the hall that they name.

    Searches for at most ``search_s`` seconds, and ``settle_s`` longer for a second hall if any hall will do. Raises
    BrokerError if there is none or more than one, or if the network can't be used.
    """
    assert options.hall is not None
    search = _Search(options, search_s)
    async with multicast_dns(own_address(options.own_address)) as dns:
        try:
            async with AsyncServiceBrowser(dns.zeroconf, SERVICE_TYPE, handlers=[search.on_service_change]):
                await search.wait(settle_s)
        finally:
            await search.close()
    broker = choose_broker(search.brokers, options)
    return replace(options, address=broker.host, port=broker.port)


def choose_broker(brokers: Collection[HallBroker], options: MqttOptions) -> HallBroker:
    """Return the broker that fits the options; raises BrokerError if there is none, or more than one."""
    fitting = [broker for broker in brokers if broker.fits(options)]
    labels = sorted(broker.label(options.prefix) for broker in fitting or brokers)
    named = ", ".join(labels[:_MOST_NAMED])
    if len(fitting) > 1:
        raise BrokerError(f"several halls are announced in this network ({named}); name one as hall under [mqtt]")
    if not fitting and named:
        raise BrokerError(
            f"none of the halls in this network ({named}) is the one wanted; correct hall or topic_prefix under [mqtt]"
        )
    if not fitting:
        raise BrokerError(
            "no hall is announced in this network; open one with --announce NAME, or set address under [mqtt]"
        )
    (broker,) = fitting
    if broker.is_encrypted and options.tls is None:
        raise BrokerError(f"the broker of the hall {named} is encrypted; set tls = true under [mqtt]")
    if options.tls is not None and not broker.is_encrypted:
        raise BrokerError(f"the broker of the hall {named} is not encrypted, and tls = true is set; is that your hall?")
    return broker


class _Search:
    """A search for halls. All methods belong to one event loop."""

    def __init__(self, options: MqttOptions, search_s: float) -> None:
        self._options = options
        self._search_s = search_s
        self._heard: dict[str, HallBroker] = {}
        self._changed = asyncio.Event()
        self._asking: dict[str, asyncio.Task[None]] = {}

    @property
    def brokers(self) -> Collection[HallBroker]:
        """All brokers found so far."""
        return self._heard.values()

    def on_service_change(
        self, zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange
    ) -> None:
        """Ask for the address of a service that has appeared."""
        del service_type
        is_wanted = name == f"{self._options.hall}.{SERVICE_TYPE}"
        is_new = name not in self._asking and (is_wanted or len(self._asking) < _MOST_HALLS)
        if state_change is ServiceStateChange.Added and is_new:
            self._asking[name] = asyncio.create_task(self._ask(zeroconf, name))

    async def _ask(self, zeroconf: Zeroconf, name: str) -> None:
        try:
            service = AsyncServiceInfo(SERVICE_TYPE, name)
        except BadTypeInNameException:
            return
        if await service.async_request(zeroconf, self._search_s * 1000):
            broker = parse_service(service)
            if broker is not None:
                self._heard[name] = broker
                self._changed.set()

    async def wait(self, settle_s: float) -> None:
        """Wait for a hall that fits, and for a second one if any will do."""
        await self._until(1, self._search_s)
        if self._options.hall == ANY_HALL and self._fitting():
            await self._until(2, settle_s)

    async def _until(self, count: int, at_most_s: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(at_most_s):
                while self._fitting() < count:
                    await self._changed.wait()
                    self._changed.clear()

    async def close(self) -> None:
        """End the search."""
        for task in self._asking.values():
            task.cancel()
        await asyncio.gather(*self._asking.values(), return_exceptions=True)

    def _fitting(self) -> int:
        return sum(broker.fits(self._options) for broker in self.brokers)


def own_address(chosen: str | None) -> str:
    """Return this machine's IPv4 address in the network to search; raises BrokerError if it has none.

    Without a ``chosen`` one, this is the address from which this machine sends multicasts.
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
    """Use multicast DNS in the network of this address inside the context; raises BrokerError."""
    try:
        dns = AsyncZeroconf(interfaces=[address], ip_version=IPVersion.V4Only)
    except OSError as error:
        raise BrokerError(f"multicast DNS can't be used at {address} ({error.strerror})") from error
    try:
        yield dns
    finally:
        await dns.async_close()
