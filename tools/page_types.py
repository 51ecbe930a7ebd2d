"""Write the page's types, web/src/protocol.ts, from what the server says: ``python tools/page_types.py``."""

import types
import typing
from pathlib import Path

from unmask.app import _inputs, _protocol

HEAD = """/** Messages of the server as types. Made of app/_protocol.py by tools/page_types.py: change them there. */

export type Value = string | number | null;
export type Place = [number, number] | { object: number };
export type Way =
  | { along: Place[]; axes: [number, number] }
  | { along: "circle" | "arc" }
  | { from_axis: number }
  | { column: string }
  | { groups: Record<string, number[]> | number }
  | { values: Value[] };

export interface Request {
  do: string;
  revision?: number;
  [field: string]: unknown;
}

export interface Event {
  event: "state" | "progress" | "done" | "failed" | "notice";
  [field: string]: any;
}

export type Answer = { [field: string]: any };
"""
PLAIN = {int: "number", float: "number", str: "string", bool: "boolean", types.NoneType: "null", typing.Any: "any"}
PLAIN |= {_protocol.Floats: "Float32Array", _protocol.Numbers: "Float32Array | Float64Array"}
OUT = Path(__file__).parents[1] / "web" / "src" / "protocol.ts"


def in_typescript(kind):
    """Return a type as TypeScript writes it."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind in PLAIN or origin is None:
        return PLAIN.get(kind) or kind.__name__
    if origin is typing.Literal:
        return " | ".join(f'"{part}"' for part in parts)
    if origin in (typing.Union, types.UnionType):
        return " | ".join(map(in_typescript, parts))
    if origin is list:
        inner = in_typescript(parts[0])
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if origin is tuple:
        return f"[{', '.join(map(in_typescript, parts))}]"
    return f"Record<{in_typescript(parts[0])}, {in_typescript(parts[1])}>"


def interface(kind):
    """Return a record as an interface."""
    lines = [
        f"/** {(kind.__doc__ or '').strip().splitlines()[0].replace('``', '`')} */",
        f"export interface {kind.__name__} {{",
    ]
    for name, own in typing.get_type_hints(kind, include_extras=True).items():
        if name == "model_config":
            continue
        optional = typing.get_origin(own) is typing.NotRequired
        lines.append(f"  {name}{'?' * optional}: {in_typescript(typing.get_args(own)[0] if optional else own)};")
    return "\n".join([*lines, "}\n"])


def page_types():
    """Return the whole file."""
    kinds = [kind for kind in vars(_protocol).values() if typing.is_typeddict(kind)]
    return "\n".join([HEAD, *map(interface, [*kinds, _inputs.Corrections])]) + "export type Reading = keyof Readings;\n"


if __name__ == "__main__":
    OUT.write_text(page_types(), encoding="utf-8")
