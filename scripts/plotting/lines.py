"""What changes with the sequence length, as lines named at their ends: utilisation, memory, traffic."""

import dataclasses
from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from plotting import style
from plotting.families import Family, grid_of, panel_title
from plotting.reports import Row

SAME = 0.01  # relative: nothing that a picture could show
PANEL_INCHES, LETTER_INCHES = 4.4, 0.056

Figure = Callable[[Row], "float | None"]


@dataclasses.dataclass(frozen=True)
class Line:
    """One quantity of the rows of a panel."""

    label: Callable[[list[Row]], str]  # at its end
    figure: Figure
    modelled: bool = True  # and not observed: drawn solid


def darker(color: str) -> str:
    """As text: the light colours would not be readable."""
    return "#" + "".join(f"{int(int(color[i:i + 2], 16) * 0.72):02X}" for i in (1, 3, 5))


def draw_line(axes: Axes, rows: list[Row], places: dict, look: style.Look, line: Line) -> "tuple | None":
    points = [(places[row.seq], line.figure(row)) for row in sorted(rows, key=lambda row: row.seq)]
    points = [(x, y) for x, y in points if y is not None and y > 0]
    if not points:
        return None
    x, y = zip(*points)
    axes.plot(x, y, color=look.color, marker=look.marker, markersize=4.5, linewidth=1.3 if line.modelled else 0.8,
              dashes=look.dashes if line.modelled else (1, 1.5), markeredgecolor=darker(look.color),
              markerfacecolor=look.color if line.modelled else "white", markeredgewidth=0.6)
    return x[-1], y[-1], line.label(rows), darker(look.color)


def draw_panel(axes: Axes, rows: list[Row], looks: dict[str, style.Look], lines: Sequence[Line]) -> list[tuple]:
    """The ends to be named, once the limits stand."""
    seqs = sorted({row.seq for row in rows})
    places = {seq: i for i, seq in enumerate(seqs)}
    ends = []
    for impl, look in looks.items():
        own = [row for row in rows if row.impl == impl]
        ends += [end for line in lines if (end := draw_line(axes, own, places, look, line))]
    axes.set_xticks(range(len(seqs)), [style.seq_label(seq) for seq in seqs])
    longest = max((len(name) for _, _, name, _ in ends), default=0) * LETTER_INCHES + 0.25
    axes.set_xlim(-0.25, (len(seqs) - 0.75) * (PANEL_INCHES - 0.7) / (PANEL_INCHES - 0.7 - longest))
    axes.set_xlabel("sequence length (tokens)")
    return ends


def name_ends(spots: Sequence[tuple[Axes, list[tuple]]]) -> Callable[[], None]:
    """For after the layout, which moves the ends: names take their places in the final panels."""
    return lambda: [style.label_ends(axes, ends) for axes, ends in spots] and None


def with_binding(rows: list[Row]) -> str:
    binds = list(dict.fromkeys(row.binds for row in sorted(rows, key=lambda row: row.seq) if row.binds))
    return rows[0].impl + (f" ({', '.join(binds)})" if binds else "")


def utilisation(family: Family) -> "tuple | None":
    """A line of panels a head dim and mask: of the datasheet's peak, and of the ceiling that binds."""
    family = family.with_rows(row for row in family.rows if (row.peak or row.ceiling) and "/" not in row.impl)
    if not family.rows:
        return None
    columns: list[tuple[str, Line]] = []
    if any(row.peak for row in family.rows):
        columns.append(("% of the datasheet peak", Line(lambda rows: rows[0].impl, lambda row: 100 * (row.peak or 0))))
    if any(row.ceiling for row in family.rows):
        columns.append(("% of the binding ceiling", Line(with_binding, lambda row: 100 * (row.ceiling or 0))))
    looks = style.looks_of(family.impls())
    panels = family.panels()
    figure, grid = style.new_figure(len(panels), len(columns), (PANEL_INCHES, 2.3))
    spots = []
    for line_of_axes, (name, rows) in zip(grid, panels.items()):
        for axes, (label, line) in zip(line_of_axes, columns):
            spots.append((axes, draw_panel(axes, rows, looks, [line])))
            axes.set_title(panel_title(name))
            axes.set_ylabel(label)
            axes.set_ylim(0, max(100, axes.get_ylim()[1]))
    return figure, family, "utilisation of the ceilings", name_ends(spots)


MOST_DECADES_IN_FIVES = 2.5


def plain_number(value: float, _: int) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def scale_by_log(axes: Axes) -> None:
    """Ticks at 1, 2, 5 where there are few decades, else at 1."""
    low, high = axes.get_ylim()
    steps = (1, 2, 5) if high < low * 10**MOST_DECADES_IN_FIVES else (1,)
    axes.yaxis.set_major_locator(LogLocator(subs=steps, numticks=12))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(plain_number))


def log_panels(family: Family, label: str, lines: Sequence[Line], what: str) -> "tuple | None":
    looks = style.looks_of(family.impls())
    panels = family.panels()
    rows, columns = grid_of(list(panels))
    figure, grid = style.new_figure(rows, columns, (PANEL_INCHES, 2.5))
    axes_of_panels = [axes for line in grid for axes in line]
    spots = []
    for axes, (name, members) in zip(axes_of_panels, panels.items()):
        axes.set_yscale("log")
        spots.append((axes, draw_panel(axes, members, looks, lines)))
        scale_by_log(axes)
        axes.set_title(panel_title(name))
        axes.set_ylabel(label)
    for axes in axes_of_panels[len(panels):]:
        axes.set_visible(False)
    return figure, family, what, name_ends(spots)


def memory(family: Family) -> "tuple | None":
    family = family.with_rows(row for row in family.rows if row.extra_bytes and "/" not in row.impl)
    if not family.rows:
        return None
    extra = Line(lambda rows: rows[0].impl, lambda row: (row.extra_bytes or 0) / 2**20)
    return log_panels(family, "extra memory (MiB, log)", [extra], "extra memory")


def traffic(family: Family) -> "tuple | None":
    """By each implementation's own model, and beside it what was counted or measured, where that differs."""
    family = family.with_rows(row for row in family.rows if row.traffic and "/" not in row.impl)
    if not family.rows:
        return None

    def amount(whose: str) -> Figure:
        def gigabytes(row: Row) -> "float | None":
            bytes_moved, modelled = row.traffic.get(whose), row.traffic.get("model")
            if bytes_moved is None or (whose != "model" and modelled and abs(bytes_moved / modelled - 1) < SAME):
                return None
            return bytes_moved / 1e9

        return gigabytes

    lines = [
        Line(lambda rows: rows[0].impl, amount("model")),
        Line(lambda rows: f"{rows[0].impl}, counted", amount("host"), modelled=False),
        Line(lambda rows: f"{rows[0].impl}, measured", amount("measured"), modelled=False),
    ]
    return log_panels(family, "bytes moved (GB = 10⁹ bytes, log)", lines, "memory traffic")
