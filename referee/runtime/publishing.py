"""Publishes a running session: serves its page, and connects it to an MQTT broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from referee.rendering.live_screen import LiveScreen
from referee.session.table_port import TablePort
from referee.web.options import PageOptions

if TYPE_CHECKING:
    from referee.mqtt.options import MqttOptions


@contextmanager
def publish(
    port: TablePort,
    page: PageOptions | None,
    mqtt: MqttOptions | None,
    console: Console,
    screen: LiveScreen | None,
    say: Callable[[str], None],
) -> Iterator[None]:
    """Serve the page and connect to the broker inside the context, as far as there are options for them.

    The page's address is shown on ``screen``, or printed on ``console``. Raises PageError and BrokerError.
    """
    with _served_page(port, page, console, screen, say) as address:
        if mqtt is None:
            yield
            return
        # The MQTT client is only loaded if there is a broker.
        from referee.mqtt.table_link import connect_to_broker

        with connect_to_broker(port, replace(mqtt, page=address), say, lambda: datetime.now(UTC)):
            yield


@contextmanager
def _served_page(
    port: TablePort,
    options: PageOptions | None,
    console: Console,
    screen: LiveScreen | None,
    say: Callable[[str], None],
) -> Iterator[str | None]:
    """Serve the page, and yield the address by which other devices can open it, if they can.

    The command queue is closed before the page, so that waiting requests are answered.
    """
    if options is None:
        yield None
        return
    # The web server is only loaded if a page is requested.
    from referee.web.server import codes_path, open_page

    with open_page(port, options, say) as page:
        say(page.words_on(console, None if port.journal is None else codes_path(port.journal)))
        if screen is not None:
            screen.show_page(page.words, page.qr() if page.codes else "")
        elif page.codes and console.is_terminal:
            console.print(Text.from_ansi(page.qr()))
        try:
            yield page.address if page.codes else None
        finally:
            port.commands.close()
