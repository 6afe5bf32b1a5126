#!/usr/bin/env python3
"""Measure what `tutte train` chooses by itself: the temperature without development data, and the set of trees.

For each treebank, trains with and without a development file, and with crossing and projective trees. Treebanks
without a training or a dev part are divided: the first four fifths of the part at hand train, and the rest is the dev
file. With `--only` or `--without-dev`, numbers that are not measured again are those of the page, which says so. Needs
Python 3.9 or later without packages, and treebanks in $TUTTE_DATA. The exit code is 1 if a target is missed.
"""

import json
import sys
import tempfile
from datetime import date
from pathlib import Path

from program import (
    DATA, Tutte, add_only, argument_parser, chosen, environment, finish, missed_lines, need, parsed, run, table, words,
)

# Folder, with a language where it has several, and name.
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
    ("conllx/danish", "Danish (CoNLL-X)"),
    ("conllx/dutch", "Dutch (CoNLL-X)"),
    ("conll2007/spanish", "Spanish (CoNLL 2007)"),
    ("parallel/danish-english-cdt:en", "English CDT"),
]
# Converted files have no comments, by which they would be recognised.
FORMAT = ("--format", "conllu")
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


def numbers_of(page):
    """Returns the measurements that a page shows."""
    if not page or not page.is_file():
        return {}
    names = {name: treebank for treebank, name in TREEBANKS}
    found, day = {}, None
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("- date: "):
            day = line.removeprefix("- date: ")
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        if name not in names:
            continue
        it = found.setdefault(names[name], {})
        if len(cells) in (8, 9):
            cells = [cell.replace(",", "") for cell in cells]
            # Pages before this column have none.
            it["recorded"] = cells.pop() if len(cells) == 9 else day
            number, warm, cold, warm_ece, cold_ece, _, warm_las, cold_las = cells
            it["words"] = int(number)
            for key, values in (("with", (warm, warm_ece, warm_las)), ("without", (cold, cold_ece, cold_las))):
                it[key] = dict(zip(("temperature", "ECE", "LAS"), map(float, values)))
        else:
            it["choice"], it["without"]["choice"], *cells = cells
            values = [float(cell) for cell in cells]
            it["crossing"], it["projective"] = ({"dev LAS": dev, "LAS": test} for dev, test in zip(values[:2], values[2:]))
    return found


def shown(tree_set):
    return "crossing" if tree_set.startswith("non") else "projective"


def other_set(tree_set):
    return tree_set.removeprefix("non") if tree_set.startswith("non") else "non" + tree_set


def parts(tutte, treebank, folder):
    """Returns the training, dev and test files of a treebank as CoNLL-U."""
    found = {}
    name, _, language = treebank.partition(":")
    for part in ("train", "dev", "test"):
        stem = f"{part}.{language}" if language else part
        conllu, conllx = (DATA / name / f"{stem}.{ending}" for ending in ("conllu", "conll"))
        if conllu.is_file():
            found[part] = conllu
        elif conllx.is_file():
            found[part] = folder / f"{part}-converted.conllu"
            tutte.convert(conllx, found[part])
    if "test" not in found or len(found) == 1:
        need(*(DATA / treebank / f"{part}.conllu" for part in ("dev", "test")))
    if len(found) == 2:
        found["train"], found["dev"] = divided(found.get("train") or found["dev"], folder)
    return found["train"], found["dev"], found["test"]


def measure(tutte, folder, treebank, known):
    """Returns the measurements on a treebank. Only the training without a dev file is new if the others are known."""
    train, dev, test = parts(tutte, treebank, folder)

    def trained(name, *options):
        model, system = folder / f"{name}.tutte", folder / f"{name}.conllu"
        tutte.train(train, model, "-j", 2, "--preset", "fast", *FORMAT, *options)
        about = json.loads(run(tutte.program, "info", "--json", model).output)
        tutte.parse(model, test, system, "--tags", "file", "--probs", *FORMAT)
        report = tutte.eval(test, system, *FORMAT)
        return {
            "set": about["tree_set"],
            "temperature": about["temperature"],
            "LAS": 100 * report["metrics"]["LAS"]["f1"],
            "dev LAS": 100 * about["dev"]["las"] if about.get("dev") else None,
            "ECE": report["calibration"]["ece"]["value"],
        }

    without = trained("without", "--no-dev")
    without["choice"] = shown(without["set"])
    if known:
        return {**known, "without": without, "recorded": str(date.today())}
    with_dev = trained("with", "--dev", dev)
    of_other = trained("other", "--dev", dev, "--tree-set", other_set(with_dev["set"]))
    is_crossing = with_dev["set"].startswith("non")
    crossing, projective = (with_dev, of_other) if is_crossing else (of_other, with_dev)
    return {
        "words": words(train), "with": with_dev, "without": without, "recorded": str(date.today()),
        "choice": shown(with_dev["set"]), "crossing": crossing, "projective": projective,
    }


def report(found):
    missed = []
    calibration, choices = [], []
    for treebank, name in TREEBANKS:
        if treebank not in found:
            continue
        it = found[treebank]
        # Of the numbers on the page, so that a page that is measured in parts agrees with itself.
        grown = round(it["without"]["ECE"], 4) - round(it["with"]["ECE"], 4)
        if grown > ALLOWED:
            missed.append(f"{name}: the calibration error grows by {grown:.4f} without development data")
        calibration.append((
            name, f"{it['words']:,}",
            f"{it['with']['temperature']:.2f}", f"{it['without']['temperature']:.2f}",
            f"{it['with']['ECE']:.4f}", f"{it['without']['ECE']:.4f}", f"{grown:+.4f}".replace("-0.0000", "+0.0000"),
            f"{it['with']['LAS']:.2f}", f"{it['without']['LAS']:.2f}", it["recorded"],
        ))
        crossing, projective = it["crossing"], it["projective"]
        choices.append((
            name, it["choice"], it["without"]["choice"], f"{crossing['dev LAS']:.2f}", f"{projective['dev LAS']:.2f}",
            f"{crossing['LAS']:.2f}", f"{projective['LAS']:.2f}",
        ))
    lines = [
        "# What `tutte train` chooses by itself",
        "",
        "Written by `scripts/record-benchmarks automatic`; do not edit. Gold words and tags, `tutte train --with parser -j 2`,",
        "one seed. Treebanks without a training part or a dev part are divided: four fifths of the part at hand train, the",
        "rest is the dev file. The preset is `fast`.",
        "",
        *environment(),
        "- each row has the day it was recorded",
        "",
        "## Temperature without development data",
        "",
        "Temperature and expected calibration error (ECE) of the heads of the test file, after training with `--dev` and",
        f"without. Target: without a dev file the error grows by at most {ALLOWED}. Each training chooses its set of trees",
        "itself; the second table shows where the two differ.",
        "",
        *table(
            ("", "train words", "T, dev", "T, without", "ECE, dev", "ECE, without", "difference",
             "LAS, dev", "LAS, without", "recorded"),
            calibration,
        ),
        "",
        "## Set of trees",
        "",
        "LAS with crossing arcs (`nonprojective-single-root`, or `-multi-root`) and without (`projective-…`).",
        "`--tree-set auto` keeps crossing trees if more than 0.7 % of all arcs cross others. Otherwise it chooses by the accuracy",
        "of two small parsers on the dev file, or else on a part of the training file.",
        "",
        *table(("", "auto, with dev", "auto, without", "dev, crossing", "dev, projective", "test, crossing", "test, projective"), choices),
        *missed_lines(missed),
    ]
    return lines, bool(missed)


def main():
    parser = argument_parser(__doc__)
    names = [it[0] for it in TREEBANKS]
    add_only(parser, names)
    parser.add_argument("--without-dev", action="store_true",
                        help="train without a dev file only; the other numbers are those of the page")
    parser.add_argument("--program", type=Path, metavar="FILE", help="use this program instead of building one")
    options = parsed(parser)
    found = numbers_of(options.output) if options.only or options.without_dev else {}
    if options.without_dev and not set(chosen(names, options)) <= set(found):
        sys.exit("--without-dev needs a page with all numbers of these treebanks; name it with --output")
    tutte = Tutte(options.program)
    for treebank in chosen(names, options):
        known = found[treebank] if options.without_dev else None
        with tempfile.TemporaryDirectory() as folder:
            found[treebank] = measure(tutte, Path(folder), treebank, known)
        lines, missed = report(found)
        if options.output:
            # A run that is stopped leaves the page of the treebanks that are done.
            options.output.write_text("\n".join(lines) + "\n")
    finish(lines, options.output, missed)


if __name__ == "__main__":
    main()
