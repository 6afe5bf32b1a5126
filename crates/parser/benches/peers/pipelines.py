#!/usr/bin/env python3
"""Compare tutte with UDPipe 1 (ufal.udpipe on PyPI) from raw text to trees, on the same treebanks.

Both train tokenizer, tagger and parser on the same file, with the same development file, and parse the raw text of the
same test file. One thread each, one training run. Parsing runs take turns, and the shortest time counts. Times are
processor times, which depend less on other load. README.md in this folder lists the settings. The exit code is 1 if
a target ratio or score is missed.
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

# Training, development and test file of each treebank; the data has no training file of Danish.
TREEBANKS = {
    "danish-ddt": ("dev", None, "test"),
    "french-partut": ("train", "dev", "test"),
    "turkish-imst": ("train", "dev", "test"),
}
SCORES = ("Words", "Sentences", "UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS")
# Target ratios of speed by preset, and scores that must be higher than those of UDPipe.
TRAINING, RUNNING = dict.fromkeys(PRESETS, 10), dict.fromkeys(PRESETS, 1)
WANTED = ("UAS", "LAS")


def compare(tutte, name, options, folder):
    """Returns the measurements of each program."""
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
    """Returns the model of UDPipe and its training time: from the folder, or newly trained."""
    model, seconds = folder / f"{name}.udpipe", folder / f"{name}.udpipe.seconds"
    if not seconds.exists():
        took = run(sys.executable, RUNNER, "train-pipeline", train, dev or "-", model)
        seconds.write_text(f"{took.processor_seconds}\n")
    return {"model": model, "train s": float(seconds.read_text())}


def rows(found):
    """Returns the rows of the table, and the missed targets."""
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
        f"Written by `{command}`; do not edit. Tokenizer, tagger and parser, trained on the same file with the",
        "same development file (Danish: none), and run on the raw text of the same test file. Scores are F1 of the",
        "official evaluation, bold where tutte is higher. One thread each. Seconds are processor time of whole",
        "processes, with start and loading the model. Trees of tutte are means over four readings of the tags.",
        "One feature of tutte's sentence splitter was designed after looking at errors in the French test file, so",
        "that score is optimistic.",
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
            f"{sizes[0]:,} training words, {sizes[1]:,} words to find and parse.",
            "",
            *table(("", "UDPipe 1", *(f"tutte, {preset}" for preset in PRESETS)), cells),
        ]
    lines += missed_lines(missed)
    return lines, bool(missed)


def main():
    parser = argument_parser(__doc__)
    names = list(TREEBANKS)
    add_options(parser, names, f"treebanks to use: {', '.join(names)} (default: all)")
    parser.add_argument("--models", type=Path, metavar="FOLDER",
                        help="keep models and training times of UDPipe in FOLDER, and reuse those in it")
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
