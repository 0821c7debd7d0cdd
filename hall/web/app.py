"""The hall's application."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from frontends.page import server, views
from frontends.page.access import Role
from frontends.page.api import pairing
from frontends.page.guard import Guarded
from frontends.page.languages import Site, language_of, translations
from hall.web.support import HallServices, hall_files, hall_templates
from hall.web.tables import TablePages
from referee.errors import HallStoreError


def create_hall(services: HallServices) -> Starlette:
    """Build the application that shows a hall to the devices ``access`` admits."""
    routes = (
        *TablePages(services).routes(),
        Guarded("/pair", _pair, Role.NOBODY, name="pair"),
        Guarded("/api/pair", pairing(services.access), Role.NOBODY, methods=["POST"], by_code=True),
        hall_files().mount(),
    )
    app = server.create_guarded_app(routes, services.access, site=Site("hall_base.html", hall_templates, (Role.LOOK,)))
    app.add_exception_handler(HallStoreError, _handle_store_failure)
    return app


def _handle_store_failure(request: Request, error: Exception) -> Response:
    """Answer a failure of the hall's store; what was sent may be lost."""
    del error
    gettext = translations(language_of(request)).gettext
    words = (
        gettext("The hall's store does not answer. Wait a moment, then load the page again.")
        if request.method == "GET"
        else gettext(
            "The hall's store does not answer, so this was not kept. "
            "Wait a moment, look whether it is there, then repeat it."
        )
    )
    return server.refusal(request, HTTPException(503, words))


async def _pair(request: Request) -> Response:
    gettext = translations(language_of(request)).gettext
    return views.page(request, "pair", {"game": {"title": gettext("Hall")}})
