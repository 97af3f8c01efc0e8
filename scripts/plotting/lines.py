"""What changes with the sequence length, as lines named at their ends: utilisation and memory."""

import dataclasses
import itertools
import math
from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from plotting import style
from plotting.families import Family, Picture, grid_of
from plotting.reports import Row

PANEL_INCHES, LETTER_INCHES = 4.4, 0.056

Quantity = Callable[[Row], "float | None"]
Point = tuple[int, float, Row]


@dataclasses.dataclass(frozen=True)
class Mark:
    """How the points of a line look, in the colour and with the marker of the implementation."""

    size: float = 4.5
    filled: bool = True
    width: float = 1.3
    dashes: tuple | None = None  # None: the implementation's own

    def of(self, look: style.Look) -> dict:
        face = look.color if self.filled else "none"
        return {"color": look.color, "marker": look.marker, "markersize": self.size, "linewidth": self.width,
                "dashes": look.dashes if self.dashes is None else self.dashes, "markerfacecolor": face,
                "markeredgecolor": darker(look.color), "markeredgewidth": 0.6 if self.filled else 0.9}


SOLID, HOLLOW = Mark(), Mark(filled=False, width=0.8, dashes=(1, 1.5))


@dataclasses.dataclass(frozen=True)
class Line:
    """One quantity of the rows of a panel."""

    label: Callable[[list[Row]], str]  # at its end; none where empty
    quantity: Quantity
    mark: Mark = SOLID
    holds: Callable[[Row], bool] = lambda row: True  # else hollow, and with the row's outcome beside it


def darker(color: str) -> str:
    """As text: the light colours would not be readable."""
    return "#" + "".join(f"{int(int(color[i:i + 2], 16) * 0.72):02X}" for i in (1, 3, 5))


def draw_hollow(axes: Axes, points: Sequence[Point], look: style.Look, holds: Callable[[Row], bool]) -> None:
    """The points that do not hold, the way to and from them, and beside the last of several in turn why they do not."""
    for (x, y, row), (next_x, next_y, after) in itertools.pairwise(points):
        if not (holds(row) and holds(after)):
            axes.plot([x, next_x], [y, next_y], **{**HOLLOW.of(look), "marker": ""}, zorder=1.9)
        if not holds(row) and row.outcome != after.outcome:
            axes.annotate(row.outcome, (x, y), (3, -4), textcoords="offset points", va="top", fontsize=6.5,
                          color=style.FAINT)
    for x, y, row in points:
        if not holds(row):
            axes.plot(x, y, **{**HOLLOW.of(look), "markerfacecolor": "white"})


def draw_line(axes: Axes, rows: list[Row], places: dict, look: style.Look, line: Line) -> "tuple | None":
    """Its end and name; None where there is nothing to draw."""
    values = [(places[row.seq], line.quantity(row), row) for row in sorted(rows, key=lambda row: row.seq)]
    points = [(x, y, row) for x, y, row in values if y is not None and y > 0]
    if not points:
        return None
    gap = float("nan")  # breaks the line
    held = [y if line.holds(row) else gap for _, y, row in points]
    axes.plot([x for x, _, _ in points], held, **line.mark.of(look))
    draw_hollow(axes, points, look, line.holds)
    *end, last = points[-1]
    return *end, line.label(rows) + ("" if line.holds(last) else f": {last.outcome}"), darker(look.color)


def draw_panel(axes: Axes, rows: list[Row], looks: dict[str, style.Look], lines: Sequence[Line]) -> list[tuple]:
    """The ends to be named, once the limits stand."""
    seqs = sorted({row.seq for row in rows})
    places = {seq: i for i, seq in enumerate(seqs)}
    ends = []
    for impl, look in looks.items():
        own = [row for row in rows if row.impl == impl]
        drawn = [draw_line(axes, own, places, look, line) for line in lines]
        ends += [end for end in drawn if end and end[2]]
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


def utilisation(family: Family) -> Picture | None:
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
            axes.set_title(name.title())
            axes.set_ylabel(label)
            axes.set_ylim(0, max(100, axes.get_ylim()[1]))
    return Picture(figure, family, "utilisation of the ceilings", after_layout=[name_ends(spots)])


MOST_IN_FIVES = 10**2.5
LEAST_RANGE = 8  # has two of 1, 2, 5, 10, ...


def plain_number(value: float, _: int) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def scale_by_log(axes: Axes) -> None:
    """Ticks at 1, 2, 5 where there are few decades, else at 1; never a range that has too few of them."""
    low, high = axes.get_ylim()
    wider = max(1, LEAST_RANGE * low / high) ** 0.5
    low, high = low / wider, high * wider
    steps = (1, 2, 5) if high < low * MOST_IN_FIVES else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**power for power in powers for step in steps]
    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(FixedLocator([tick for tick in ticks if low <= tick <= high]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(plain_number))


def log_panels(family: Family, label: str, lines: Sequence[Line], what: str, notes: Sequence[str] = ()) -> Picture:
    looks = style.looks_of(family.impls())
    panels = family.panels()
    rows, columns = grid_of(list(panels))
    figure, grid = style.new_figure(rows, columns, (PANEL_INCHES, 2.5))
    axes_of_panels = [axes for line in grid for axes in line]
    spots = []
    for axes, (name, members) in zip(axes_of_panels, panels.items()):
        axes.set_yscale("log")
        axes.set_ymargin(0.1)
        spots.append((axes, draw_panel(axes, members, looks, lines)))
        scale_by_log(axes)
        axes.set_title(name.title())
        axes.set_ylabel(label)
    for axes in axes_of_panels[len(panels):]:
        axes.set_visible(False)
    return Picture(figure, family, what, notes, [name_ends(spots)])


def legend_of_marks(figure: Figure, marks: Sequence[tuple[Mark, str]]) -> None:
    """What the marks mean, of whatever implementation."""
    grey = style.Look(style.FAINT, "", "o")
    handles = [Line2D([], [], **{key: value for key, value in mark.of(grey).items() if key != "dashes"},
                      linestyle=(0, mark.dashes) if mark.dashes else "-") for mark, _ in marks]
    style.legend_on_top(figure, handles, [words for _, words in marks])


def memory(family: Family) -> Picture | None:
    family = family.with_rows(row for row in family.rows if row.extra_bytes and "/" not in row.impl)
    if not family.rows:
        return None
    extra = Line(lambda rows: rows[0].impl, lambda row: (row.extra_bytes or 0) / 2**20, holds=lambda row: row.ran)
    picture = log_panels(family, "extra memory (MiB, log)", [extra], "extra memory",
                         ["beyond inputs and outputs, by each one's own declaration"])
    if not all(row.ran for row in family.rows):
        legend_of_marks(picture.figure, [(SOLID, "rows that ran"), (HOLLOW, "not measured: what it would need")])
    return picture
