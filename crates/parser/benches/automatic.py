#!/usr/bin/env python3
"""Measure what `tutte train` chooses by itself: the temperature without development data, and the set of trees.

For each treebank, trains with and without a development file, and with crossing and projective trees. Treebanks
without a training part are divided: the first four fifths of their dev part train, and the rest is the dev file. Needs
Python 3.9 or later without packages, and treebanks in $TUTTE_DATA. The exit code is 1 if a target is missed.
"""

import json
import tempfile
from pathlib import Path

from program import (
    DATA, Tutte, add_only, argument_parser, chosen, environment, finish, missed_lines, need, parsed, run, table, words,
)

# Folder and name.
TREEBANKS = [
    ("ud/english-partut", "English ParTUT"),
    ("ud/turkish-imst", "Turkish IMST"),
    ("ud/gothic-proiel", "Gothic PROIEL"),
    ("ud/french-partut", "French ParTUT"),
    ("ud/czech-cltt", "Czech CLTT"),
    ("ud/spanish-gsd", "Spanish GSD"),
    ("ud/arabic-padt", "Arabic PADT"),
    ("ud/slovenian-ssj", "Slovenian SSJ"),
    ("ud/ancient_greek-perseus", "Ancient Greek Perseus"),
    ("ud/czech-fictree", "Czech FicTree"),
    ("ud/dutch-alpino", "Dutch Alpino"),
    ("ud/danish-ddt", "Danish DDT"),
    ("ud/english-ewt", "English EWT"),
    ("ud/portuguese-bosque", "Portuguese Bosque"),
    ("ud/dutch-lassysmall", "Dutch LassySmall"),
]
# Most that the calibration error may grow if there is no development file.
ALLOWED = 0.015


def divided(file, folder):
    """Writes the first four fifths of the sentences of a file, and the rest, to two files."""
    sentences = [text for text in file.read_text(encoding="utf-8").split("\n\n") if text.strip()]
    cut = len(sentences) * 4 // 5
    parts = []
    for name, part in (("train", sentences[:cut]), ("dev", sentences[cut:])):
        path = folder / f"{name}.conllu"
        path.write_text("\n\n".join(part) + "\n\n", encoding="utf-8")
        parts.append(path)
    return parts


def measure(tutte, folder, treebank):
    """Returns the measurements on a treebank."""
    train, dev, test = (DATA / treebank / f"{part}.conllu" for part in ("train", "dev", "test"))
    need(dev, test)
    if not train.is_file():
        train, dev = divided(dev, folder)

    def trained(name, *options):
        model, system = folder / f"{name}.tutte", folder / f"{name}.conllu"
        tutte.train(train, model, "-j", 2, "--preset", "fast", *options)
        about = json.loads(run(tutte.program, "info", "--json", model).output)
        tutte.parse(model, test, system, "--tags", "file", "--probs")
        report = tutte.eval(test, system)
        return {
            "set": about["tree_set"],
            "temperature": about["temperature"],
            "LAS": 100 * report["metrics"]["LAS"]["f1"],
            "dev LAS": 100 * about["dev"]["las"] if about.get("dev") else None,
            "ECE": report["calibration"]["ece"]["value"],
        }

    with_dev = trained("with", "--dev", dev)
    without = trained("without", "--no-dev")
    # The choice does not depend on the development file, so one more training shows the other set.
    is_crossing = with_dev["set"].startswith("non")
    other = with_dev["set"].removeprefix("non") if is_crossing else "non" + with_dev["set"]
    of_other = trained("other", "--dev", dev, "--tree-set", other)
    crossing, projective = (with_dev, of_other) if is_crossing else (of_other, with_dev)
    return {
        "words": words(train), "with": with_dev, "without": without,
        "choice": "crossing" if is_crossing else "projective", "crossing": crossing, "projective": projective,
    }


def report(found):
    missed = []
    calibration, choices = [], []
    for treebank, name in TREEBANKS:
        if treebank not in found:
            continue
        it = found[treebank]
        grown = it["without"]["ECE"] - it["with"]["ECE"]
        if grown > ALLOWED:
            missed.append(f"{name}: the calibration error grows by {grown:.4f} without development data")
        calibration.append((
            name, f"{it['words']:,}",
            f"{it['with']['temperature']:.2f}", f"{it['without']['temperature']:.2f}",
            f"{it['with']['ECE']:.4f}", f"{it['without']['ECE']:.4f}", f"{grown:+.4f}",
            f"{it['with']['LAS']:.2f}", f"{it['without']['LAS']:.2f}",
        ))
        crossing, projective = it["crossing"], it["projective"]
        choices.append((
            name, it["choice"], f"{crossing['dev LAS']:.2f}", f"{projective['dev LAS']:.2f}",
            f"{crossing['LAS']:.2f}", f"{projective['LAS']:.2f}",
        ))
    lines = [
        "# What `tutte train` chooses by itself",
        "",
        "Written by `scripts/record-benchmarks automatic`; do not edit. Gold words and tags, `tutte train --with parser -j 2`,",
        "one seed. Treebanks whose training part is not at hand are divided: four fifths of the dev part train, the rest is",
        "the dev file. The preset is `fast`.",
        "",
        *environment(),
        "",
        "## Temperature without development data",
        "",
        "Temperature and expected calibration error (ECE) of the heads of the test file, after training with `--dev` and",
        f"without. Target: without a dev file the error grows by at most {ALLOWED}.",
        "",
        *table(
            ("", "train words", "T, dev", "T, without", "ECE, dev", "ECE, without", "difference",
             "LAS, dev", "LAS, without"),
            calibration,
        ),
        "",
        "## Set of trees",
        "",
        "LAS with crossing arcs (`nonprojective-single-root`, or `-multi-root`) and without (`projective-…`).",
        "`--tree-set auto` chooses by the accuracy of two small parsers on a part of the training file.",
        "",
        *table(("", "auto chooses", "dev, crossing", "dev, projective", "test, crossing", "test, projective"), choices),
        *missed_lines(missed),
    ]
    return lines, bool(missed)


def main():
    parser = argument_parser(__doc__)
    names = [it[0] for it in TREEBANKS]
    add_only(parser, names)
    options = parsed(parser)
    tutte = Tutte()
    found = {}
    for treebank in chosen(names, options):
        with tempfile.TemporaryDirectory() as folder:
            found[treebank] = measure(tutte, Path(folder), treebank)
        lines, missed = report(found)
        if options.output:
            # A run that is stopped leaves the page of the treebanks that are done.
            options.output.write_text("\n".join(lines) + "\n")
    finish(lines, options.output, missed)


if __name__ == "__main__":
    main()
