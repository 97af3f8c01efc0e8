"""The ladder from v1 to v2 as a waterfall: what each idea adds, rung by rung."""

import textwrap
from collections.abc import Sequence

from matplotlib.axes import Axes

from plotting import style
from plotting.families import Family, Picture, grid_of
from plotting.reports import Row

RUNG = "ladder/"


def rungs_of(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.impl.startswith(RUNG) and row.tflops]


def problems_of(family: Family) -> dict[tuple, list[Row]]:
    """The rows of each problem that has two rungs or more, in the report's order."""
    problems: dict[tuple, list[Row]] = {}
    for row in family.rows:
        problems.setdefault((row.head_dim, row.mask, row.seq, row.batch, row.heads), []).append(row)
    return {name: rows for name, rows in problems.items() if len(rungs_of(rows)) > 1}


def title_of(problem: tuple) -> str:
    head_dim, mask, seq, batch, heads = problem
    kind = "causal" if mask == "causal" else "full attention"
    return f"head dim {head_dim}, {kind}, sequence {style.seq_label(seq)}, batch {batch}, {heads} heads"


def whole_bar(axes: Axes, x: int, row: Row, color: str, hatch: str) -> None:
    height = row.tflops or 0
    axes.bar(x, height, 0.66, color=color, hatch=hatch, edgecolor="white", linewidth=0)
    axes.text(x, height, f"{style.figures(height)}\n", ha="center", va="center", fontsize=7.5, fontweight="bold",
              color=style.INK, linespacing=1.7)


def step_bar(axes: Axes, x: int, before: float, after: float) -> None:
    gain = after >= before
    axes.bar(x, abs(after - before), 0.66, min(before, after), color=style.SKY if gain else style.VERMILLION,
             hatch="" if gain else "xxxx", edgecolor="white", linewidth=0)
    change = after / before
    text = f"{'+' if gain else '−'}{style.figures(abs(after - before))}\n×{change:.2f}"
    axes.annotate(text, (x, max(before, after)), (0, 2), textcoords="offset points", ha="center", va="bottom",
                  fontsize=7, color=style.INK)


def draw_panel(axes: Axes, rows: Sequence[Row], looks: dict[str, style.Look]) -> None:
    rungs = rungs_of(rows)
    ends = {row.impl: row for row in rows if row.impl in ("v1", "v2") and row.tflops}
    heights = [row.tflops or 0 for row in rungs]
    own = "at its\nown tile" if rows[0].pass_name == "fwd" else "itself"  # the backward's tile is the rungs'
    names = []
    shift = 0
    if "v1" in ends:
        whole_bar(axes, 0, ends["v1"], looks["v1"].color, looks["v1"].hatch)
        names.append(f"v1 {own}")
        shift = 1
    whole_bar(axes, shift, rungs[0], style.GREY, "")
    names.append(f"start:\n{rungs[0].impl.removeprefix(RUNG)}")
    for i, (before, after) in enumerate(zip(heights, heights[1:]), start=shift + 1):
        step_bar(axes, i, before, after)
        axes.plot([i - 1 - 0.33, i + 0.33], [before, before], color=style.FAINT, linewidth=0.7)
        idea = rungs[i - shift].impl.removeprefix(RUNG).replace("-", " ")
        names.append(textwrap.fill(idea, 8, break_long_words=False))
    last = shift + len(rungs)
    whole_bar(axes, last, rungs[-1], style.GREY, "")
    axes.plot([last - 1.33, last + 0.33], [heights[-1]] * 2, color=style.FAINT, linewidth=0.7)
    names.append("all of\nthem")
    if "v2" in ends:
        whole_bar(axes, last + 1, ends["v2"], looks["v2"].color, looks["v2"].hatch)
        names.append(f"v2 {own}")
    axes.set_xticks(range(len(names)), names, fontsize=7)
    axes.tick_params(axis="x", length=0)
    axes.set_ylim(0, 1.18 * max([*heights, *(row.tflops or 0 for row in ends.values())]))


def ladder(family: Family) -> Picture | None:
    problems = problems_of(family)
    if not problems:
        return None
    looks = style.looks_of(["v1", "v2"])
    rows, columns = grid_of(list(problems))
    widest = max(len(rungs_of(members)) for members in problems.values()) + 3
    figure, grid = style.new_figure(rows, columns, (max(3.4, 0.68 * widest), 2.7))
    spots = [axes for line in grid for axes in line]
    for axes, (problem, members) in zip(spots, problems.items()):
        draw_panel(axes, members, looks)
        axes.set_title(title_of(problem))
        axes.set_ylabel("TFLOPS")
        axes.set_xlabel("one idea more, from left to right")
    for axes in spots[len(problems):]:
        axes.set_visible(False)
    drawn = family.with_rows(row for members in problems.values() for row in members)
    return Picture(figure, drawn, "the ladder from v1 to v2, one idea at a time")
