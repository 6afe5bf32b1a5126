#!/usr/bin/env python3
"""Measure what factors of two arcs bring: accuracy, calibration and time, with and without, and part by part.

Trains the presets fast and default with and without factors on several treebanks, from gold words and tags, and compares
the test files by a paired permutation test. On Gothic, also leaves out each family, and runs belief propagation longer;
these runs are compared on the dev file. Needs Python 3.9 or later without packages, and treebanks in $TUTTE_DATA.
Outcomes are kept in target/factors.json, so that a run that was stopped continues. The exit code is 1 if factors make a
treebank worse.
"""

import json
import tempfile
from pathlib import Path

from program import (
    DATA, ROOT, Tutte, add_only, argument_parser, chosen, environment, finish, missed_lines, need, parsed, run, table,
)

# Folder, ending of its files, and name.
TREEBANKS = [
    ("ud/gothic-proiel", "conllu", "Gothic PROIEL"),
    ("ud/turkish-imst", "conllu", "Turkish IMST"),
    ("ud/french-partut", "conllu", "French ParTUT"),
    ("ud/english-partut", "conllu", "English ParTUT"),
    ("conllx/danish", "conll", "Danish (CoNLL-X)"),
    ("conllx/dutch", "conll", "Dutch (CoNLL-X)"),
    ("ud/dutch-lassysmall", "conllu", "Dutch LassySmall"),
    ("ud/portuguese-bosque", "conllu", "Portuguese Bosque"),
    ("ud/english-ewt", "conllu", "English EWT"),
]
# Converted files have no comments, by which they would be recognised.
FORMAT = ("--format", "conllu")
PRESETS = ["fast", "default"]
# The treebank of the ablation, and its trials: name, options, and families that are left out.
ABLATION = "ud/gothic-proiel"
FAMILIES = ["grandparent", "siblings", "sequence"]
ITERATIONS = [1, 2, 3, 5]
OUTCOMES = ROOT / "target/factors.json"
REPEATS = 3


class Lab:
    """Runs trials, and keeps their outcomes."""

    def __init__(self, tutte, is_busy):
        self.tutte = tutte
        self.is_busy = is_busy
        self.outcomes = json.loads(OUTCOMES.read_text()) if OUTCOMES.is_file() else {}

    def keep(self, name, outcome):
        self.outcomes[name] = outcome
        OUTCOMES.parent.mkdir(exist_ok=True)
        OUTCOMES.write_text(json.dumps(self.outcomes, indent=1))

    def files(self, treebank, folder):
        """Returns the training, dev and test files as CoNLL-U, which has room for probabilities."""
        ending = next(ending for name, ending, _ in TREEBANKS if name == treebank)
        files = [DATA / treebank / f"{part}.{ending}" for part in ("train", "dev", "test")]
        need(files[0], files[2])
        if ending == "conllu":
            return files
        converted = [folder / f"{file.stem}.conllu" for file in files]
        for file, to in zip(files, converted):
            if file.is_file():
                self.tutte.convert(file, to)
        return converted

    def trained(self, folder, name, files, preset, *options):
        """Trains a model, parses the test file, and returns the output and the resources."""
        train, dev, test = files
        model, system = folder / f"{name}.tutte", folder / f"{name}.conllu"
        held_out = ["--dev", dev] if dev.is_file() else ["--no-dev"]
        took = self.tutte.train(train, model, "-j", 2, "--preset", preset, *FORMAT, *held_out, *options)
        self.tutte.parse(model, test, system, "--tags", "file", "--probs", *FORMAT)
        if self.is_busy:
            return system, {}
        speed = self.tutte.bench(model, test, REPEATS)["fastest_words_per_second"]
        return system, {"seconds": took.processor_seconds, "tokens/s": speed}

    def compared(self, gold, first, second):
        """Returns the scores of two outputs, and the p-values of their difference."""
        report = json.loads(run(self.tutte.program, "eval", "-q", "--json", gold, first, second, *FORMAT).output)
        scores = [
            {"UAS": 100 * it["metrics"]["UAS"]["f1"], "LAS": 100 * it["metrics"]["LAS"]["f1"],
             "ECE": it["calibration"]["ece"]["value"],
             "complete": 100 * it["complete_match"]["unlabelled_share"]}
            for it in report["systems"]
        ]
        test = report["significance"][0]
        return scores, {name: test[name]["permutation"]["p"] for name in ("uas", "las")}

    def with_and_without(self, treebank, preset):
        name = f"{treebank} {preset}"
        if name in self.outcomes:
            return
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            files = self.files(treebank, folder)
            without, cost = self.trained(folder, "without", files, preset, "--factors", "none")
            with_factors, cost_with = self.trained(folder, "with", files, preset)
            scores, p = self.compared(files[2], without, with_factors)
        self.keep(name, {"without": {**scores[0], **cost}, "with": {**scores[1], **cost_with}, "p": p})

    def ablation(self):
        """Compares sets of factors on the dev file. The models choose their passes on it, so it flatters all of them."""
        train, dev, _ = self.files(ABLATION, None)
        trials = [("no factors", ["--factors", "none"])]
        trials += [(f"{n} iterations" if n > 1 else "1 iteration", ["--factor-iterations", n]) for n in ITERATIONS]
        trials += [(f"without {family}", None) for family in FAMILIES]
        for name, options in trials:
            key = f"ablation {name}"
            if key in self.outcomes:
                continue
            with tempfile.TemporaryDirectory() as folder:
                folder = Path(folder)
                if options is None:
                    family = name.split()[1]
                    templates = [line for line in standard_templates() if not line.startswith(family)]
                    (folder / "factors.txt").write_text("\n".join(templates) + "\n")
                    options = ["--factors", folder / "factors.txt"]
                system, cost = self.trained(folder, "model", (train, dev, dev), "default", *options)
                scores, _ = self.compared(dev, system, system)
            self.keep(key, {**scores[0], **cost})


def standard_templates():
    """Returns the default templates, from the source that defines them."""
    source = (ROOT / "crates/parser/src/features/factor_set.rs").read_text()
    start = source.index('const STANDARD: &str = "\\')
    return source[start:source.index('";', start)].splitlines()[1:]


def ratio(above, below, name):
    """Returns a ratio of times, or a dash if they were not measured, as on a busy machine."""
    return f"{above[name] / below[name]:.2f}" if name in above and name in below else "–"


def report(outcomes):
    missed, rows = [], []
    for treebank, _, name in TREEBANKS:
        for preset in PRESETS:
            it = outcomes.get(f"{treebank} {preset}")
            if not it:
                continue
            before, after, p = it["without"], it["with"], it["p"]
            for score in ("UAS", "LAS"):
                if after[score] < before[score]:
                    missed.append(f"{name}, {preset}: {score} falls from {before[score]:.2f} to {after[score]:.2f}")
            rows.append((
                name, preset,
                f"{before['UAS']:.2f} → {after['UAS']:.2f}", f"{p['uas']:.4f}",
                f"{before['LAS']:.2f} → {after['LAS']:.2f}", f"{p['las']:.4f}",
                f"{before['complete']:.1f} → {after['complete']:.1f}",
                f"{before['ECE']:.4f} → {after['ECE']:.4f}",
                ratio(after, before, "seconds"), ratio(before, after, "tokens/s"),
            ))
    ablation = [
        (name.removeprefix("ablation "), f"{it['UAS']:.2f}", f"{it['LAS']:.2f}", f"{it['complete']:.1f}",
         f"{it['ECE']:.4f}", f"{it['seconds']:.0f}" if "seconds" in it else "–")
        for name, it in outcomes.items() if name.startswith("ablation ")
    ]
    lines = [
        "# What factors of two arcs bring",
        "",
        "Written by `scripts/record-benchmarks factors`; do not edit. Gold words and tags, `tutte train --with parser`, one",
        "seed. The test file is parsed without factors (`--factors none`) → with those of the preset. p: paired permutation",
        "test over sentences. ECE: expected calibration error of heads. Times are ratios of processor time, with factors to",
        "without, measured one after the other: training, and parsing of the test file (`tutte bench`). A dash: the machine was",
        "busy. Treebanks that are not listed were not measured.",
        "",
        *environment(),
        "",
        *table(("", "preset", "UAS", "p", "LAS", "p", "complete match", "ECE", "training", "parsing"), rows),
    ]
    if ablation:
        lines += [
            "",
            "## Part by part",
            "",
            "Gothic PROIEL, preset `default`, dev file. The pass and the temperature were chosen on it, too. Iterations are those",
            "of belief propagation, in training and in parsing. The last column is processor time of the training.",
            "",
            *table(("", "UAS", "LAS", "complete match", "ECE", "seconds"), ablation),
        ]
    return [*lines, *missed_lines(missed)], bool(missed)


def main():
    parser = argument_parser(__doc__)
    names = [folder for folder, _, _ in TREEBANKS]
    add_only(parser, names)
    parser.add_argument("--program", type=Path, metavar="FILE", help="use this program instead of building one")
    parser.add_argument("--preset", action="append", choices=PRESETS, help="measure this preset only; repeatable")
    parser.add_argument("--busy", action="store_true", help="the machine is busy: measure no times")
    options = parsed(parser)
    lab = Lab(Tutte(options.program), options.busy)
    for treebank in chosen(names, options):
        for preset in options.preset or PRESETS:
            lab.with_and_without(treebank, preset)
            if options.output:
                options.output.write_text("\n".join(report(lab.outcomes)[0]) + "\n")
    if ABLATION in chosen(names, options) and not options.preset:
        lab.ablation()
    lines, missed = report(lab.outcomes)
    finish(lines, options.output, missed)


if __name__ == "__main__":
    main()
