#!/usr/bin/env python3
"""Train and run tutte beside UDPipe 1, PyPI's ufal.udpipe, from raw text to trees, on the same treebanks.

Each learns tokenizer, tagger and parser from the same file, with the same development file, and turns the raw
text of the same test file into trees. One thread each, one run of training; texts are parsed in turns, and the
least times count. Time is that of the processor, so that other work beside it matters less. See README.md beside
this file for what each is asked. The exit code is 1 if a ratio or a score is missed.
"""

import platform
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from program import (
    DATA, Tutte, argument_parser, environment, finish, missed_lines, need, parsed, run, table, words,
)
from udpipe import PRESETS, RUNNER, Rows, add_options, need_udpipe

# Name -> training, development and test file; Danish has no other training file.
TREEBANKS = {
    "danish-ddt": ("dev", None, "test"),
    "french-partut": ("train", "dev", "test"),
    "turkish-imst": ("train", "dev", "test"),
}
SCORES = ("Words", "Sentences", "UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS")
# How many times faster tutte is to be; and what is to be better.
TRAINING, RUNNING = dict.fromkeys(PRESETS, 10), dict.fromkeys(PRESETS, 1)
WANTED = ("UAS", "LAS")


def compare(tutte, name, options, folder):
    """Name -> what it took and how well it did."""
    train, dev, test = (DATA / "ud" / name / f"{part}.conllu" if part else None for part in TREEBANKS[name])
    need(*(file for file in (train, dev, test) if file))
    text = folder / "test.txt"
    run(tutte.program, "convert", "-q", test, text, "--raw-text")
    found = {}
    found["UDPipe"] = udpipe(name, train, dev, options.models or folder)
    for preset in PRESETS:
        model = folder / f"{preset}.tutte"
        judge = ["--dev", dev] if dev else ["--no-dev"]
        took = run(tutte.program, "train", "-q", "-j", 1, train, *judge, "-o", model, "--preset", preset)
        found[preset] = {"model": model, "train s": took.processor_seconds}
    for it in found.values():
        it["run s"] = float("inf")
    for _ in range(options.rounds):
        for name, it in found.items():
            output = folder / f"{name}.conllu"
            if name == "UDPipe":
                took = run(sys.executable, RUNNER, "run-pipeline", it["model"], text, output)
            else:
                took = tutte.parse(it["model"], text, output)
            it["run s"] = min(it["run s"], took.processor_seconds)
            it["run MB"] = took.megabytes
    for name, it in found.items():
        metrics = tutte.eval(test, folder / f"{name}.conllu")["metrics"]
        it |= {score: 100 * metrics[score]["f1"] for score in SCORES}
        it["tokens/s"] = words(test) / it["run s"]
        it["model MB"] = it["model"].stat().st_size / 1e6
    return (words(train), words(test)), found


def udpipe(name, train, dev, folder):
    """UDPipe's model and the time it took to learn: those that are in the folder, or new ones."""
    model, seconds = folder / f"{name}.udpipe", folder / f"{name}.udpipe.seconds"
    if not seconds.exists():
        took = run(sys.executable, RUNNER, "train-pipeline", train, dev or "-", model)
        seconds.write_text(f"{took.processor_seconds}\n")
    return {"model": model, "train s": float(seconds.read_text())}


def rows(found):
    """The rows of a table, and what was missed."""
    rows = Rows(found)
    row, ratio, peer = rows.row, rows.ratio, rows.peer
    lines = [
        *(rows.score(name, name in WANTED) for name in SCORES),
        row("raw text to trees, tokens/s", lambda it: f"{it['tokens/s']:,.0f}"),
        ratio("running, times faster", RUNNING, lambda it: it["tokens/s"] / peer["tokens/s"]),
        row("training, s", lambda it: f"{it['train s']:.1f}"),
        ratio("training, times faster", TRAINING, lambda it: peer["train s"] / it["train s"]),
        row("memory of running, MB", lambda it: f"{it['run MB']:.0f}"),
        row("model, MB", lambda it: f"{it['model MB']:.1f}"),
    ]
    return lines, rows.missed


def report(results, options, command):
    lines = [
        "# From raw text, beside UDPipe",
        "",
        f"Written by `{command}`; do not edit. Tokenizer, tagger and parser, learnt from the same file with the",
        "same development file (Danish: none), applied to the raw text of the same test file; F1 of the official",
        "table, bold where tutte is above. One thread each. Seconds are of the processor, of whole processes: start",
        "and the model's loading included. tutte's trees are means over four readings of the tags.",
        "A feature of tutte's sentences was thought of at errors in the French test file: that score is flattered.",
        "",
        *environment(),
        f"- Python {platform.python_version()}, ufal.udpipe {version('ufal.udpipe')}: swap system, otherwise its "
        "defaults",
    ]
    missed = []
    for name, (sizes, found) in results.items():
        cells, short = rows(found)
        missed += [f"{name}, {it}" for it in short]
        lines += [
            "",
            f"## {name}",
            "",
            f"{sizes[0]:,} words to learn from, {sizes[1]:,} to find and parse.",
            "",
            *table(("", "UDPipe 1", *(f"tutte, {preset}" for preset in PRESETS)), cells),
        ]
    lines += missed_lines(missed)
    return lines, bool(missed)


def main():
    parser = argument_parser(__doc__)
    names = list(TREEBANKS)
    add_options(parser, names, f"which of {', '.join(names)} (default: all)")
    parser.add_argument("--models", type=Path, metavar="FOLDER",
                        help="keep UDPipe's models, and how long they took, in FOLDER, and use those that are there")
    options = parsed(parser)
    need_udpipe()
    if options.models:
        options.models.mkdir(parents=True, exist_ok=True)
    tutte = Tutte()
    results = {}
    with tempfile.TemporaryDirectory(prefix="tutte-peers-") as folder:
        for name in options.treebanks:
            results[name] = compare(tutte, name, options, Path(folder))
    lines, missed = report(results, options, "crates/parser/benches/peers/pipelines.py")
    finish(lines, options.output, missed)


if __name__ == "__main__":
    main()
