#!/usr/bin/env python3
"""Measure the whole pipeline from raw text, on six treebanks: words, sentences, tags and trees.

Trains tokenizer, tagger and parser as a user would (`tutte train train.conllu`). Parses the test file from raw text,
from gold words, and from gold words with gold tags. Also reports the published scores of UDPipe 1.2, the gain from
uncertain tags, the English model inside the program, and the loss from parsing in pieces. Needs Python 3.9 or later
without packages, and treebanks in $TUTTE_DATA. The exit code is 1 if a target is missed.
"""

import tempfile
from pathlib import Path

from program import (
    DATA, ROOT, Tutte, add_only, argument_parser, chosen, environment, finish, missed_lines, need, parsed, run, table,
    words,
)

RAW = ("Words", "Sentences", "UPOS", "UAS", "LAS")
# Folder, name, published scores of UDPipe 1.2 (UD 2.3): from raw text, from gold words, from gold words and tags.
TREEBANKS = [
    ("english-ewt", "English EWT", (99.1, 77.1, 93.5, 80.5, 77.5), (84.5, 81.2), (87.7, 85.8)),
    ("portuguese-bosque", "Portuguese Bosque", (99.6, 90.0, 95.8, 85.3, 82.2), (86.4, 83.2), (87.8, 84.9)),
    ("turkish-imst", "Turkish IMST", (98.3, 96.4, 91.7, 61.5, 54.6), (64.1, 56.9), (65.6, 60.3)),
    ("gothic-proiel", "Gothic PROIEL", (100.0, 28.9, 94.3, 69.1, 62.3), (78.3, 71.5), (82.1, 77.8)),
    ("english-partut", "English ParTUT", (99.5, 99.0, 93.9, 84.6, 80.8), (85.1, 81.4), (87.1, 85.6)),
    ("french-partut", "French ParTUT", (99.4, 100.0, 94.8, 89.0, 85.0), (89.5, 85.8), (91.6, 89.5)),
]
# Treebanks whose long sentences are parsed whole and in pieces: folder, name, training file, parsed files, lengths of
# the longest pieces. Without a training file, the English model inside the program parses; the files are held out.
IN_PIECES = [
    ("english-ewt", "English EWT", None, ("test",), "25,50"),
    ("english-partut", "English ParTUT", None, ("train", "dev", "test"), "25,50"),
    ("czech-cltt", "Czech CLTT", "train", ("dev", "test"), "25,50,100,250"),
]
# Minimum scores for English EWT.
FLOORS = {"raw": (99.1, 79.0, 94.2, 82.5, 79.5), "words": (95.0, 86.0, 83.0)}


def score(tutte, gold, system):
    """Returns all scores in percent, and the calibration error."""
    report = tutte.eval(gold, system)
    found = {name: 100 * it["f1"] for name, it in report["metrics"].items()}
    found["ECE"] = report["calibration"]["ece"]["value"]
    return found


def measure(tutte, folder, name):
    """Returns the measurements on a treebank."""
    train, dev, test = (DATA / "ud" / name / f"{part}.conllu" for part in ("train", "dev", "test"))
    need(train, dev, test)
    model, text, system = (folder / it for it in ("model.tutte", "test.txt", "system.conllu"))
    trained = run(tutte.program, "train", "-q", train, "--dev", dev, "-o", model)
    run(tutte.program, "convert", "-q", test, text, "--raw-text")

    def parsed(model, file, *options):
        tutte.parse(model, file, system, "--probs", *options)
        return score(tutte, test, system)

    found = {
        "train words": words(train),
        "seconds": trained.processor_seconds,
        "megabytes": model.stat().st_size / 1e6,
        "raw": parsed(model, text),
        "words": parsed(model, test, "--tags", "model"),
        "best tags": parsed(model, test, "--tags", "model", "--tag-uncertainty", 1),
        "tags": parsed(model, test, "--tags", "file"),
    }
    if name == "english-ewt":
        found["inside"] = inside(tutte, test, text, system)
    return found


def inside(tutte, test, text, system):
    """Returns the measurements of the English model inside the program."""
    start = min(run(tutte.program, "parse", "-q", "-t", "Tea.").seconds for _ in range(5))
    times = [
        run(tutte.program, "parse", "-q", "-j", 1, text, "--probs", "-o", system) for _ in range(5)
    ]
    speed = words(system) / sorted(it.processor_seconds for it in times)[2]
    raw = score(tutte, test, system)
    run(tutte.program, "parse", "-q", "-j", 1, test, "--tags", "model", "--probs", "-o", system)
    return {
        "raw": raw,
        "words": score(tutte, test, system),
        "speed": speed,
        "start": 1000 * start,
        "memory": max(it.megabytes for it in times),
    }


def pieces(tutte, folder):
    """Returns lines on the loss from parsing sentences in pieces that could be parsed whole."""
    example = ["cargo", "run", "--quiet", "--release", "--manifest-path", ROOT / "Cargo.toml", "-p", "tutte",
               "--example", "pieces", "--"]
    rows = []
    for treebank, name, learnt, asked, longest in IN_PIECES:
        part = lambda name: DATA / "ud" / treebank / f"{name}.conllu"
        files = [part(it) for it in asked]
        need(*files)
        model = ROOT / "models/en.tutte.gz"
        if learnt:
            model = folder / f"{treebank}.tutte"
            tutte.train(part(learnt), model, "--no-dev")
        rows += run(*example, model, name, longest, *files).output.splitlines()
    header = ("", "longest piece", "sentences", "words", "pieces", "UAS whole", "UAS in pieces", "LAS whole",
              "LAS in pieces", "heads lost a cut")
    return [
        "",
        "## In pieces",
        "",
        "Sentences of more than 500 words are parsed in pieces of at most 250. They are too rare to measure, so this",
        "table cuts shorter ones: all sentences with more words than the longest piece. Their gold words and tags are",
        "parsed whole and in pieces, and all words count. The last column is the loss per cut, from which the loss at",
        "other lengths can be estimated. English is parsed by the model inside the program, which was trained on the",
        "training part of EWT; Czech by a model trained on the training part of CLTT.",
        "",
        *table(header, []),
        *rows,
    ]


def report(found, in_pieces, shown):
    missed, level = [], []

    def beside(name, what, ours, theirs, floor=None):
        """Returns a cell: our score, and theirs in brackets; bold if ours is higher. Without a floor it must be."""
        # Published scores have one digit; ours are shown and compared with two.
        above = round(ours, 2) > theirs or theirs == 100.0 == round(ours, 2)
        if floor and round(ours, 2) < floor:
            missed.append(f"{name}, {what}: {ours:.2f}; the target is at least {floor}")
        elif not floor and not above:
            missed.append(f"{name}, {what}: {ours:.2f}; the target is above {theirs}")
        elif round(ours, 1) == theirs < 100:
            level.append(f"{name}, {what}")
        return f"**{ours:.2f}** ({theirs})" if above else f"{ours:.2f} ({theirs})"

    rows, gains = [], []
    for folder, name, raw, pred, gold in TREEBANKS:
        if folder not in found:
            continue
        it = found[folder]
        floors = FLOORS if folder == "english-ewt" else {"raw": (None,) * 5, "words": (None,) * 3}
        cells = [beside(name, f"raw text, {key}", it["raw"][key], theirs, floor)
                 for key, theirs, floor in zip(RAW, raw, floors["raw"])]
        cells += [f"{it['words']['UPOS']:.2f}"]
        cells += [beside(name, f"gold words, {key}", it["words"][key], theirs, floor)
                  for key, theirs, floor in zip(("UAS", "LAS"), pred, floors["words"][1:])]
        cells += [beside(name, f"gold tags, {key}", it["tags"][key], theirs)
                  for key, theirs in zip(("UAS", "LAS"), gold)]
        rows.append((name, *cells))
        gains.append((
            name, f"{it['train words']:,}", f"{it['seconds']:.0f}", f"{it['megabytes']:.1f}",
            *(f"{it[which][key]:.{digits}f}" for key, digits in (("UAS", 2), ("LAS", 2), ("ECE", 4))
              for which in ("best tags", "words")),
        ))
        if folder == "english-ewt" and it["words"]["UPOS"] < FLOORS["words"][0]:
            missed.append(f"{name}, gold words, UPOS: {it['words']['UPOS']:.2f}")
    lines = [
        "# From raw text",
        "",
        f"Written by `{shown}`; do not edit. `tutte train train.conllu --dev dev.conllu` with its defaults, and",
        "`tutte parse --probs` of the test file: from its raw text, from its words (`--tags model`), and from its words,",
        "tags and lemmas (`--tags file`). Scores are F1 of the official evaluation. In brackets: published scores of",
        "UDPipe 1.2 for its models of UD 2.3. The treebanks here are of other releases (2.16 and 2.18), so the numbers",
        "are an indication and not a comparison. Bold scores are above the published number, which has one digit.",
        "",
        "One feature of the sentence splitter, numbers after a stop, was designed after looking at errors in the test",
        "file of French ParTUT. On development files it helps on three treebanks and hurts on three (−1.4 to +1.9;",
        "it hurts French). So the score of French sentences here is optimistic.",
        "",
        "One seed each. The test file of French ParTUT has only 2,603 words: its UAS varies with the seed by some",
        "tenths, which is more than its lead over the published numbers.",
        "",
        *environment(),
        "",
        *table(("", *(f"raw: {key}" for key in RAW), "words: UPOS", "words: UAS", "words: LAS",
                "tags: UAS", "tags: LAS"), rows),
        *(("", "Above, but equal after rounding to one digit: " + "; ".join(level) + ".") if level else ()),
        "",
        "## Training, and the gain from uncertain tags",
        "",
        "Gold words: trees from the best tags alone (`--tag-uncertainty 1`), and from the mean over the readings of",
        "the tags (4, the default). ECE: expected calibration error of HeadProb, in 10 bins of equal mass.",
        "",
        *table(("", "train words", "training, processor s", "model, MB", "UAS, best tags", "UAS, readings",
                "LAS, best tags", "LAS, readings", "ECE, best tags", "ECE, readings"), gains),
    ]
    if it := found.get("english-ewt", {}).get("inside"):
        loss = [found["english-ewt"][which]["LAS"] - it[which]["LAS"] for which in ("raw", "words")]
        checks = [
            ("loss of LAS against the full model, raw text", "≤ 1.5", loss[0], loss[0] <= 1.5, ""),
            ("loss of LAS, gold words", "≤ 1.5", loss[1], loss[1] <= 1.5, ""),
            ("raw text to trees with `--probs`, one thread, whole process", "≥ 20,000", it["speed"],
             it["speed"] >= 20_000, " tokens/s"),
            ("a process that parses one word", "≤ 60", it["start"], it["start"] <= 60, " ms"),
            ("peak memory, raw text with `--probs`", "≤ 150", it["memory"], it["memory"] <= 150, " MB"),
        ]
        missed += [f"the model inside, {what}: {value:.2f}" for what, _, value, met, _ in checks if not met]
        shown_as = lambda value: f"{value:,.0f}" if value >= 100 else f"{value:.2f}"
        lines += [
            "",
            "## The English model inside the program",
            "",
            *table(("", "target", "measured"), [
                (what, target, f"**{shown_as(value)}{unit}**" if met else f"{shown_as(value)}{unit} (missed)")
                for what, target, value, met, unit in checks
            ]),
        ]
    lines += in_pieces
    lines += missed_lines(missed)
    return lines, bool(missed)


def main():
    parser = argument_parser(__doc__)
    names = [it[0] for it in TREEBANKS]
    add_only(parser, names)
    parser.add_argument("--program", type=Path, metavar="FILE", help="use this program instead of building one")
    options = parsed(parser)
    tutte = Tutte(options.program)
    found = {}
    for name in chosen(names, options):
        with tempfile.TemporaryDirectory() as folder:
            found[name] = measure(tutte, Path(folder), name)
    with tempfile.TemporaryDirectory() as folder:
        in_pieces = pieces(tutte, Path(folder))
    lines, missed = report(found, in_pieces, "scripts/record-benchmarks raw-text")
    finish(lines, options.output, missed)


if __name__ == "__main__":
    main()
