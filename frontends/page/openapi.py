"""Describes the routes of the API as OpenAPI, from the input and output that each declares."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema

from frontends.page.access import EVENT_STREAM, Role
from frontends.page.documents import RefusalDocument
from frontends.page.guard import CSRF_HEADER, Guarded

_SCHEMAS = "#/components/schemas/{model}"
_PATH_PART = re.compile(r"\{(\w+)(?::\w+)?\}")


@dataclass(frozen=True)
class Endpoint:
    """A route of the API.

    ``gives`` is the response's model, or its media type if it isn't JSON. ``query`` describes optional integer
    parameters, ``texts`` optional text parameters. ``takes`` validates the body of a POST. ``by_code`` marks a route
    that needs a pairing code instead of a session. ``whom`` says who may use a route if that depends on the body.
    """

    path: str
    answer: Callable[..., Any]
    role: Role
    summary: str
    gives: type[BaseModel] | str
    query: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    takes: TypeAdapter[Any] | None = None
    by_code: bool = False
    whom: str = ""

    @property
    def method(self) -> str:
        """POST if the endpoint takes a body, else GET."""
        return "GET" if self.takes is None else "POST"

    @property
    def route(self) -> Guarded:
        """The Starlette route."""
        return Guarded(
            self.path,
            self.answer,
            self.role,
            methods=[self.method],
            by_code=self.by_code,
            streams=self.gives == EVENT_STREAM,
        )


def openapi(endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    """Describe endpoints as an OpenAPI 3.1 document."""
    listed = list(endpoints)
    models = {each.gives: None for each in listed if isinstance(each.gives, type)} | {RefusalDocument: None}
    _, definitions = models_json_schema([(model, "serialization") for model in models], ref_template=_SCHEMAS)
    schemas: dict[str, Any] = dict(definitions.get("$defs", {}))
    paths: dict[str, Any] = {}
    for each in listed:
        if each.takes is not None:
            schemas |= each.takes.json_schema(ref_template=_SCHEMAS).get("$defs", {})
        path = _PATH_PART.sub(r"{\1}", each.path)
        paths.setdefault(path, {})[each.method.lower()] = _operation(each)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tabletop Referee", "version": "1", "description": "The table, live, and commands to it."},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "integer" if kind == "number" else "string"}}
        for name, kind in re.findall(r"\{(\w+)(?::(\w+))?\}", endpoint.path)
    ]
    parameters += [
        {"name": name, "in": "query", "description": said, "schema": schema}
        for named, schema in ((endpoint.query, {"type": "integer", "minimum": 0}), (endpoint.texts, {"type": "string"}))
        for name, said in named.items()
    ]
    whom = f"For devices paired to {endpoint.role.name.lower()}." if endpoint.role else "For everybody."
    operation: dict[str, Any] = {
        "summary": endpoint.summary,
        "description": endpoint.whom or whom,
        "parameters": parameters,
        "responses": {
            "200": {"description": "Done.", "content": _content(endpoint.gives)},
            "default": {"description": "Refused, and why.", "content": _content(RefusalDocument)},
        },
    }
    if endpoint.takes is not None:
        schema = endpoint.takes.json_schema(ref_template=_SCHEMAS)
        schema.pop("$defs", None)
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
        if endpoint.by_code:
            operation["security"] = []
        else:
            said = "The session's token, for a browser with a cookie; a bearer needs none."
            parameters.append({"name": CSRF_HEADER, "in": "header", "description": said, "schema": {"type": "string"}})
    return operation


def _content(gives: type[BaseModel] | str) -> dict[str, Any]:
    if isinstance(gives, str):
        return {gives: {"schema": {"type": "string"}}}
    return {"application/json": {"schema": {"$ref": _SCHEMAS.format(model=gives.__name__)}}}
