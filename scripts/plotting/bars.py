"""Throughput by sequence length: grouped bars, a panel a head dim and mask."""

from matplotlib.axes import Axes

from plotting import style
from plotting.families import Family, Picture, grid_of
from plotting.reports import Row

BAR_INCHES = 0.135  # wide enough for its figure, set upright
WIDEST_INTERVAL = 1.25


def is_drawn(row: Row) -> bool:
    return row.tflops is not None and "/" not in row.impl


def height_of(row: Row) -> float:
    """Of a bar with its interval, as far as that has room: a very wide one leaves the panel."""
    value = row.tflops or 0
    return min(row.tflops_range[1], WIDEST_INTERVAL * value) if row.tflops_range else value


def why_none(rows: list[Row]) -> str:
    """Of a sequence length at which nothing was measured, for one reason: that reason."""
    reasons = {row.outcome for row in rows}
    return reasons.pop() if len(reasons) == 1 and len(rows) > 1 and not any(row.tflops for row in rows) else ""


def note(axes: Axes, x: float, top: float, words: str, rotation: int = 90) -> None:
    axes.text(x, 0.015 * top, words, rotation=rotation, ha="center", va="bottom", fontsize=6.5, color=style.FAINT)


def draw_panel(axes: Axes, rows: list[Row], impls: list[str], looks: dict[str, style.Look]) -> None:
    seqs = sorted({row.seq for row in rows})
    found = {(row.impl, row.seq): row for row in rows}
    width = 0.86 / len(impls)
    top = max((row.tflops or 0) for row in rows)
    empty = {seq: why_none([row for row in rows if row.seq == seq]) for seq in seqs}
    for j, seq in enumerate(seqs):
        note(axes, j, top, empty[seq], rotation=0)
    for i, impl in enumerate(impls):
        for j, seq in enumerate(seqs):
            row = found.get((impl, seq))
            if row is None or empty[seq]:
                continue
            x = j + (i - (len(impls) - 1) / 2) * width
            if row.tflops is None:
                note(axes, x, top, row.outcome)
                continue
            look = looks[impl]
            axes.bar(x, row.tflops, width * 0.94, color=look.color, hatch=look.hatch, edgecolor="white", linewidth=0)
            low, high = row.tflops_range or (row.tflops, row.tflops)
            if high - low > 0.01 * top:  # narrower ones would be specks
                axes.errorbar(x, row.tflops, [[row.tflops - low], [high - row.tflops]], color=style.INK, linewidth=0.6)
            axes.text(x, height_of(row) + 0.012 * top, style.figures(row.tflops), rotation=90, ha="center",
                      va="bottom", fontsize=6.5, color=style.INK,
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.2})
    axes.set_xticks(range(len(seqs)), [style.seq_label(seq) for seq in seqs])
    axes.set_xlim(-0.55, len(seqs) - 0.45)
    letters = max(len(style.figures(row.tflops)) for row in rows if row.tflops)
    axes.set_ylim(0, 0.048 * letters * top + max(height_of(row) for row in rows))
    axes.tick_params(axis="x", length=0)


def throughput(family: Family) -> Picture | None:
    """None where no row has TFLOPS."""
    drawn = {row.impl for row in family.rows if is_drawn(row)}
    family = family.with_rows(row for row in family.rows if row.impl in drawn)
    panels = {name: rows for name, rows in family.panels().items() if any(row.tflops for row in rows)}
    if not panels:
        return None
    impls = family.impls()
    looks = style.looks_of(impls)
    most_seqs = max(len({row.seq for row in rows}) for rows in panels.values())
    width = min(12.0, max(3.4, 0.7 + BAR_INCHES * most_seqs * (len(impls) + 0.9)))
    rows, columns = grid_of(list(panels), width)
    figure, grid = style.new_figure(rows, columns, (width, 2.5))
    spots = [axes for line in grid for axes in line]
    for axes, (name, members) in zip(spots, panels.items()):
        draw_panel(axes, members, impls, looks)
        axes.set_title(name.title())
        axes.set_ylabel("TFLOPS")
        axes.set_xlabel("sequence length (tokens)")
    for axes in spots[len(panels):]:
        axes.set_visible(False)
    handles = [
        style.plt.Rectangle((0, 0), 1, 1, facecolor=look.color, hatch=look.hatch, edgecolor="white", linewidth=0)
        for look in looks.values()
    ]
    style.legend_on_top(figure, handles, list(looks))
    return Picture(figure, family, "throughput")
