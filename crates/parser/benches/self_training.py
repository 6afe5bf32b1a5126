#!/usr/bin/env python3
"""Measure whether a `default` parser can teach a `compact` one on raw text, without an encoder.

The first 2,000 sentences of a training file are the treebank; of the others only the text is used. A teacher of the
preset default and a student of the preset compact learn from the treebank. A second student also learns from the
teacher's answers to the text (`tutte distil`), a third from all trees of the training file. All choose their best
pass on the development file, and parse the test file, from gold words and from raw text. Needs Python 3.9 or later
without packages, and the treebanks in $TUTTE_DATA. Takes about ten minutes on two cores.
"""

import json
import tempfile
from pathlib import Path

from program import DATA, Tutte, add_only, argument_parser, chosen, environment, finish, need, parsed, run, table, words

TREEBANKS = ["portuguese-bosque", "turkish-imst"]
GOLD_SENTENCES = 2000
SCORES = ("UPOS", "Lemmas", "UAS", "LAS")
ABOUT = [
    "Does a `default` teacher help a `compact` student on raw text, for languages without an encoder? The treebank is the",
    f"first {GOLD_SENTENCES:,} sentences of the training file. The text is that of its other sentences. The last student",
    "learns from the trees of these, too: more cannot be expected of the answers. Scores of the test file, from gold words",
    "with the model's own tags, and from raw text. ECE: expected calibration error of HeadProb. One seed.",
]
ALONE, TAUGHT = "compact, treebank alone", "compact, treebank and answers"


def split(path, gold, rest):
    """Writes the first sentences of a file to `gold`, and the others to `rest`."""
    sentences = 0
    with open(path, encoding="utf-8") as file, open(gold, "w", encoding="utf-8") as first, \
            open(rest, "w", encoding="utf-8") as others:
        for line in file:
            (first if sentences < GOLD_SENTENCES else others).write(line)
            sentences += not line.strip()


def train_models(tutte, treebank, folder):
    """Trains the models of a treebank. Returns their files by name, and the numbers of words."""
    train, dev = (DATA / f"ud/{treebank}/{part}.conllu" for part in ("train", "dev"))
    need(train, dev)
    gold, rest, text = (folder / name for name in ("gold.conllu", "rest.conllu", "rest.txt"))
    split(train, gold, rest)
    run(tutte.program, "convert", "-q", rest, text, "--raw-text")
    models = {
        "default, treebank alone (the teacher)": folder / "teacher.tutte",
        ALONE: folder / "alone.tutte",
        TAUGHT: folder / "taught.tutte",
        "compact, all trees": folder / "all.tutte",
    }
    teacher, alone, taught, all_trees = models.values()
    for file, preset, model in ((gold, "default", teacher), (gold, "compact", alone), (train, "compact", all_trees)):
        run(tutte.program, "train", "-q", file, "--dev", dev, "--preset", preset, "-o", model)
    run(tutte.program, "distil", "-q", "--teacher", teacher, text, "-i", "text", "--gold", gold, "--dev", dev,
        "--preset", "compact", "-o", taught)
    return models, words(gold), words(rest)


def measure(tutte, models, test, folder):
    """Returns the scores of all models, and the p-value of the difference of LAS between the students."""
    text = folder / "test.txt"
    run(tutte.program, "convert", "-q", test, text, "--raw-text")
    found, outputs = {}, {}
    for source, file, options in (("words", test, ["--tags", "model"]), ("raw", text, [])):
        for name, model in models.items():
            outputs[source, name] = folder / f"{model.stem}.{source}.conllu"
            tutte.parse(model, file, outputs[source, name], "--probs", *options)
            report = tutte.eval(test, outputs[source, name])
            found[source, name] = {score: 100 * report["metrics"][score]["f1"] for score in SCORES}
            found[source, name]["ECE"] = report["calibration"]["ece"]["value"]
    # Raw text gives other sentences, so only gold words are compared one by one.
    pair = [outputs["words", name] for name in (ALONE, TAUGHT)]
    report = json.loads(run(tutte.program, "eval", "-q", "--json", test, *pair).output)
    return found, report["significance"][0]["las"]["permutation"]["p"]


def section(treebank, found, p, gold_words, text_words):
    """Returns the lines about a treebank, and the difference of LAS with its p-value."""
    rows = []
    for name in dict.fromkeys(name for _, name in found):
        given, raw = found["words", name], found["raw", name]
        rows.append((name, *(f"{given[score]:.2f}" for score in SCORES), f"{given['ECE']:.4f}",
                     f"{raw['UPOS']:.2f}", f"{raw['UAS']:.2f}", f"{raw['LAS']:.2f}"))
    change = {source: found[source, TAUGHT]["LAS"] - found[source, ALONE]["LAS"] for source in ("words", "raw")}
    lines = [
        "",
        f"## {treebank}",
        "",
        f"{gold_words:,} words with trees, {text_words:,} words of text.",
        "",
        *table(("", *(f"words: {score}" for score in SCORES), "words: ECE", "raw: UPOS", "raw: UAS", "raw: LAS"), rows),
        "",
        f"The answers change the LAS of the student by {change['words']:+.2f} from gold words (p = {p:.4f}) and by"
        f" {change['raw']:+.2f} from raw text.",
    ]
    return lines, (change["words"], p)


def verdict(changes):
    """Returns a sentence about all treebanks."""
    helped = [name for name, (change, p) in changes.items() if change > 0 and p < 0.05]
    hurt = [name for name, (change, p) in changes.items() if change < 0 and p < 0.05]
    listed = lambda names: ", ".join(names) if names else "none"
    return (f"From gold words, the answers make the student significantly better (p < .05) on: {listed(helped)};"
            f" significantly worse on: {listed(hurt)}.")


def main():
    parser = argument_parser(__doc__)
    add_only(parser, TREEBANKS)
    options = parsed(parser, "page")
    tutte = Tutte()
    lines, changes = [], {}
    for treebank in chosen(TREEBANKS, options):
        test = DATA / f"ud/{treebank}/test.conllu"
        need(test)
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            models, gold_words, text_words = train_models(tutte, treebank, folder)
            found, p = measure(tutte, models, test, folder)
        more, changes[treebank] = section(treebank, found, p, gold_words, text_words)
        lines += more
    finish([
        "# Self-training: a parser of features as teacher",
        "",
        "Written by `crates/parser/benches/self_training.py`; do not edit.",
        *ABOUT,
        "",
        *environment(),
        "",
        verdict(changes),
        *lines,
    ], options.output, False)


if __name__ == "__main__":
    main()
