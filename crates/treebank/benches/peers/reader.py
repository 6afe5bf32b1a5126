#!/usr/bin/env python3
"""Compares the time of tutte-treebank with PyPI's conllu and pyconll.

Each reads every sentence of a CoNLL-U file from disk, on one thread. They take turns in several
rounds, and the best time counts. README.md in this folder lists the calls.
"""

import argparse
import gc
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import conllu
import pyconll

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "scripts"))
from machine import built_program, output_of, processor

CRATE = Path(__file__).resolve().parents[2]
# Minimum ratio of the times of the peers and of tutte with all columns parsed.
TARGET = 20
COUNTED = ("sentences", "words", "sum of heads", "features", "dependencies", "entries of MISC")


def read_with_conllu(path):
    counts = [0] * len(COUNTED)
    with open(path, encoding="utf-8") as file:
        for sentence in conllu.parse_incr(file):
            counts[0] += 1
            for token in sentence:
                if isinstance(token["id"], int):
                    add(counts, token["head"], token["feats"], token["deps"], token["misc"])
    return counts


def read_with_pyconll(path):
    counts = [0] * len(COUNTED)
    for sentence in pyconll.iter_from_file(path):
        counts[0] += 1
        for token in sentence:
            if token.id.isdigit():
                add(counts, int(token.head or 0), token.feats, token.deps, token.misc)
    return counts


def add(counts, head, feats, deps, misc):
    counts[1] += 1
    counts[2] += head or 0
    counts[3] += len(feats or ())
    counts[4] += len(deps or ())
    counts[5] += len(misc or ())


PEERS = {"conllu": read_with_conllu, "pyconll": read_with_pyconll}


class Tutte:
    """Runs `examples/reader_timings.rs`, built like the benchmarks."""

    def __init__(self):
        self.program = built_program("--profile", "bench", "--example", "reader_timings", folder=CRATE)

    def read(self, path, rounds):
        """Returns seconds to read, seconds to read and parse all columns, and the counts."""
        command = [self.program, path, str(rounds)]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        plain, apart = output.splitlines()
        seconds, *counts = apart.split()
        return float(plain), float(seconds), [int(count) for count in counts]


def compare(path, rounds):
    """Returns name -> [best seconds, counts]."""
    tutte = Tutte()
    names = ("tutte", "tutte, taken apart", *PEERS)
    found = {name: [float("inf"), None] for name in names}

    def note(name, seconds, counts):
        found[name] = [min(found[name][0], seconds), counts]

    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
        plain, apart, counts = tutte.read(path, 5)
        note("tutte", plain, counts)
        note("tutte, taken apart", apart, counts)
        for name, read in PEERS.items():
            gc.collect()
            gc.disable()
            start = time.perf_counter()
            counts = read(path)
            note(name, time.perf_counter() - start, counts)
            gc.enable()
    return found


def report(found, path, command):
    megabytes = os.path.getsize(path) / 1e6
    ours, counts = found["tutte, taken apart"]
    described = ", ".join(f"{count:,} {name}" for name, count in zip(COUNTED, counts))
    lines = [
        "# tutte-treebank and its peers",
        "",
        "Every sentence of a file, from disk, one thread; least times over rounds in which all take",
        "turns. The ratio is to *tutte, taken apart*, which does what the peers do.",
        "",
        f"- file: {'/'.join(Path(path).parts[-2:])}, {megabytes:.1f} MB: {described}",
        f"- processor: {processor()}",
        f"- {output_of('rustc', '--version', folder=CRATE)}",
        f"- Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in PEERS),
        f"- command: `{command}`",
        "",
        "| | seconds | MB/s | ÷ tutte, taken apart | the same counts |",
        "|---|---:|---:|---:|---|",
    ]
    missed = False
    for name, (seconds, theirs) in found.items():
        ratio, agrees = seconds / ours, theirs == counts
        cell = f"{ratio:.2f}×" if ratio < 10 else f"{ratio:.0f}×"
        if name in PEERS:
            missed |= ratio < TARGET or not agrees
            cell = f"**{cell}** (≥ {TARGET}×)" if ratio >= TARGET else f"{cell} (missed: ≥ {TARGET}×)"
        verdict = "yes" if agrees else f"no: {theirs}"
        lines.append(
            f"| {name} | {seconds:.3f} | {megabytes / seconds:.3g} | {cell} | {verdict} |"
        )
    return "\n".join(lines) + "\n", missed


def main():
    data = Path(os.environ.get("TUTTE_DATA", CRATE / "../../../shared/data"))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_argument = parser.add_argument
    add_argument("file", nargs="?", default=data / "ud/english-ewt/train.conllu", metavar="FILE")
    add_argument("--output", type=Path, metavar="FILE",
                 help="write the table to FILE (Markdown) as well")
    add_argument("--rounds", type=int, default=5, metavar="N",
                 help="turns each one gets (default: %(default)s)")
    options = parser.parse_args()
    shown = f" --output {options.output}" if options.output else ""
    command = f"crates/treebank/benches/peers/reader.py{shown}"
    text, missed = report(compare(str(options.file), options.rounds), options.file, command)
    print(text, end="")
    if options.output:
        options.output.write_text(text)
    sys.exit(int(missed))


if __name__ == "__main__":
    main()
