"""Rows that one figure shows, in panels."""

import dataclasses
import re
from collections.abc import Iterable, Sequence

from plotting.reports import Row
from plotting.style import PASSES, SEPARATOR

Panel = tuple  # head dim, mask, and batch and heads where rows of one panel differ in nothing else


@dataclasses.dataclass(frozen=True)
class Family:
    """Rows of one device, pass, dtype and setting."""

    rows: tuple[Row, ...]
    slug: str  # of its files' names

    def heading(self, what: str) -> str:
        row = self.rows[0]
        return f"{PASSES.get(row.pass_name, row.pass_name)}, {row.dtype}: {what}"

    def under(self) -> str:
        """What all panels share: device, setting, tokens."""
        row = self.rows[0]
        tokens = {each.batch * each.seq[0] for each in self.rows}
        parts = [row.source.device, row.setting]
        if len(tokens) == 1 and len({each.seq for each in self.rows}) > 1:
            parts.append(f"batch × sequence = {tokens.pop()} tokens")
        return SEPARATOR.join(part for part in parts if part)

    def footer(self) -> list[str]:
        """On what and by what the rows were measured."""
        return list(dict.fromkeys(SEPARATOR.join(row.source.words()) for row in self.rows))

    def impls(self) -> list[str]:
        return list(dict.fromkeys(row.impl for row in self.rows))

    def with_rows(self, rows: Iterable[Row]) -> "Family":
        return dataclasses.replace(self, rows=tuple(rows))

    def panels(self) -> dict[Panel, list[Row]]:
        """In a stable order, each with rows that differ in implementation and sequence alone."""
        crowded = len({(row.panel, row.impl, row.seq) for row in self.rows}) < len(self.rows)
        panels: dict[Panel, list[Row]] = {}
        for row in self.rows:
            name = (*row.panel, row.batch, row.heads) if crowded else row.panel
            panels.setdefault(name, []).append(row)
        return dict(sorted(panels.items(), key=lambda item: (item[0][0], item[0][1] == "causal", item[0])))


def panel_title(panel: Panel) -> str:
    title = f"head dim {panel[0]}, {'causal' if panel[1] == 'causal' else 'full attention'}"
    return title if len(panel) == 2 else f"{title}, batch {panel[2]}, {panel[3]} heads"


WIDEST_OF_TWO = 5.0  # inches


def grid_of(panels: Sequence, width: float = 0) -> tuple[int, int]:
    """Rows and columns: two beside each other, but for panels so wide that a page would shrink them."""
    columns = min(2, len(panels)) if width <= WIDEST_OF_TWO else 1
    return -(-len(panels) // columns), columns


def families_of(rows: Sequence[Row]) -> list[Family]:
    groups: dict[tuple, list[Row]] = {}
    for row in rows:
        groups.setdefault((row.source.device, row.pass_name, row.dtype, row.setting), []).append(row)
    devices = {row.source.device for row in rows}
    families = []
    for (device, pass_name, dtype, setting), members in groups.items():
        parts = [pass_name, dtype, setting, device if len(devices) > 1 else ""]
        slug = "-".join(re.sub(r"[^A-Za-z0-9+.]+", "-", part).strip("-") for part in parts if part)
        families.append(Family(tuple(members), slug))
    return families
