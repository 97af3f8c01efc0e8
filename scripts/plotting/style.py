"""The looks of all pictures: colours that the colour-blind can tell apart, hatches and markers for print."""

import dataclasses
import pathlib
import textwrap
from collections.abc import Callable, Sequence

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

# Okabe and Ito's colours, and the grey that goes with them.
GREY, BLACK = "#999999", "#000000"
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILLION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
INK, FAINT = "#222222", "#666666"
SEPARATOR = "  ·  "  # between the parts of a line


@dataclasses.dataclass(frozen=True)
class Look:
    color: str
    hatch: str
    marker: str
    dashes: tuple = ()  # of lines, so that one that covers another lets it through


KNOWN = {
    "naive": Look(GREY, "", "o"),
    "v1": Look(ORANGE, "////", "s", (6, 1.5)),
    "v2": Look(BLUE, "", "D"),
    "v3": Look(GREEN, "....", "^", (3, 2)),
    "pytorch-math": Look(BLACK, "", "v", (1, 1)),
    "pytorch-flash": Look(SKY, "\\\\\\\\", "P", (4, 1.5, 1, 1.5)),
    "pytorch-efficient": Look(PURPLE, "----", "X", (2, 1)),
    "pytorch-cudnn": Look(VERMILLION, "xxxx", "h", (5, 1, 1, 1, 1, 1)),
}
OTHERS = [
    Look(color, hatch, marker, (3, 1, 1, 1))
    for hatch, markers in (("++++", "<>p*8"), ("||||", "dPXhv"))
    for color, marker in zip((YELLOW, PURPLE, VERMILLION, SKY, GREEN), markers)
]

MARGINS = 1.25  # inches of height: what heading, legend and footer may take before the figure must grow

PASSES = {"fwd": "Forward", "bwd": "Backward", "fwd+bwd": "Forward and backward"}

plt.rcParams.update({
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "hatch.linewidth": 0.7,
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "flashbench",  # the same picture is the same file
})


def looks_of(impls: Sequence[str]) -> dict[str, Look]:
    """Each implementation's own look; those without a fixed one take the free ones in turn."""
    unknown = [impl for impl in impls if impl not in KNOWN]
    return {impl: KNOWN.get(impl) or OTHERS[unknown.index(impl) % len(OTHERS)] for impl in impls}


def seq_label(seq: tuple[int, int]) -> str:
    def short(length: int) -> str:
        for unit, size in (("M", 2**20), ("k", 2**10)):
            if length and length % size == 0:
                return f"{length // size}{unit}"
        return str(length)

    return short(seq[0]) if seq[0] == seq[1] else f"{short(seq[0])}×{short(seq[1])}"


def figures(value: float) -> str:
    """Three significant digits; never in exponential notation but below a thousandth."""
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:#.3g}" if value >= 0.001 or value == 0 else f"{value:.1e}"


def new_figure(rows: int, columns: int, panel: tuple[float, float]) -> tuple[Figure, list[list[Axes]]]:
    """A grid of panels, each of that width and height in inches, with room for heading and footer."""
    size = columns * panel[0] + 0.2, rows * panel[1] + MARGINS
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False)
    return figure, [list(line) for line in axes]


def wrapped(text: str, letters: float) -> str:
    """Broken into lines between the parts that SEPARATOR divides, or else between words."""
    lines = [""]
    for part in text.split(SEPARATOR):
        longer = SEPARATOR.join(filter(None, [lines[-1], part]))
        if len(longer) <= letters or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(part)
    return "\n".join(textwrap.fill(line, int(letters)) for line in lines)


def inches_of(text: str, size: float) -> float:
    """The height that its lines take above what follows."""
    return (text.count("\n") + 1) * size * 1.25 / 72 + 0.05


def finish(figure: Figure, heading: str, under: Sequence[str], footer: Sequence[str], path: pathlib.Path,
           after_layout: Sequence[Callable[[], None]] = ()) -> list[pathlib.Path]:
    """Sets heading, the lines under it and footer, lays out what is between, writes path.png and path.svg."""
    width, height = figure.get_size_inches()
    texts = [(wrapped(text, width * letters / size), size, weight, color)
             for text, size, weight, color, letters in
             ((heading, 11, "bold", INK, 110), *((line, 8, "normal", FAINT, 125) for line in under))]
    legends = [legend.get_window_extent(figure.canvas.get_renderer()).height / figure.dpi for legend in figure.legends]
    small = "\n".join(wrapped(line, width * 18) for line in footer)
    top = 0.12 + sum(inches_of(text, size) for text, size, _, _ in texts)
    bottom = 0.1 + 0.12 * (small.count("\n") + 1)
    height += max(0, top + sum(legends) + 0.05 + bottom - MARGINS)
    figure.set_size_inches(width, height)
    top = 0.12  # inches from the edge
    for text, size, weight, color in texts:
        figure.text(0.12 / width, 1 - top / height, text, fontsize=size, fontweight=weight, va="top", color=color)
        top += inches_of(text, size)
    for legend, tall in zip(figure.legends, legends):
        legend.set_bbox_to_anchor((0.02 / width, 1 - top / height), transform=figure.transFigure)
        top += tall
    figure.text(0.12 / width, 0.08 / height, small, fontsize=6.5, va="bottom", color=FAINT)
    figure.tight_layout(rect=(0.02 / width, bottom / height, 1, 1 - (top + 0.05) / height), w_pad=1.6, h_pad=1.6)
    for draw in after_layout:
        draw()
    written = []
    for ending, how in ((".png", {"dpi": 200}), (".svg", {"metadata": {"Date": None}})):
        target = path.with_name(path.name + ending)
        figure.savefig(target, facecolor="white", **how)
        written.append(target)
    plt.close(figure)
    return written


def legend_on_top(figure: Figure, handles: Sequence, labels: Sequence[str]) -> None:
    """Beneath the heading, where finish puts it; in one line where it has room."""
    width = figure.get_size_inches()[0]
    one_line = sum(0.5 + 0.053 * len(label) for label in labels) <= width
    columns = len(labels) if one_line else max(1, int(width / (0.5 + 0.053 * max(map(len, labels)))))
    figure.legend(handles, labels, loc="upper left", ncols=columns, handlelength=1.6,
                  columnspacing=1.4, fontsize=8)


def spread(positions: Sequence[float], distance: float, low: float, high: float) -> list[float]:
    """The positions moved as little as keeps them `distance` apart between low and high."""
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    moved = list(positions)
    for before, after in zip(order, order[1:]):
        moved[after] = max(moved[after], moved[before] + distance)
    ceiling = high
    for place in reversed(order):
        moved[place] = min(moved[place], ceiling)
        ceiling = moved[place] - distance
    floor = low
    for place in order:
        moved[place] = max(moved[place], floor)
        floor = moved[place] + distance
    return moved


def label_ends(axes: Axes, ends: Sequence[tuple[float, float, str, str]]) -> None:
    """Names lines at their right ends, x, y, name, colour; no two names of one x overlap. Limits must stand."""
    inches = axes.get_window_extent().height / axes.figure.dpi
    to_panel = axes.transData + axes.transAxes.inverted()
    for place in {end[0] for end in ends}:
        here = [end for end in ends if end[0] == place]
        points = [to_panel.transform(end[:2]) for end in here]
        heights = spread([point[1] for point in points], 0.135 / inches, 0.07 / inches, 1.0)
        for (x, y, name, color), point, height in zip(here, points, heights):
            axes.annotate(name, xy=(x, y), xycoords="data", xytext=(point[0] + 0.035, height),
                          textcoords="axes fraction", color=color, fontsize=7.5, va="center", annotation_clip=False,
                          zorder=4, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
                          arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3,
                                      "relpos": (0, 0.5)})  # from the name's left end, not through its neighbours
