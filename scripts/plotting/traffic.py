"""Bytes moved by sequence length: by each implementation's own formula, and as counted or measured."""

import dataclasses
from collections.abc import Callable

from plotting.families import Family, Picture
from plotting.lines import HOLLOW, SOLID, Line, Mark, Quantity, legend_of_marks, log_panels
from plotting.reports import Row

SAME = 0.01  # relative: nothing that a picture could show
RING = Mark(size=8, filled=False, width=0.8, dashes=(1, 1.5))  # around the formula's point where both agree


def differs(row: Row, whose: str) -> bool:
    formula = row.traffic.get("model")
    return not formula or abs(row.traffic.get(whose, formula) / formula - 1) >= SAME


def gigabytes(whose: str) -> Quantity:
    return lambda row: row.traffic[whose] / 1e9 if whose in row.traffic else None


def gigabytes_where_other(whose: str) -> Quantity:
    """Than the formula's."""
    return lambda row: gigabytes(whose)(row) if differs(row, whose) else None


def name_where_other(whose: str, words: str) -> Callable[[list[Row]], str]:
    return lambda rows: f"{rows[0].impl}, {words}" if any(differs(row, whose) for row in rows) else ""


LINES = {  # by who says so: the line, and what its marks mean
    "model": (Line(lambda rows: rows[0].impl, gigabytes("model")), "formula, by the kernels' own model"),
    "host": (Line(name_where_other("host", "counted"), gigabytes_where_other("host"), HOLLOW),
             "counted while it ran, where that differs"),
    "l2": (Line(name_where_other("l2", "L2 to SM"), gigabytes("l2"), RING), "hardware: between L2 and SMs"),
    "dram": (Line(name_where_other("dram", "DRAM"), gigabytes_where_other("dram"), HOLLOW),
             "hardware: DRAM, where that differs"),
}


def of_known_tiles(family: Family) -> tuple[Family, list[str]]:
    """Without the formulas of those that have each kernel move each tensor once in all they declare, and their names.

    That is the least that a fused kernel can do, and what it stands for is not what the others' formulas do: beside
    theirs it would look as if it moved less.
    """
    known = {row.impl for row in family.rows if not row.tiles_unknown}
    unknown = [impl for impl in family.impls() if impl not in known]
    rows = []
    for row in family.rows:
        shown = {whose: amount for whose, amount in row.traffic.items() if whose != "model" or row.impl in known}
        if shown:
            rows.append(dataclasses.replace(row, traffic=shown))
    return family.with_rows(rows), unknown


def traffic(family: Family) -> Picture | None:
    family = family.with_rows(row for row in family.rows if row.ran and row.traffic and "/" not in row.impl)
    family, unknown = of_known_tiles(family)
    if not family.rows:
        return None
    said = {whose for row in family.rows for whose in row.traffic if whose in ("model", "l2") or differs(row, whose)}
    drawn = [LINES[whose] for whose in LINES if whose in said]
    left_out = f"formula left out (each tensor once: tiles unknown): {', '.join(unknown)}"
    picture = log_panels(family, "GB moved (10⁹ bytes, log)", [line for line, _ in drawn], "memory traffic",
                         [left_out] if unknown else [])
    legend_of_marks(picture.figure, [(line.mark, words) for line, words in drawn])
    return picture
