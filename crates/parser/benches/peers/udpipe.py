"""What the comparisons with UDPipe 1, PyPI's ufal.udpipe, share: how it is run, and rows that set tutte beside it."""

import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RUNNER = Path(__file__).resolve().with_name("udpipe_runner.py")
PRESETS = ("fast", "default")


def add_options(parser, names, which):
    """The options that all comparisons have."""
    parser.add_argument("--treebanks", nargs="+", choices=names, default=names, metavar="NAME", help=which)
    parser.add_argument("--rounds", type=int, default=3, metavar="N",
                        help="how often each parses (default: %(default)s)")


def need_udpipe():
    """Ends the program if UDPipe is not there."""
    try:
        version("ufal.udpipe")
    except PackageNotFoundError:
        sys.exit(f"{sys.executable} has no ufal.udpipe; README.md beside this script says how to get it")


class Rows:
    """Rows of a table: UDPipe, then the presets of tutte; and what is missed in them."""

    def __init__(self, found):
        self.found = found
        self.peer = found["UDPipe"]
        self.missed = []

    def row(self, name, cell):
        """What each has."""
        return (name, *(cell(it) for it in self.found.values()))

    def ratio(self, name, targets, of):
        """How many times better presets are, and are to be: preset -> times."""
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
        """A score, bold where it is above UDPipe's; missed where that is wanted and it is not."""
        cells = [f"{self.peer[name]:.2f}"]
        for preset in PRESETS:
            shown, better = f"{self.found[preset][name]:.2f}", self.found[preset][name] > self.peer[name]
            cells.append(f"**{shown}**" if better else shown)
            if wanted and not better:
                self.missed.append(f"{preset}: {name}")
        return (name, *cells)
