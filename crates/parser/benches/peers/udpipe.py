"""Shared code of the comparisons with UDPipe 1 (ufal.udpipe on PyPI): how to run it, and rows of tables."""

import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RUNNER = Path(__file__).resolve().with_name("udpipe_runner.py")
PRESETS = ("fast", "default")


def add_options(parser, names, which):
    """Adds the options that all comparisons have."""
    parser.add_argument("--treebanks", nargs="+", choices=names, default=names, metavar="NAME", help=which)
    parser.add_argument("--rounds", type=int, default=3, metavar="N",
                        help="number of parsing runs of each (default: %(default)s)")


def need_udpipe():
    """Ends the program if UDPipe is not installed."""
    try:
        version("ufal.udpipe")
    except PackageNotFoundError:
        requirements = Path(__file__).resolve().with_name("requirements.txt")
        sys.exit(f"ufal.udpipe is not installed; run {sys.executable} -m pip install -r {requirements}")


class Rows:
    """Rows of a table, with UDPipe first and then the presets of tutte. Collects missed targets."""

    def __init__(self, found):
        self.found = found
        self.peer = found["UDPipe"]
        self.missed = []

    def row(self, name, cell):
        """Returns a row with one cell per program."""
        return (name, *(cell(it) for it in self.found.values()))

    def ratio(self, name, targets, of):
        """Returns a row of ratios to UDPipe. `targets` has the minimum ratio of each preset."""
        cells = []
        for preset in PRESETS:
            times = of(self.found[preset])
            target = targets.get(preset, 0)
            shown = f"{times:.1f}×" if times < 10 else f"{times:.0f}×"
            if times < target:
                self.missed.append(f"{preset}: {name}")
                shown += f" (missed: ≥ {target}×)"
            elif target:
                shown = f"**{shown}** (≥ {target}×)"
            cells.append(shown)
        return (f"**{name}**", "", *cells)

    def score(self, name, wanted):
        """Returns a row of a score, bold where it is above that of UDPipe. If `wanted`, a lower score is a miss."""
        cells = [f"{self.peer[name]:.2f}"]
        for preset in PRESETS:
            shown, better = f"{self.found[preset][name]:.2f}", self.found[preset][name] > self.peer[name]
            cells.append(f"**{shown}**" if better else shown)
            if wanted and not better:
                self.missed.append(f"{preset}: {name}")
        return (name, *cells)
