"""Rows that one figure shows, in panels."""

import dataclasses
import re
from collections.abc import Callable, Iterable, Sequence

from matplotlib.figure import Figure

from plotting.reports import Row
from plotting.style import PASSES, SEPARATOR


@dataclasses.dataclass(frozen=True)
class Panel:
    """What its rows have in common."""

    head_dim: int
    mask: str
    size: str = ""  # batch and heads, in words, where other rows of this head dim and mask have others

    def title(self) -> str:
        attention = "causal" if self.mask == "causal" else "full attention"
        return f"head dim {self.head_dim}, {attention}" + (f"\n{self.size}" if self.size else "")


def grouped(rows: Iterable[Row], key: Callable[[Row], tuple]) -> dict[tuple, list[Row]]:
    groups: dict[tuple, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def by_size(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Rows that one line may join, under the words that tell them from the others.

    Along a line either batch and heads stay as they are, or the heads and the number of tokens; else what
    changes with the sequence length could not be told from what changes with them. Of the two, whichever
    takes fewer groups.
    """
    shapes = grouped(rows, lambda row: (row.batch, row.heads))
    tokens = grouped(rows, lambda row: (row.batch * row.seq[0], row.heads))
    groups, words = (shapes, "batch {}") if len(shapes) <= len(tokens) else (tokens, "batch × sequence = {} tokens")
    if len(groups) == 1:
        return {"": list(rows)}
    order = sorted(groups, key=lambda group: (min(row.seq for row in groups[group]), group))
    return {f"{words.format(group[0])}, {group[1]} head{'s' if group[1] > 1 else ''}": groups[group]
            for group in order}


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
        """In a stable order, each with rows of which one line may join those of an implementation."""
        alike = grouped(self.rows, lambda row: (row.head_dim, row.mask == "causal", row.mask))
        return {
            Panel(head_dim, mask, size): rows
            for (head_dim, _, mask), members in sorted(alike.items())
            for size, rows in by_size(members).items()
        }


@dataclasses.dataclass(frozen=True)
class Picture:
    """A figure that wants heading and footer yet."""

    figure: Figure
    family: Family  # of the rows that it shows
    what: str
    notes: Sequence[str] = ()  # lines beneath the heading
    after_layout: Sequence[Callable[[], None]] = ()


WIDEST_OF_TWO = 5.0  # inches


def grid_of(panels: Sequence, width: float = 0) -> tuple[int, int]:
    """Rows and columns: two beside each other, but for panels so wide that a page would shrink them."""
    columns = min(2, len(panels)) if width <= WIDEST_OF_TWO else 1
    return -(-len(panels) // columns), columns


def families_of(rows: Sequence[Row]) -> list[Family]:
    groups = grouped(rows, lambda row: (row.source.device, row.pass_name, row.dtype, row.setting))
    devices = {row.source.device for row in rows}
    families = []
    for (device, pass_name, dtype, setting), members in groups.items():
        parts = [pass_name, dtype, setting, device if len(devices) > 1 else ""]
        slug = "-".join(re.sub(r"[^A-Za-z0-9+.]+", "-", part).strip("-") for part in parts if part)
        families.append(Family(tuple(members), slug))
    return families
