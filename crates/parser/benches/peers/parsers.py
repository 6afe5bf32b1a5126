#!/usr/bin/env python3
"""Compare tutte with UDPipe 1 (ufal.udpipe on PyPI) on the same gold-tagged treebanks.

Both use one thread of the same machine. Parsing runs take turns, and the shortest time counts. README.md in this
folder lists the settings. The exit code is 1 if a target ratio is missed.
"""

import json
import platform
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from program import (
    DATA, Tutte, argument_parser, environment, finish, first_words, need, parsed, run, table, words,
)
from udpipe import PRESETS, RUNNER, Rows, add_options, need_udpipe

# Target ratios of speed, by preset: parsing and training.
PARSING, TRAINING = {"fast": 6}, {"fast": 50, "default": 50}
# Passes over the treebank besides those of the first and second pass of parsing: folds, each on all words but its
# own, and the pruner. The numbers are those of `TrainingOptions::fast` and `TrainingOptions::default`.
OTHER_PASSES = {"fast": 2 * (4 - 1), "default": 5 * (8 - 1) + 3}
BEAM = 5


def treebanks(options, folder):
    """Returns the training and test file of each treebank."""
    danish, english = DATA / "ud/danish-ddt", DATA / "ud/english-ewt"
    files = {
        "danish-ddt": (danish / "dev.conllu", danish / "test.conllu"),
        "english-ewt": (english / "train.conllu", english / "test.conllu"),
    }
    chosen = {name: files[name] for name in options.treebanks}
    for train, test in chosen.values():
        need(train, test)
    if "english-ewt" in chosen:
        train, test = chosen["english-ewt"]
        part = first_words(train, options.words, folder / "english-part.conllu")
        chosen["english-ewt"] = (part, test)
    return chosen


def compare(tutte, train, test, options, folder):
    """Returns the measurements of each program."""
    gold_tagged = folder / "test.conllu"
    tutte.strip_heads(test, gold_tagged)
    train_words, test_words = words(train), words(test)
    passes = options.passes
    found = {}

    model = folder / "udpipe.model"
    took = run(sys.executable, RUNNER, "train", train, model, passes)
    found["UDPipe"] = {"model": model, "train s": last_line(took)["train"], "train MB": took.megabytes}
    for preset in PRESETS:
        model = folder / f"{preset}.tutte"
        took = tutte.train(train, model, "--preset", preset, "--passes", passes, "-j", 1)
        found[preset] = {"model": model, "train s": took.seconds, "train MB": took.megabytes}

    for it in found.values():
        it["parse s"] = it["parse MB"] = float("inf")
    for _ in range(options.rounds):
        for name, it in found.items():
            output = folder / f"{name}.conllu"
            if name == "UDPipe":
                took = run(sys.executable, RUNNER, "parse", it["model"], gold_tagged, output, BEAM)
                seconds, calls = (last_line(took)[part] for part in ("parse", "calls"))
                it["calls s"] = min(it.get("calls s", calls), calls)
            else:
                took = tutte.parse(it["model"], gold_tagged, output)
                seconds = took.seconds
            it["parse s"] = min(it["parse s"], seconds)
            it["parse MB"] = min(it["parse MB"], took.megabytes)
    for name, it in found.items():
        it["UAS"], it["LAS"] = tutte.scores(test, folder / f"{name}.conllu")
        it["tokens/s"] = test_words / it["parse s"]
        it["passes"] = 2 * passes + OTHER_PASSES[name] if name in PRESETS else passes
        it["train µs"] = 1e6 * it["train s"] / train_words / it["passes"]
        it["model MB"] = it["model"].stat().st_size / 1e6
    return found


def last_line(took):
    return json.loads(took.output.splitlines()[-1])


def rows(found):
    """Returns the rows of the table, and the missed targets."""
    rows = Rows(found)
    row, ratio, peer = rows.row, rows.ratio, rows.peer
    lines = [
        row("UAS", lambda it: f"{it['UAS']:.2f}"),
        row("LAS", lambda it: f"{it['LAS']:.2f}"),
        row("parsing, file to file, tokens/s", lambda it: f"{it['tokens/s']:,.0f}"),
        ratio("parsing, times faster", PARSING, lambda it: it["tokens/s"] / peer["tokens/s"]),
        row("training, s", lambda it: f"{it['train s']:.1f}"),
        ratio("training, times faster", {}, lambda it: peer["train s"] / it["train s"]),
        row("passes over the treebank", lambda it: f"{it['passes']}"),
        row("training, µs a token and pass", lambda it: f"{it['train µs']:,.1f}"),
        ratio("a token and pass, times faster", TRAINING, lambda it: peer["train µs"] / it["train µs"]),
        row("memory of parsing, MB", lambda it: f"{it['parse MB']:.0f}"),
        row("memory of training, MB", lambda it: f"{it['train MB']:.0f}"),
        row("model, MB", lambda it: f"{it['model MB']:.1f}"),
    ]
    return lines, rows.missed


def report(results, options, command):
    lines = [
        "# The parser and its peer",
        "",
        "Both train on the same treebank and parse the same file of gold words and tags into labelled",
        f"trees; one thread each, {options.passes} training passes. Parsing times are the shortest of",
        f"{options.rounds} rounds in which all take turns. Times of tutte are of the whole process, with",
        "its start and loading the model. Times of UDPipe leave out the start of Python and reading",
        "the training file. The number of passes includes all that a preset of tutte makes over the",
        "treebank: for the first and the second pass of parsing, for folds and for the pruner.",
        "",
        *environment(),
        f"- Python {platform.python_version()}, ufal.udpipe {version('ufal.udpipe')}: swap system, "
        f"beam {BEAM}, otherwise its defaults",
        f"- command: `{command}`",
    ]
    missed = False
    for name, (sizes, found) in results.items():
        cells, short = rows(found)
        missed |= bool(short)
        calls = sizes[1] / found["UDPipe"]["calls s"]
        lines += [
            "",
            f"## {name}",
            "",
            f"{sizes[0]:,} training words, {sizes[1]:,} words to parse. The parsing calls of UDPipe alone:",
            f"{calls:,.0f} tokens/s.",
            "",
            *table(("", f"UDPipe 1, beam {BEAM}", *(f"tutte, {preset}" for preset in PRESETS)), cells),
        ]
    return lines, missed


def main():
    parser = argument_parser(__doc__)
    add_options(parser, ["danish-ddt", "english-ewt"],
                "danish-ddt (trains on its dev file), english-ewt (trains on a part), or both")
    add_argument = parser.add_argument
    add_argument("--words", type=int, default=4_000, metavar="N",
                 help="training words of english-ewt (default: %(default)s)")
    add_argument("--passes", type=int, default=10, metavar="N",
                 help="training passes (default: %(default)s)")
    options = parsed(parser)
    need_udpipe()
    tutte = Tutte()
    results = {}
    with tempfile.TemporaryDirectory(prefix="tutte-peers-") as folder:
        for name, (train, test) in treebanks(options, Path(folder)).items():
            found = compare(tutte, train, test, options, Path(folder))
            results[name] = ((words(train), words(test)), found)
    shown = " ".join(["crates/parser/benches/peers/parsers.py", *sys.argv[1:]])
    lines, missed = report(results, options, shown)
    finish(lines, options.output, missed)


if __name__ == "__main__":
    main()
