"""The keywords of JSON Schema that docs/json.md uses, and its schema."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "json.md"
KEYWORDS = {"$ref", "additionalProperties", "description", "enum", "items", "properties", "required", "type"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": float}


def documented_schema() -> dict[str, Any]:
    """The schema of the page."""
    (text,) = re.findall(r'^```json title="privhp.schema.json"\n(.*?)^```$', PAGE.read_text(), flags=re.S | re.M)
    schema: dict[str, Any] = json.loads(text)
    return schema


def violations(value: Any, schema: dict[str, Any], root: dict[str, Any], place: str = "$") -> Iterator[str]:
    """What in a value contradicts its schema."""
    assert set(schema) <= KEYWORDS
    if "$ref" in schema:
        yield from violations(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, place)
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: {value!r} is not one of {schema['enum']}"
    if "type" in schema and not any(_is(value, kind) for kind in _listed(schema["type"])):
        yield f"{place}: {value!r} is not {schema['type']}"
    if isinstance(value, dict):
        yield from (f"{place}: no {key}" for key in schema.get("required", []) if key not in value)
        known, other = schema.get("properties", {}), schema.get("additionalProperties", True)
        for key, own in value.items():
            if key in known or isinstance(other, dict):
                yield from violations(own, known.get(key, other), root, f"{place}.{key}")
            elif not other:
                yield f"{place}: unexpected {key}"
    if isinstance(value, list) and "items" in schema:
        for index, own in enumerate(value):
            yield from violations(own, schema["items"], root, f"{place}[{index}]")


def _listed(kinds: str | list[str]) -> list[str]:
    return [kinds] if isinstance(kinds, str) else kinds


def _is(value: Any, kind: str) -> bool:
    if kind == "null":
        return value is None
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, TYPES[kind]) or (kind == "number" and isinstance(value, int))
