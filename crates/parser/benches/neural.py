#!/usr/bin/env python3
"""Measure what to choose for English: the model inside the program, the presets, and a network over an encoder.

Trains the presets fast and default and a network on UD English EWT, as a user would, and parses the test file and
English PUD, from raw text and from gold words. Then draws accuracy against speed. Needs Python 3.9 or later without
packages, UD English EWT and PUD in $TUTTE_DATA, and the encoder that scripts/fetch-english-encoder fetches. Takes about
an hour; `--network MODEL` skips the training of the network, if `tutte train --encoder` has made MODEL before.
"""

import json
import math
import subprocess
import tempfile
from pathlib import Path
from statistics import median

from machine import built_program
from program import DATA, ROOT, argument_parser, environment, finish, need, parsed, run, table, words

FIGURE = ROOT / "docs/images/speed-accuracy.svg"
PLAIN_SENTENCES = ROOT / "../shared/tools/ordinary-english"
REPEATS = 3


class Program:
    """The program with networks."""

    def __init__(self):
        self.program = built_program(
            "--quiet", "--release", "-p", "tutte-cli", "--features", "neural", folder=ROOT
        )

    def __call__(self, *arguments):
        return run(self.program, *arguments)

    def eval(self, gold, system):
        return json.loads(self("eval", "-q", "--json", gold, system).output)["systems"][0]


def measure(tutte, model, folder):
    """Returns the measurements of a model; None is the one inside the program."""
    named = ["-m", model] if model else []
    english, pud = DATA / "ud/english-ewt/test.conllu", DATA / "ud/english-pud/test.conllu"
    need(english, pud)
    found = {}
    for name, gold in (("EWT", english), ("PUD", pud)):
        text, system = folder / f"{name}.txt", folder / f"{name}.conllu"
        tutte("convert", "-q", gold, text, "--raw-text")
        for source, file, options in (("raw", text, []), ("words", gold, ["--tags", "model"])):
            times = []
            for _ in range(REPEATS if source == "raw" else 1):
                took = tutte("parse", "-q", "-j", 1, *named, file, "--probs", "-o", system, *options)
                times.append(took.processor_seconds)
            report = tutte.eval(gold, system)
            it = {score: 100 * report["metrics"][score]["f1"] for score in ("UPOS", "UAS", "LAS", "CLAS")}
            it["ECE"] = report["calibration"]["ece"]["value"]
            it["tokens/s"] = words(gold) / median(times)
            found[name, source] = it
    if PLAIN_SENTENCES.is_file():
        command = [PLAIN_SENTENCES, tutte.program, *map(str, named)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found["plain"] = done.stdout.strip().splitlines()[-1]
    found["MB"] = (model or ROOT / "models/en.tutte.gz").stat().st_size / 1e6
    return found


def figure(found):
    """Returns a drawing of accuracy against speed."""
    points = [(name, it["EWT", "raw"]["tokens/s"], it["EWT", "raw"]["LAS"]) for name, it in found.items()]
    low, high = math.floor(min(y for *_, y in points)) - 0.5, math.ceil(max(y for *_, y in points)) + 0.5
    left, right = 1e3, 1e5
    x = lambda speed: 70 + 500 * math.log(speed / left) / math.log(right / left)
    y = lambda las: 300 - 260 * (las - low) / (high - low)
    text = '<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>'
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 350" width="640" height="350"'
        ' font-family="sans-serif" font-size="12">',
        "<title>LAS on English EWT from raw text, against tokens per second on one core</title>",
        '<rect width="640" height="350" fill="white"/>',
    ]
    for speed in (1e3, 3e3, 1e4, 3e4, 1e5):
        lines.append(f'<path d="M{x(speed):.1f} 40V300" stroke="#ddd"/>')
        lines.append(text.format(x(speed), 318, "middle", f"{speed:,.0f}"))
    for las in range(math.ceil(low), math.floor(high) + 1):
        lines.append(f'<path d="M70 {y(las):.1f}H570" stroke="#ddd"/>')
        lines.append(text.format(62, y(las) + 4, "end", las))
    lines.append(text.format(320, 340, "middle", "tokens per second, one core, raw text with probabilities"))
    lines.append(text.format(70, 24, "start", "LAS, English EWT test, raw text"))
    for name, speed, las in points:
        lines.append(f'<circle cx="{x(speed):.1f}" cy="{y(las):.1f}" r="5" fill="#1f6f8b"/>')
        lines.append(text.format(x(speed) + 9, y(las) + 4, "start", name))
    return "\n".join([*lines, "</svg>", ""])


def report(found, encoder):
    rows = []
    for name, it in found.items():
        raw, given, pud = it["EWT", "raw"], it["EWT", "words"], it["PUD", "raw"]
        rows.append((
            name, f"{given['UAS']:.2f}", f"{given['LAS']:.2f}", f"{given['ECE']:.4f}", f"{raw['UAS']:.2f}",
            f"{raw['LAS']:.2f}", f"{pud['UAS']:.2f}", f"{pud['LAS']:.2f}", f"{pud['ECE']:.4f}",
            f"{raw['tokens/s']:,.0f}", f"{it['MB']:.1f}", it.get("plain", "–"),
        ))
    return [
        "# What to choose for English",
        "",
        "Written by `crates/parser/benches/neural.py`; do not edit. All models learn from UD English EWT 2.16 (204,577",
        "words). The test file of EWT is parsed from gold words with the model's own tags, and from raw text; English PUD,",
        "another kind of text, from raw text. ECE: expected calibration error of HeadProb. Speed: `tutte parse -j 1 --probs`",
        f"of raw text, processor time of the whole process, median of {REPEATS}. Plain sentences: those of a fixed list of 40",
        "that are right in all that matters. One seed.",
        "",
        f"The network is `tutte train --encoder` over {encoder}: 22 million weights, 6 layers, and no features. The model",
        "inside the program is small and learnt from the network (`tutte distil`, `scripts/make-english-model`).",
        "",
        *environment(),
        "",
        *table(
            ("", "words: UAS", "words: LAS", "words: ECE", "raw: UAS", "raw: LAS", "PUD: UAS", "PUD: LAS", "PUD: ECE",
             "tokens/s", "MB", "plain sentences"),
            rows,
        ),
        "",
        "![LAS against speed](../images/speed-accuracy.svg)",
    ]


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--network", type=Path, metavar="MODEL", help="a network that was trained before")
    options = parsed(parser, "table")
    tutte = Program()
    train, dev = (DATA / f"ud/english-ewt/{part}.conllu" for part in ("train", "dev"))
    need(train, dev)
    encoder = subprocess.run(
        [ROOT / "scripts/fetch-english-encoder"], capture_output=True, text=True, check=True
    ).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        network, small = options.network or folder / "network.tutte", folder / "network8.tutte"
        if not options.network:
            tutte("train", "-q", train, "--dev", dev, "--encoder", encoder, "-o", network)
        tutte("calibrate", "-q", "-m", network, dev, "--tags", "model", "--eight-bit", "-o", small)
        tutte("calibrate", "-q", "-m", small, dev, "--raw-text", "--write")
        models = {"inside": None}
        for preset in ("fast", "default"):
            models[preset] = folder / f"{preset}.tutte"
            tutte("train", "-q", train, "--dev", dev, "--preset", preset, "-o", models[preset])
        models |= {"network": network, "network, 8 bits": small}
        found = {name: measure(tutte, model, folder) for name, model in models.items()}
    FIGURE.write_text(figure(found))
    finish(report(found, Path(encoder).name), options.output, False)


if __name__ == "__main__":
    main()
