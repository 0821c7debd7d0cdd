"""Settings files as text: the example with every setting explained, and a file with given values."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from common.toml_text import as_toml, as_toml_line
from referee.settings.settings import SECTIONS, Settings

_WIDTH = 100


def example() -> str:
    """Return the example file. Reading it back yields the defaults; settings without a default are commented out."""
    definitions = Settings.model_json_schema()["$defs"]
    blocks = [
        "\n".join(
            _comment(
                "Settings of the tabletop referee. Relative paths are relative to this file. Each setting that is no "
                "table can also be given as a variable, such as REFEREE_TURN_REST_S for rest_s under [turn]."
            )
        )
    ]
    for section, kind in SECTIONS.items():
        properties = definitions[kind.__name__]["properties"]
        lines = [*_comment(str(kind.__doc__)), f"[{section}]"]
        for key, field in kind.model_fields.items():
            allowed = allowed_text(properties[key])
            lines += ["", *_comment(str(field.description) + (f" Takes {allowed}." if allowed else ""))]
            value = field.default
            sample = f"# {key} = {as_toml(field.examples[0])}" if field.examples else None
            if value is None or sample is None:
                lines.append(sample or f"{key} = {as_toml(value)}")
            elif value in ({}, ()):
                lines += [sample, f"{key} = {as_toml(value)}"]
            else:
                lines.append(sample)
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def written(values: Mapping[str, Any]) -> str:
    """Return a file with these values, by ``section.key``, each below a comment that describes it."""
    blocks = ["\n".join(_comment("Written by `./run setup`. `./run tools config --example` has every setting."))]
    for section, kind in SECTIONS.items():
        given = [key for key in kind.model_fields if f"{section}.{key}" in values]
        lines = [*_comment(str(kind.__doc__)), f"[{section}]"]
        for key in given:
            description = str(kind.model_fields[key].description)
            lines += ["", *_comment(description), as_toml_line(key, values[f"{section}.{key}"])]
        if given:
            blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def allowed_text(schema: dict[str, Any]) -> str:
    """Describe the allowed values in a JSON schema: ``"button", "touch" or "rest"``, ``0.2 to 60``, or nothing."""
    kinds = [part for part in schema.get("anyOf", (schema,)) if part.get("type") != "null"]
    if len(kinds) > 1:
        return ""
    inner = kinds[0]
    kind = inner.get("type")
    if "pattern" in inner:
        return f"text such as {as_toml(schema['examples'][0])}"
    if kind == "array":
        choices = inner["items"].get("enum", ())
        return "any of " + ", ".join(as_toml(choice) for choice in choices) if choices else ""
    if kind == "object":
        keys, values = inner.get("propertyNames", {}).get("enum"), allowed_text(inner.get("additionalProperties", {}))
        names = "any of " + ", ".join(as_toml(key) for key in keys) if keys else "names"
        return f"{names}, each with {values}" if values else ""
    if "enum" in inner:
        *first, last = (as_toml(choice) for choice in inner["enum"])
        return f"{', '.join(first)} or {last}"
    if kind == "boolean":
        return "true or false"
    low, high = inner.get("minimum"), inner.get("maximum")
    above = inner.get("exclusiveMinimum")
    if above is not None and high is not None:
        return f"a number above {above:.10g}, up to {high:.10g}"
    if low is not None:
        return f"{low:.10g} to {high:.10g}" if high is not None else f"{low:.10g} or more"
    return ""


def _comment(text: str) -> Iterator[str]:
    return (f"# {line}" for line in textwrap.wrap(text, _WIDTH - 2))
