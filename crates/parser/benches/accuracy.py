#!/usr/bin/env python3
"""Measure accuracy and calibration of the parser on five treebanks.

Trains the default configuration with two threads, parses the test file and scores it, as a user would:
`tutte train`, `tutte parse --probs`, `tutte eval`. Needs Python 3.9 or later without packages, and treebanks in
$TUTTE_DATA. The exit code is 1 if a target is missed.
"""

import tempfile
from pathlib import Path

from program import (
    DATA, Tutte, add_only, argument_parser, chosen, environment, finish, need, parsed, table, words,
)

# Folder, name, minimum UAS and LAS, maximum expected calibration error.
TREEBANKS = [
    ("ud/english-ewt", "English EWT", 88.5, 86.6, 0.02),
    ("ud/portuguese-bosque", "Portuguese Bosque", 89.3, 86.7, 0.02),
    ("ud/turkish-imst", "Turkish IMST", 73.5, 65.3, 0.03),
    ("ud/gothic-proiel", "Gothic PROIEL", 86.7, 82.2, 0.02),
    ("conllx/danish", "Danish (CoNLL-X)", 89.4, 85.1, 0.02),
]


def part(folder, name):
    """Returns a file of a treebank, or None."""
    return next((path for path in sorted(folder.glob(f"{name}.conll*"))), None)


def measure(tutte, options, folder, treebank):
    """Returns the measurements on a treebank."""
    train, dev, test = (part(DATA / treebank, name) for name in ("train", "dev", "test"))
    need(train or DATA / treebank / "train.conllu", test or DATA / treebank / "test.conllu")
    # CoNLL-X has no column for probabilities, so the gold file is converted to CoNLL-U. The format is named because
    # features that are not in UD's form could be detected as CoNLL-X.
    conllu = ["--format", "conllu"]
    gold, model, system = (folder / name for name in ("gold.conllu", "model.tutte", "system.conllu"))
    tutte.convert(test, gold)
    settings = ["-j", 2, *(["--dev", dev] if dev else [])]
    settings += ["--passes", options.passes] if options.passes else []
    trained = tutte.train(train, model, *settings)
    tutte.parse(model, gold, system, "--probs", *conllu)
    report = tutte.eval(gold, system, *conllu)
    return {
        "words": words(train),
        "dev": dev is not None,
        "seconds": trained.seconds,
        "UAS": 100 * report["metrics"]["UAS"]["f1"],
        "LAS": 100 * report["metrics"]["LAS"]["f1"],
        "ECE": report["calibration"]["ece"]["value"],
        "Brier": report["calibration"]["brier"]["score"],
    }


def report(found, shown):
    missed = False
    rows = []
    for treebank, name, uas, las, ece in TREEBANKS:
        if treebank not in found:
            continue
        it = found[treebank]
        cells = []
        for key, target, met, digits in (
            ("UAS", uas, it["UAS"] >= uas, 2),
            ("LAS", las, it["LAS"] >= las, 2),
            ("ECE", ece, it["ECE"] <= ece, 4),
        ):
            value = f"{it[key]:.{digits}f}"
            cells += [f"**{value}**" if met else f"{value} (missed)", f"{target}"]
            missed |= not met
        dev = "yes" if it["dev"] else "no"
        rows.append((name, f"{it['words']:,}", dev, f"{it['seconds']:.0f}", *cells, f"{it['Brier']:.4f}"))
    lines = [
        "# Accuracy and calibration",
        "",
        f"Written by `{shown}`; do not edit. The default configuration, gold words and tags: `tutte train --with parser",
        "train --dev dev -j 2` (if there is a dev file), `tutte parse --probs` of the test file, `tutte eval`",
        "of all its words. ECE: expected calibration error of the probabilities of predicted heads, in 10",
        "bins of equal mass. Brier: mean of (probability − correct)². One seed.",
        "",
        *environment(),
        "",
        *table(
            ("", "train words", "dev", "training, s", "UAS", "at least", "LAS", "at least", "ECE",
             "at most", "Brier"),
            rows,
        ),
    ]
    return lines, missed


def main():
    parser = argument_parser(__doc__)
    names = [it[0] for it in TREEBANKS]
    add_only(parser, names)
    parser.add_argument("--passes", type=int, metavar="N",
                        help="passes over the treebank (default: as tutte train does)")
    options = parsed(parser, "table")
    tutte = Tutte()
    found = {}
    for treebank in chosen(names, options):
        with tempfile.TemporaryDirectory() as folder:
            found[treebank] = measure(tutte, options, Path(folder), treebank)
    lines, missed = report(found, "scripts/record-benchmarks accuracy")
    finish(lines, options.output, missed)


if __name__ == "__main__":
    main()
