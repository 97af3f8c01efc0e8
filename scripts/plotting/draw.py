"""All pictures of some rows, to a folder."""

import pathlib
from collections.abc import Callable, Sequence

from plotting import style
from plotting.bars import throughput
from plotting.families import families_of
from plotting.ladder import ladder
from plotting.lines import memory, utilisation
from plotting.reports import Row
from plotting.traffic import traffic

PICTURES = {
    "throughput": (throughput, "no row has TFLOPS"),
    "utilisation": (utilisation, "no row has a share of a peak or ceiling"),
    "ladder": (ladder, "no problem has two rows of ladder/..."),
    "memory": (memory, "no row says what memory it needs"),
    "traffic": (traffic, "no row says what bytes its tiles move"),
}


def all_pictures(rows: Sequence[Row], folder: pathlib.Path, say: Callable[[str], None]) -> list[pathlib.Path]:
    """The files written. `say` hears of each picture that is left out."""
    families = families_of(rows)
    written = []
    for name, (picture, nothing) in PICTURES.items():
        drawn = [(family, made) for family in families if (made := picture(family))]
        if not drawn:
            say(f"{name}: left out: {nothing}")
        for family, made in drawn:
            shown = made.family
            under = [line for line in (shown.under(), *made.notes) if line]
            written += style.finish(made.figure, shown.heading(made.what), under, shown.footer(),
                                    folder / f"{name}-{family.slug}", made.after_layout)
    return written
