# SPDX-License-Identifier: GPL-3.0-or-later
"""As much of JSON Schema as docs/status.schema.json has. A keyword that isn't known here is an error."""

_TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
_KNOWN = {"$schema", "title", "type", "required", "properties", "items", "enum", "additionalProperties"}


def _has_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, _TYPES[name])


def mistakes(value, schema, where="$"):
    """What is wrong with a value, each a line; none if it is as the schema says."""
    assert set(schema) <= _KNOWN, set(schema) - _KNOWN
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(_has_type(value, name) for name in types):
        return [f"{where}: {value!r} is no {' or '.join(types)}"]
    found = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where}: {value!r} is none of {schema['enum']}")
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        found += [f"{where}: there is no {name}" for name in schema.get("required", []) if name not in value]
        for name, each in value.items():
            if name in properties:
                found += mistakes(each, properties[name], f"{where}.{name}")
            elif schema.get("additionalProperties") is False:
                found.append(f"{where}: {name} isn't known")
    if isinstance(value, list) and "items" in schema:
        for index, each in enumerate(value):
            found += mistakes(each, schema["items"], f"{where}[{index}]")
    return found
