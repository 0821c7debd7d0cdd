"""The page on which a new game is begun: which game, who plays, the clock and the rules. It works as a plain form."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from common.phrases import as_sentence
from common.shown_text import is_one_line
from engine.api import Game
from engine.registry import games, load
from engine.values import OptionValue
from frontends.page.access import Role
from frontends.page.api import PageServices
from frontends.page.drawing.small import draw_start
from frontends.page.guard import Guarded, form_fields
from frontends.page.languages import language_of, translations
from frontends.page.shown_table import ShownTable
from frontends.page.views import page, redirect_saying
from referee.clocks import NO_CLOCK, TimeControl
from referee.commands.entries import is_asked, player_counts, players_with, same_again
from referee.commands.values import NewGame
from referee.errors import CorrectionError
from referee.naming import is_program
from referee.record.events import Event

_MOST_NAMES, _MOST_RULES = 12, 6
_OTHER = "other"
"""The value of a clock, or of rules, that further fields of the form describe."""
_FOR_AN_EVENING = "private, max-age=14400"


@dataclass(frozen=True)
class Evenings:
    """What earlier games tell: the players' ``names`` and house ``rules`` by name, newest first; the game ``again``."""

    names: tuple[str, ...] = ()
    rules: Mapping[str, Mapping[str, OptionValue]] = field(default_factory=dict)
    again: NewGame | None = None

    @classmethod
    def of(cls, game: Game[Any, Any], begun: Sequence[Event]) -> "Evenings":
        """Read them from how games began, the newest first."""
        names = [name for event in begun for name in event.names.values() if not is_program(name)]
        same = [event for event in begun if event.data["game"] == game.name]
        rules: dict[str, Mapping[str, OptionValue]] = {}
        for event in same:
            if called := event.text("rules"):
                rules.setdefault(called, same_again(game, event).options)
        return cls(
            tuple(dict.fromkeys(names))[:_MOST_NAMES],
            dict(list(rules.items())[:_MOST_RULES]),
            same_again(game, same[0]) if same else None,
        )


@dataclass(frozen=True)
class Choice:
    """A game to choose: ``options`` are those of the owner's settings; else ``lacks`` says what its table lacks."""

    game: Game[Any, Any]
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    lacks: str = ""


class NewGamePage:
    """Offers a new game of any kind that has a table.

    Of the running kind, as many can play as the camera looks for; for another, the table is laid out anew.
    """

    def __init__(self, services: PageServices) -> None:
        self._services = services
        self._port = services.port

    def routes(self) -> Sequence[Guarded]:
        """Return the page's routes."""
        return (
            Guarded("/new", self._show, Role.LOOK),
            Guarded("/new", self._begin, Role.OWN, methods=["POST"]),
            Guarded("/new/start.svg", self._picture, Role.LOOK),
        )

    async def _show(self, request: Request) -> Response:
        return await self._page(request, {})

    async def _begin(self, request: Request) -> Response:
        """Begin the game; if that is refused, show the form again as it was filled in, and why at its field."""
        fields = await form_fields(request)
        if not all(map(is_one_line, fields.get("player", ()))):
            gettext = translations(language_of(request)).gettext
            said = gettext("A name has a sign that can't be shown. Type it again without that sign.")
            return await self._page(request, fields, said, "player", 422)
        choice = await run_in_threadpool(self._chosen, fields.get("game", [""])[-1])
        evenings = await run_in_threadpool(self._evenings, choice.game)
        command = command_of(choice.game, choice.options, evenings, fields)
        # A game that is not played here is refused, and no other one begun.
        command["game"] = fields.get("game", [choice.game.name])[-1]
        newest = self._newest(request)
        ends, number = self._goes_on(newest), str(newest.game.number)
        if fields.get("after", [number]) != [number]:
            # Another game was begun since the form was shown; only a repetition of what began it is answered.
            command["seen"] = 0
        if ends and fields.get("ends") != [ends]:
            words = translations(language_of(request)).gettext("A game is being played now. Begin ends it.")
            return await self._page(request, fields, words, status=409)
        try:
            reply = await self._services.carry_out(request.state.session, command)
        except HTTPException as error:
            return await self._page(request, fields, error.detail, status=error.status_code)
        words = self._services.documents.telling(language_of(request))(reply.words)
        if reply.refused:
            return await self._page(request, fields, words, reply.field, 422)
        return redirect_saying("/", words)

    async def _picture(self, request: Request) -> Response:
        asked = request.query_params.get("game", "")
        name = asked if asked in games() else self._port.game.name
        drawn = await run_in_threadpool(start_picture, name)
        return Response(drawn, media_type="image/svg+xml", headers={"Cache-Control": _FOR_AN_EVENING})

    async def _page(
        self,
        request: Request,
        fields: Mapping[str, Sequence[str]],
        error: str = "",
        error_field: str = "",
        status: int = 200,
    ) -> Response:
        port, language, newest = self._port, language_of(request), self._newest(request)
        asked = fields.get("game", [request.query_params.get("game", "")])[-1]
        choices = await run_in_threadpool(self._choices)
        choice = next((one for one in choices if one.game.name == asked), choices[0])
        game, options = choice.game, choice.options
        evenings = await run_in_threadpool(self._evenings, game)
        goes_on, is_same = self._goes_on(newest), game.name == port.game.name
        playing = players_with(game, options) if is_same or not player_counts(game) else game.players
        seats = [*fields.get("player", ()), *[""] * len(playing)][: len(playing)]
        chosen = {name: values[-1] for name, values in fields.items()}
        words = {
            "game": game,
            "choices": choices,
            "document": newest,
            "seats": list(zip(playing, seats, strict=True)),
            "may_be_fewer": len(player_counts(game)) > 1,
            "names": evenings.names,
            "clocks": _clocks(language, port.control),
            "usual_count": len(players_with(game, options)),
            "rules": evenings.rules,
            "usual": rule_options(game, options),
            "is_rulebook": rule_options(game, options) == rule_options(game, {}),
            "options": [option for option in game.options if is_asked(option)],
            "chosen": chosen,
            "again": evenings.again,
            "hue_of": hue_of,
            "may_again": is_same and evenings.again is not None and not goes_on,
            "hints_allowed": port.hints_allowed,
            "goes_on": goes_on,
            "request_id": secrets.token_urlsafe(9),
            "error": error,
            "error_field": error_field,
        }
        return page(request, "new", words, status)

    def _chosen(self, name: str) -> Choice:
        """Return the game of a name, the one that runs for any other text; it may lack a table."""
        port = self._port
        if port.settings_for is None or name == port.game.name or name not in games():
            return Choice(port.game, port.options)
        game: Game[Any, Any] = load(name)
        try:
            return Choice(game, port.settings_for(game, {}).options)
        except CorrectionError as error:
            return Choice(game, lacks=as_sentence(str(error)))

    def _choices(self) -> tuple[Choice, ...]:
        """List the games of this table, the one that runs first, those without a table last."""
        running = self._port.game.name
        names = (running,) if self._port.settings_for is None else games()
        return tuple(sorted(map(self._chosen, names), key=lambda one: (one.game.name != running, bool(one.lacks))))

    def _newest(self, request: Request) -> ShownTable:
        return self._services.documents.newest(language_of(request)).document

    @staticmethod
    def _goes_on(table: ShownTable) -> str:
        """Return the number of the game that another one ends, empty if none is being played."""
        return str(table.game.number) if table.turns and table.outcome is None else ""

    def _evenings(self, game: Game[Any, Any]) -> Evenings:
        if self._port.journal is None:
            return Evenings()
        return Evenings.of(game, self._services.history.beginnings())


def rule_options(game: Game[Any, Any], settings: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
    """Return the options that the page asks for, as the settings have them."""
    return {option.name: settings.get(option.name, option.default) for option in game.options if is_asked(option)}


def command_of(
    game: Game[Any, Any],
    settings: Mapping[str, OptionValue],
    evenings: Evenings,
    fields: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Return the command that the form says, for ``settings``, the options of the owner.

    The names are those of the sides, in order; where any number may play, empty ones in between don't count.
    """
    chosen = {name: values[-1].strip() for name, values in fields.items()}
    names: Sequence[str] = [name.strip() for name in fields.get("player", ())]
    if player_counts(game):
        names = [name for name in names if name]
    rules = chosen.get("rules", "")
    options: dict[str, OptionValue] = {}
    if rules == _OTHER:
        given = {name: chosen.get(f"options.{name}", "") for name in rule_options(game, settings)}
        options = {name: value for name, value in given.items() if value}
        rules = chosen.get("rules_name", "")
    elif rules in evenings.rules:
        known = evenings.rules[rules]
        options = {name: value for name, value in known.items() if name in rule_options(game, settings)}
    else:
        rules = ""
    clock = chosen.get("clock", "")
    if clock == _OTHER:
        minutes, bonus = chosen.get("minutes", ""), chosen.get("seconds", "").lstrip("0")
        # Fischer's clock is one with a bonus.
        clock = f"fischer {minutes}+{bonus}" if bonus else f"game {minutes}"
    command = {
        "command": "new game",
        "game": game.name,
        "players": {side: name for side, name in zip(game.players, names, strict=False) if name},
        "options": options,
        "clock": clock,
        "rules": rules,
        "request_id": chosen.get("request_id", ""),
    }
    return command | ({"without_hints": True} if chosen.get("without_hints") else {})


def hue_of(name: str) -> int:
    """Return which of six colours a player's face has."""
    return sum(map(ord, name)) % 6


def _clocks(language: str, usual: TimeControl | None) -> list[tuple[str, str, str]]:
    """Return the clocks to choose from, each with its name and its meaning; the ``usual`` one is the owner's."""
    gettext: Callable[[str], str] = translations(language).gettext
    each = "" if usual is None else gettext("%(minutes)s min each") % {"minutes": f"{usual.base_s / 60:g}"}
    bonus = gettext("%(seconds)s s more a turn") % {"seconds": f"{usual.bonus_s:g}"} if usual and usual.bonus_s else ""
    return [
        ("", gettext("As usual"), ", ".join(filter(None, (each, bonus))) or gettext("no clock")),
        (NO_CLOCK, gettext("No clock"), gettext("everybody takes their time")),
        ("fischer 5+3", gettext("Quick"), gettext("5 minutes each, and 3 seconds more a turn")),
        ("fischer 15+10", gettext("Unhurried"), gettext("15 minutes each, and 10 seconds more a turn")),
        ("game 10", gettext("Strict"), gettext("10 minutes each for the whole game")),
    ]


@cache
def start_picture(name: str) -> str:
    """Draw how a game starts."""
    return draw_start(load(name))
