"""Between the dataclasses of models.py and JSON."""

from __future__ import annotations

import dataclasses
import types
import typing
from functools import lru_cache
from typing import Any


def wire_name(field: dataclasses.Field[Any]) -> str:
    return str(field.metadata.get("name", field.name))


@lru_cache(maxsize=None)
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def decode(kind: Any, value: Any) -> Any:
    """Makes a dataclass of JSON. Fields that this package does not know are left out."""
    if dataclasses.is_dataclass(kind) and isinstance(kind, type) and isinstance(value, dict):
        hints = _hints(kind)
        given = {}
        for field in dataclasses.fields(kind):
            name = wire_name(field)
            if name in value:
                given[field.name] = decode(hints[field.name], value[name])
            elif _is_required(field):
                given[field.name] = None
        return kind(**given)
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _decode_union(parts, value)
    if origin is list and isinstance(value, list):
        return [decode(parts[0], each) for each in value]
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value


def _decode_union(parts: tuple[Any, ...], value: Any) -> Any:
    if value is None:
        return None
    fitting = [part for part in parts if part is not type(None) and _fits(part, value)]
    return decode(fitting[0], value) if fitting else value


def _fits(kind: Any, value: Any) -> bool:
    """True if a value may be of a part of a union: its required fields are there, its constants and nulls match."""
    if not (dataclasses.is_dataclass(kind) and isinstance(kind, type)):
        return isinstance(value, list) if typing.get_origin(kind) is list else not isinstance(value, (dict, list))
    if not isinstance(value, dict):
        return False
    hints = _hints(kind)
    for field in dataclasses.fields(kind):
        name = wire_name(field)
        if name not in value:
            if _is_required(field):
                return False
            continue
        hint = hints[field.name]
        if value[name] is None and not _is_nullable(hint):
            return False
        constants = typing.get_args(hint) if typing.get_origin(hint) is typing.Literal else ()
        if len(constants) == 1 and constants[0] != value[name]:
            return False
    return True


def _is_nullable(hint: Any) -> bool:
    return hint in (Any, type(None)) or type(None) in typing.get_args(hint)


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING


def encode(value: Any) -> Any:
    """Makes JSON of a dataclass. Optional fields that are None are left out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = ((field, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {wire_name(field): encode(each) for field, each in pairs if each is not None or _is_required(field)}
    if isinstance(value, dict):
        return {name: encode(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(each) for each in value]
    return value
