"""Studies of the first schema, in which actions were a list and tables of steps went by the number of the step."""

from __future__ import annotations

from typing import Any


def upgraded(study: dict[str, Any]) -> dict[str, Any]:
    """Return what study.json of the first schema says in the words of the second; the files keep their names.

    Whatever is not as it should be is left for the reader to find.
    """
    actions, tables = study.get("actions"), study.get("tables")
    if not isinstance(actions, list) or not isinstance(tables, dict):
        return study
    chain = [_chained(record, at + 1) for at, record in enumerate(actions)]
    ids = {f"step{record.get('number')}": f"fit{record['id']}" for record in chain if record.get("action") == "fit"}
    named = {_renamed(name, ids): table for name, table in tables.items()}
    return {**study, "actions": chain, "tables": named, "here": len(chain)}


def _chained(record: Any, id_: int) -> dict[str, Any]:
    own = record if isinstance(record, dict) else {}
    column = {"column": own.get("name")} if own.get("action") == "adopt" else {}
    return {**own, "id": id_, "parent": id_ - 1, **column}


def _renamed(table: str, ids: dict[str, str]) -> str:
    step, dash, rest = table.partition("-")
    return f"{ids[step]}{dash}{rest}" if dash and step in ids else table
