"""The page of a running session: serving it, and showing its address on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from referee.rendering.live_screen import LiveScreen
from referee.session.table_port import TablePort
from referee.web.ports import PageOptions


@contextmanager
def shown_page(
    port: TablePort,
    options: PageOptions | None,
    console: Console,
    screen: LiveScreen | None,
    say: Callable[[str], None],
) -> Iterator[str | None]:
    """Serve the page while this is entered, and show its address: as lines with a QR code, or on the screen.

    Gives the address by which the house can open it. Does nothing without ``options``. The command queue is closed
    before the page, so that waiting requests are answered. Raises PageError.
    """
    if options is None:
        yield None
        return
    # the web server is only loaded if a page is requested
    from referee.web.server import codes_path, open_page

    with open_page(port, options, say) as page:
        # output that isn't a terminal may be a log
        if console.is_terminal or port.journal is None:
            say(page.words)
        else:
            say(page.words_for_a_log(codes_path(port.journal)))
        if screen is not None:
            screen.show_page(page.words, page.qr() if page.codes else "")
        elif page.codes and console.is_terminal:
            console.print(Text.from_ansi(page.qr()))
        try:
            yield page.address if page.codes else None
        finally:
            port.commands.close()
