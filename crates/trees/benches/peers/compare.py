#!/usr/bin/env python3
"""Time tutte-trees beside torch-struct, supar, NumPy, SciPy and ufal.chu_liu_edmonds.

Work: log-partition + all arc marginals of non-projective trees, and the best tree, from dense
N(0,1) scores, on one thread. Each peer's answers are checked against tutte's before it is timed.
Times are minima over interleaved rounds, in microseconds per sentence. README.md beside this file
lists the functions of each peer that are timed.
"""

import os

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"  # read when the libraries below are loaded

import argparse
import gc
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "scripts"))
from machine import built_program, output_of, processor

CRATE = Path(__file__).resolve().parents[2]
ROOTS = ("multi-root", "single-root")
SIZES = (10, 20, 40, 80, 160)
BATCH = 64
# Target ratio of a peer's time to tutte's, by size.
TARGETS = {
    "torch-struct": dict(zip(SIZES, (50, 25, 8, 2.3, 1.2))),
    "supar": dict(zip(SIZES, (5, 5, 4, 2.3, 2))),
}


# The peers. Each has
# - `roots`: the root modes it supports;
# - `tolerances`: the largest difference from tutte's log-partitions (relative, or absolute below 1)
#   and marginals;
# - `calls(scores, roots)`: a list of functions that do the timed work, one per sentence or batch;
# - `answers(results)`: their results in tutte's layout, i.e. log-partitions [sentences] and marginals
#   [sentences, head, modifier], or scores [sentences] and heads [sentences, n].


class NumPy:
    """Koo et al. 2007: the determinant and the inverse of the Laplacian."""

    name, package, roots, tolerances = "NumPy", "numpy", ROOTS, (1e-9, 1e-9)

    def calls(self, scores, roots):
        ask = self.multi_root if roots == "multi-root" else self.single_root
        return [lambda theta=theta: ask(theta) for theta in scores]

    def multi_root(self, theta):
        a, r = self.weights(theta)
        log_z, b = self.log_determinant_and_inverse(np.diag(a.sum(0) + r) - a)
        diagonal = b.diagonal()
        return log_z, r * diagonal, a * (diagonal - b.T)

    def single_root(self, theta):
        a, r = self.weights(theta)
        laplacian = np.diag(a.sum(0)) - a
        laplacian[0] = r
        log_z, b = self.log_determinant_and_inverse(laplacian)
        diagonal, transposed = b.diagonal().copy(), b.T.copy()
        root = r * transposed[0]
        diagonal[0] = 0.0
        transposed[0] = 0.0
        return log_z, root, a * (diagonal - transposed)

    @staticmethod
    def weights(theta):
        a = np.exp(theta[1:, 1:])
        np.fill_diagonal(a, 0.0)
        return a, np.exp(theta[0, 1:])

    @staticmethod
    def log_determinant_and_inverse(matrix):
        return np.linalg.slogdet(matrix)[1], np.linalg.inv(matrix)

    @staticmethod
    def answers(results):
        log_z, root, words = (np.array(column) for column in zip(*results))
        marginals = np.zeros((len(log_z), root.shape[1] + 1, root.shape[1] + 1))
        marginals[:, 0, 1:], marginals[:, 1:, 1:] = root, words
        return log_z, marginals


class SciPy(NumPy):
    """Like NumPy, but from one LU factorisation, with direct calls of LAPACK."""

    name, package = "SciPy", "scipy"

    def __init__(self):
        from scipy.linalg import lapack

        self.lapack = lapack

    def log_determinant_and_inverse(self, matrix):
        lu, pivots, _ = self.lapack.dgetrf(matrix)
        log_z = np.log(np.abs(lu.diagonal())).sum()
        return log_z, self.lapack.dgetri(lu, pivots, overwrite_lu=True)[0]


class TorchStruct:
    """One sentence at a time; heads are rows, and root scores lie on the diagonal."""

    name, package, roots = "torch-struct", "torch-struct", ROOTS
    tolerances = (1e-3, 1e-3)  # it adds 1e-5 to every weight

    def __init__(self):
        self.torch = single_threaded_torch()
        from torch_struct import NonProjectiveDependencyCRF

        self.crf = NonProjectiveDependencyCRF

    def calls(self, scores, roots):
        potentials = scores[:, 1:, 1:].copy()
        diagonal = np.arange(potentials.shape[1])
        potentials[:, diagonal, diagonal] = scores[:, 0, 1:]
        sentences = self.torch.from_numpy(potentials).split(1)
        multiroot = roots == "multi-root"

        def ask(sentence):
            crf = self.crf(sentence, multiroot=multiroot)
            return crf.partition, crf.marginals

        return [lambda sentence=sentence: ask(sentence) for sentence in sentences]

    def answers(self, results):
        log_z, words = (self.torch.cat(column).numpy() for column in zip(*results))
        count, n = words.shape[:2]
        marginals = np.zeros((count, n + 1, n + 1))
        marginals[:, 1:, 1:] = words
        marginals[:, 0, 1:] = np.diagonal(words, axis1=1, axis2=2)
        marginals[:, np.arange(n + 1), np.arange(n + 1)] = 0.0
        return log_z, marginals


class Supar:
    """All sentences in batches; modifiers are rows, and row and column 0 are the root's."""

    name, package, roots = "supar", "supar", ROOTS
    tolerances = (1e-6, 1e-9)  # it returns the log-partition in f32

    def __init__(self):
        self.torch = single_threaded_torch()
        from supar import MatrixTree

        self.matrix_tree = MatrixTree

    def calls(self, scores, roots):
        transposed = np.ascontiguousarray(scores.transpose(0, 2, 1))
        batches = self.torch.from_numpy(transposed).split(BATCH)
        multiroot = roots == "multi-root"

        def ask(batch):
            trees = self.matrix_tree(batch, multiroot=multiroot)
            return trees.log_partition, trees.marginals

        return [lambda batch=batch: ask(batch) for batch in batches]

    def answers(self, results):
        log_z, marginals = (self.torch.cat(column).detach().numpy() for column in zip(*results))
        return log_z, marginals.transpose(0, 2, 1)


class ChuLiuEdmonds:
    """The best tree; modifiers are rows, and row and column 0 are the root's."""

    name, package, roots = "ufal", "ufal.chu_liu_edmonds", ("multi-root",)
    tolerances = (1e-9, 1e-9)

    def __init__(self):
        from ufal.chu_liu_edmonds import chu_liu_edmonds

        self.chu_liu_edmonds = chu_liu_edmonds

    def calls(self, scores, _roots):
        transposed = np.ascontiguousarray(scores.transpose(0, 2, 1))
        return [lambda s=s: self.chu_liu_edmonds(s) for s in transposed]

    @staticmethod
    def answers(results):
        heads, scores = zip(*results)
        return np.array(scores), np.array(heads)[:, 1:]


def single_threaded_torch():
    import torch

    if torch.get_num_interop_threads() != 1:
        torch.set_num_interop_threads(1)  # allowed only once
    torch.set_num_threads(1)
    torch.distributions.Distribution.set_default_validate_args(False)
    return torch


PEERS = {"marginals": (TorchStruct, Supar, NumPy, SciPy), "argmax": (ChuLiuEdmonds,)}


class Tutte:
    """`examples/inference_timings.rs`, built like the benchmarks; input and output are files."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.program = built_program("--profile", "bench", "--example", "inference_timings", folder=CRATE)

    def ask(self, work, scores, roots, seconds):
        """Return the least time in microseconds per sentence, and the answers in a peer's form."""
        count, side = scores.shape[:2]
        source, target = self.directory / "scores", self.directory / "answers"
        words = np.array(side - 1, "<u8")
        source.write_bytes(words.tobytes() + scores.astype("<f8").tobytes())
        tree_set = f"nonprojective-{roots}"
        command = [self.program, work, tree_set, str(seconds), source, target]
        subprocess.run(command, check=True)
        (least, _median), answers = np.split(np.fromfile(target, "<f8"), [2])
        answers = answers.reshape(count, -1)
        values, details = answers[:, 0], answers[:, 1:]
        if work == "marginals":
            details = details.reshape(count, side, side)
        return least, (values, details)


@dataclass
class Cell:
    """One peer (or tutte) at one size: the least time, and the difference from tutte's answers."""

    microseconds: float = float("inf")
    difference: float = 0.0
    wrong: bool = False


@dataclass
class Table:
    work: str
    roots: str
    rows: dict = field(default_factory=dict)  # name -> size -> Cell

    def cell(self, name, size):
        return self.rows.setdefault(name, {}).setdefault(size, Cell())


def time_calls(calls, sentences, seconds):
    """Return the least time of one pass over all calls, in microseconds per sentence."""
    least, begin, repeats = float("inf"), time.perf_counter(), 0
    gc.collect()
    gc.disable()
    while repeats < 3 or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        for call in calls:
            call()
        least = min(least, time.perf_counter() - start)
        repeats += 1
    gc.enable()
    return least * 1e6 / sentences


def differences(work, ours, theirs, scores):
    """Return the largest difference of a log-partition, and of a marginal or of a tree's score."""
    (our_values, our_details), (their_values, their_details) = ours, theirs
    values = np.abs(our_values - their_values) / np.maximum(1.0, np.abs(our_values))
    if work == "argmax":
        # There may be several best trees: compare their scores.
        sentence, modifier = np.ogrid[: len(scores), 1 : scores.shape[1]]
        our_details, their_details = (
            scores[sentence, heads.astype(int), modifier].sum(1)
            for heads in (our_details, their_details)
        )
    return values.max(), np.abs(our_details - their_details).max()


def compare(table, peers, size, tutte, options):
    """Fill one column of a table: answers first, then rounds of tutte and every peer in turn."""
    rng = np.random.default_rng([options.seed, size])
    scores = rng.standard_normal((options.sentences, size + 1, size + 1))
    timed = []
    _, ours = tutte.ask(table.work, scores, table.roots, 0)
    for peer in peers:
        calls = peer.calls(scores, table.roots)
        theirs = peer.answers([call() for call in calls])
        cell = table.cell(peer.name, size)
        found = differences(table.work, ours, theirs, scores)
        cell.difference = found[1]
        # Written so that NaN counts as wrong.
        cell.wrong = not all(x <= limit for x, limit in zip(found, peer.tolerances))
        timed.append((cell, calls))
    ours = table.cell("tutte", size)
    for _ in range(options.rounds):
        least, _ = tutte.ask(table.work, scores, table.roots, options.seconds)
        ours.microseconds = min(ours.microseconds, least)
        for cell, calls in timed:
            least = time_calls(calls, len(scores), options.seconds)
            cell.microseconds = min(cell.microseconds, least)


def format_table(table, sizes):
    """Return rows of times, ratios and differences; one column per size."""
    title = {"marginals": "log-partition + all marginals", "argmax": "best tree"}[table.work]
    what = {"marginals": "a marginal", "argmax": "the tree's score"}[table.work]
    lines = [f"## {title[0].upper()}{title[1:]}, {table.roots}", ""]
    lines.append("| | " + " | ".join(f"n = {n}" for n in sizes) + " |")
    lines.append("|---|" + "---:|" * len(sizes))
    ours = table.rows["tutte"]
    lines.append(row("tutte, µs", (microseconds(ours[n]) for n in sizes)))
    for name, cells in table.rows.items():
        if name == "tutte":
            continue
        lines.append(row(f"{name}, µs", (microseconds(cells[n]) for n in sizes)))
        ratios = (ratio(cells[n], ours[n], TARGETS.get(name, {}).get(n)) for n in sizes)
        lines.append(row(f"**{name} ÷ tutte**", ratios))
        found = (f"{cells[n].difference:.0e}" for n in sizes)
        lines.append(row(f"{name}, largest difference of {what}", found))
    return "\n".join(lines)


def row(head, cells):
    return f"| {head} | " + " | ".join(cells) + " |"


def microseconds(cell):
    value = cell.microseconds
    return (f"{value:.3g}" if value < 100 else f"{value:.0f}") + (" (wrong)" if cell.wrong else "")


def ratio(theirs, ours, target):
    value = theirs.microseconds / ours.microseconds
    text = f"{value:.1f}×" if value < 20 else f"{value:.0f}×"
    if target is None:
        return text
    return f"**{text}** (≥ {target}×)" if value >= target else f"{text} (missed: ≥ {target}×)"


def report(tables, sizes, peers):
    packages = sorted({peer.package for group in peers.values() for peer in group} | {"numpy"})
    if any(peer.package in ("torch-struct", "supar") for peer in peers["marginals"]):
        packages.append("torch")
    command = " ".join(["crates/trees/benches/peers/compare.py", *sys.argv[1:]])
    head = [
        "# tutte-trees and its peers",
        "",
        "Dense N(0,1) scores, `f64`, one thread; least times over interleaved rounds, per sentence",
        f"(supar in batches of {BATCH}, the others one sentence at a time). A target stands beside",
        "its ratio.",
        "",
        f"- Processor: {processor()}",
        f"- {output_of('rustc', '--version', folder=CRATE)}",
        f"- Python {platform.python_version()}, "
        + ", ".join(f"{package} {version(package)}" for package in packages),
        f"- Command: `{command}`",
        "",
    ]
    return "\n".join(head) + "\n" + "\n\n".join(format_table(t, sizes) for t in tables) + "\n"


def parse_arguments():
    names = [peer.name for group in PEERS.values() for peer in group]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--output", type=Path, metavar="FILE", help="write the table to FILE (Markdown) as well")
    add("--sizes", type=int, nargs="+", default=list(SIZES), metavar="N",
        help="sentence lengths (default: 10 20 40 80 160)")
    add("--peers", nargs="+", choices=names, default=names, metavar="PEER",
        help=f"which to compare with, of {', '.join(names)} (default: all)")
    add("--sentences", type=int, default=BATCH, metavar="N",
        help="matrices per size (default: %(default)s)")
    add("--rounds", type=int, default=5, metavar="N",
        help="turns each one gets at each size (default: %(default)s)")
    add("--seconds", type=float, default=0.3, metavar="S",
        help="least length of a turn (default: %(default)s)")
    add("--seed", type=int, default=1, metavar="N",
        help="of the random scores (default: %(default)s)")
    return parser.parse_args()


def main():
    options = parse_arguments()
    peers = {
        work: [peer() for peer in group if peer.name in options.peers]
        for work, group in PEERS.items()
    }
    tables = []
    with tempfile.TemporaryDirectory() as directory:
        tutte = Tutte(directory)
        for work, group in peers.items():
            for roots in ROOTS:
                able = [peer for peer in group if roots in peer.roots]
                if not able:
                    continue
                table = Table(work, roots)
                tables.append(table)
                for size in options.sizes:
                    print(f"{work}, {roots}, n = {size}", file=sys.stderr)
                    compare(table, able, size, tutte, options)
    text = report(tables, options.sizes, peers)
    print(text, end="")
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(text, encoding="utf-8")
    cells = [cell for table in tables for row in table.rows.values() for cell in row.values()]
    return int(any(cell.wrong for cell in cells))


if __name__ == "__main__":
    sys.exit(main())
