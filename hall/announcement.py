"""Announces the hall's broker in the network, so that tables find it."""

import asyncio
from collections.abc import Callable

import click
import zeroconf
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from common.backoff import doubled_wait_s
from common.shown_text import is_one_line
from frontends.mqtt.hall_search import MOST_NAME_BYTES, SERVICE_TYPE, HallBroker, multicast_dns, own_address
from frontends.mqtt.settings import ANY_HALL
from hall.broker import Address
from referee.errors import BrokerError

_NAME_CHECK_S = 3.0  # as long as others may take to answer
_ADDRESS_CHECK_S = 15.0  # between looks at the own address; set by hand
_FIRST_WAIT_S, _LONGEST_WAIT_S = 1.0, 60.0  # after a failure, doubled each time
_CONNECT_S = 3.0  # for the own broker to answer


def broker_to_announce(name: str, address: Address, prefix: str) -> HallBroker:
    """Return what tables are told of the broker; raises BadParameter for a name that can't be announced."""
    size = len(name.encode("utf-8", "surrogatepass"))
    if not 0 < size <= MOST_NAME_BYTES or "." in name or not is_one_line(name) or name.casefold() == ANY_HALL:
        raise click.BadParameter(
            f"{name!r} can't be a hall's name; expected 1 to {MOST_NAME_BYTES} bytes without a full stop, "
            f'and not "{ANY_HALL}"'
        )
    is_here = address.host == "localhost" or address.host.startswith("127.") or address.host == "::1"
    return HallBroker(name, "" if is_here else address.host, address.port, prefix, address.tls is not None)


async def announce(
    broker: HallBroker, chosen_address: str | None, say: Callable[[str], object], *, name_check_s: float = _NAME_CHECK_S
) -> None:
    """Announce a broker until this task is cancelled; follows a change of the machine's address.

    ``chosen_address`` is the machine's own in the network to use; ``None`` takes the address from which it sends
    multicasts. Another hall of the same name is searched for during ``name_check_s`` seconds. ``say`` reports once when
    the announcement succeeds, and once why it fails.
    """
    said, failures = "", 0
    while True:
        try:
            address = own_address(chosen_address)
            async with multicast_dns(address) as dns:
                await _announce(dns, broker, address, name_check_s)
                said, failures = "", 0
                say(f"Tables find this hall as {broker.hall!r}.")
                await _warn(broker, address, say)
                while own_address(chosen_address) == address:
                    await asyncio.sleep(_ADDRESS_CHECK_S)
        except (BrokerError, OSError, zeroconf.Error) as error:
            words = f"The hall is not announced: {error}."
            if words != said:
                say(words)
            said, failures = words, failures + 1
            await asyncio.sleep(doubled_wait_s(_FIRST_WAIT_S, _LONGEST_WAIT_S, failures))


async def _announce(dns: AsyncZeroconf, broker: HallBroker, address: str, name_check_s: float) -> None:
    service = broker.service(address)
    try:
        if await AsyncServiceInfo(SERVICE_TYPE, service.name).async_request(dns.zeroconf, name_check_s * 1000):
            raise zeroconf.NonUniqueNameException
        await (await dns.async_register_service(service))
    except zeroconf.NonUniqueNameException as error:
        taken = f"another hall in this network is called {broker.hall!r}; give this one another name"
        raise BrokerError(taken) from error


async def _warn(broker: HallBroker, address: str, say: Callable[[str], object]) -> None:
    """Say so if a broker on this machine doesn't accept other machines: Mosquitto does that only with a listener."""
    if broker.host:
        return
    try:
        async with asyncio.timeout(_CONNECT_S):
            _, writer = await asyncio.open_connection(address, broker.port)
    except OSError:
        say(
            f"No broker answers at {address}, port {broker.port}, so no table gets in. "
            f"Mosquitto needs a line 'listener {broker.port}' in its settings."
        )
        return
    writer.close()
