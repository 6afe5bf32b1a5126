#!/usr/bin/env python3
"""Measure networks: what to choose for English, and the choices behind them.

The page has sections, which can be recorded one by one. Sections that are not recorded keep their text in the page.

  choice      the models inside the program and the presets on English EWT and PUD: accuracy, calibration, speed
  features    the network inside the program with features added
  objectives  exact tree loss against per-word softmax on a part of EWT, three seeds; 32 against 8 bits; training time
  scratch     features, a network without a pretrained encoder, and both, on Gothic, Turkish and Danish
  teachers    a teacher of features for a small student (self_training.py)
  pytorch     speed of the encoder beside PyTorch; needs --pytorch, a Python with torch and transformers
  without     what a build without networks has, and how long programs take to start

Needs Python 3.9 or later without packages, the treebanks in $TUTTE_DATA, and the encoder that
scripts/fetch-english-encoder fetches. With --work, trained models are kept and used again, so a run that was stopped
continues. All sections take about two hours of processor time.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from statistics import mean

import self_training
from machine import built_program, output_of, processor
from program import DATA, ROOT, Tutte, argument_parser, first_words, need, run, table, words

FIGURE = ROOT / "docs/images/speed-accuracy.svg"
PAGE = ROOT / "docs/results/neural.md"
PLAIN_SENTENCES = ROOT / "../shared/tools/ordinary-english"
LARGE = ROOT / "models/en-large.tutte.gz"
SMALL = ROOT / "models/en.tutte.gz"
REPEATS = 3
THREADS = 2

# The comparison of objectives.
PART_WORDS = 20_000
DEV_SENTENCES = 300
EPOCHS = 4
SEEDS = (1, 2, 3)
OBJECTIVES = {"trees": "likelihood", "words": "softmax"}

# Treebanks for networks without a pretrained encoder: name, training file, test file. Treebanks without a dev file are
# divided: a tenth of the training sentences chooses the epoch and the weights of the scorers.
SCRATCH = {
    "Danish DDT, dev part": ("ud/danish-ddt/dev.conllu", "ud/danish-ddt/test.conllu"),
    "Gothic PROIEL": ("ud/gothic-proiel/train.conllu", "ud/gothic-proiel/test.conllu"),
    "Turkish IMST": ("ud/turkish-imst/train.conllu", "ud/turkish-imst/test.conllu"),
    "Danish (CoNLL-X)": ("conllx/danish/train.conll", "conllx/danish/test.conll"),
}

# Published scores, UAS and LAS. UDPipe 2: its models of UD 2.17, 2025-11-25. Stanza: version 1.5.1 on UD 2.12, its page
# "Model Performance", models without transformers, from raw text.
PUBLISHED_ENGLISH = (
    ("UDPipe 2, UD 2.17", "multilingual BERT, 178 million", (94.09, 92.36), (91.59, 89.91)),
    ("Stanza 1.5.1, UD 2.12", "character language models", None, (88.90, 86.77)),
)
PUBLISHED = {
    "Gothic PROIEL": (86.83, 80.92),
    "Turkish IMST": (81.39, 73.61),
}


class Program(Tutte):
    """The program with networks."""

    def __init__(self, program):
        self.program = program or built_program(
            "--quiet", "--release", "-p", "tutte-cli", "--features", "neural", folder=ROOT
        )

    def __call__(self, *arguments):
        return run(self.program, *arguments)

    def report(self, gold, system):
        """Returns UAS, LAS, UPOS, complete trees, and the calibration error of a parsed file; all but the last in %."""
        report = self.eval(gold, system)
        found = {name: 100 * report["metrics"][name]["f1"] for name in ("UPOS", "UAS", "LAS")}
        found["complete"] = 100 * report["complete_match"]["labelled_share"]
        found["ECE"] = report["calibration"]["ece"]["value"]
        return found

    def p_values(self, gold, first, second):
        """Returns the p-values of the differences of UAS and LAS between two parsed files."""
        report = json.loads(self("eval", "-q", "--json", gold, first, second).output)
        return tuple(report["significance"][0][it]["permutation"]["p"] for it in ("uas", "las"))


class Work:
    """A folder of trained models and parsed files. What is there is not made again."""

    def __init__(self, folder, tutte):
        self.folder, self.tutte = folder, tutte
        folder.mkdir(parents=True, exist_ok=True)

    def train(self, name, train, *options):
        """Returns a trained model, and what its training used (None if it is not known)."""
        model, used = self.folder / f"{name}.tutte", self.folder / f"{name}.json"
        if not model.is_file():
            took = self.tutte("train", "-q", "-j", THREADS, train, "-o", model, *options)
            used.write_text(json.dumps({
                "seconds": took.seconds, "processor": took.processor_seconds, "MB": took.megabytes,
            }))
        return model, json.loads(used.read_text()) if used.is_file() else None

    def changed(self, name, model, *options):
        """Returns a model that `tutte calibrate` makes from another."""
        new = self.folder / f"{name}.tutte"
        if not new.is_file():
            self.tutte("calibrate", "-q", "-j", THREADS, "-m", model, *options, "-o", new)
        return new

    def parse(self, name, model, file, *options):
        """Parses gold words with the model's own tags. Returns the parsed file."""
        output = self.folder / f"{name}.conllu"
        if not output.is_file() or output.stat().st_mtime < Path(model).stat().st_mtime:
            self.tutte("parse", "-q", "-j", THREADS, "-m", model, file, "--tags", "model", "--probs", "-o", output, *options)
        return output


class Machine:
    """Where and when a section was recorded."""

    def __init__(self):
        self.load = os.getloadavg()[0]

    def line(self):
        version = output_of("rustc", "--version", folder=ROOT).split(" (")[0]
        busy = f"; the load was {self.load:.1f} at the start, so other work ran beside it" if self.load > 1 else ""
        return f"Recorded on {date.today()}: {processor()}, {os.cpu_count()} cores, {version}{busy}."


def part(name, which):
    """Returns a file of a UD treebank."""
    file = DATA / "ud" / name / f"{which}.conllu"
    need(file)
    return file


def english(work, preset):
    """Returns the model of a preset, trained on English EWT."""
    model, _ = work.train(
        f"english-ewt.{preset}", part("english-ewt", "train"), "--dev", part("english-ewt", "dev"), "--preset", preset
    )
    return model


def checked(checks):
    """Returns a table of targets: what, target, measured, whether it is met."""
    return table(("", "target", "measured"), [
        (what, target, f"**{value}**" if met else f"{value} (missed)") for what, target, value, met in checks
    ])


# choice


def measure(tutte, model, folder):
    """Returns the measurements of a model, which is a file or the name of one inside the program."""
    found = {}
    for name, treebank in (("EWT", "english-ewt"), ("PUD", "english-pud")):
        gold = part(treebank, "test")
        text, system = folder / f"{name}.txt", folder / f"{name}.conllu"
        tutte("convert", "-q", gold, text, "--raw-text")
        for source, file, options in (("raw", text, []), ("words", gold, ["--tags", "model"])):
            if (name, source) == ("PUD", "words"):
                continue
            parse = ["parse", "-q", "-j", 1, "-m", model, file, "--probs", "-o", system, *options]
            runs = [tutte(*parse) for _ in range(REPEATS if name == "EWT" else 1)]
            found[name, source] = tutte.report(gold, system)
            found[name, source]["tokens/s"] = words(gold) / min(it.processor_seconds for it in runs)
            found["memory"] = max(it.megabytes for it in runs)
    if PLAIN_SENTENCES.is_file():
        command = [PLAIN_SENTENCES, tutte.program, "-m", model]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
        # The last line: … arcs right; 38 of 40 sentences right
        found["plain"] = int(done.stdout.strip().splitlines()[-1].split("; ")[1].split()[0])
    return found


def figure(points):
    """Returns a drawing of accuracy against speed: name, tokens per second, LAS."""
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
        # Names of fast models stand left of the point, inside the frame.
        at, anchor = (x(speed) - 9, "end") if speed > 3e4 else (x(speed) + 9, "start")
        lines.append(text.format(at, y(las) + 4, anchor, name))
    return "\n".join([*lines, "</svg>", ""])


def choice(tutte, work, options):
    models = {"english": "english", "fast": english(work, "fast"), "default": english(work, "default")}
    if options.network:
        models["network, 32 bits"] = options.network
    models["english-large"] = "english-large"
    files = {"english": SMALL, "english-large": LARGE}
    with tempfile.TemporaryDirectory() as folder:
        found = {name: measure(tutte, model, Path(folder)) for name, model in models.items()}
    FIGURE.write_text(figure(
        [(name, it["EWT", "raw"]["tokens/s"], it["EWT", "raw"]["LAS"]) for name, it in found.items()]
    ))
    rows = []
    for name, it in found.items():
        given, raw, pud = it["EWT", "words"], it["EWT", "raw"], it["PUD", "raw"]
        plain = f"{it['plain']} of 40" if "plain" in it else "–"
        rows.append((
            name, f"{given['UAS']:.2f}", f"{given['LAS']:.2f}", f"{given['ECE']:.4f}", f"{raw['UAS']:.2f}",
            f"{raw['LAS']:.2f}", f"{pud['UAS']:.2f}", f"{pud['LAS']:.2f}", f"{pud['ECE']:.4f}", plain,
            f"{raw['tokens/s']:,.0f}", f"{(files.get(name) or models[name]).stat().st_size / 1e6:.1f}",
        ))
    large, small = found["english-large"], found["english"]
    given, raw = large["EWT", "words"], large["EWT", "raw"]
    at_least = lambda what, value, target, digits=2: (
        what, f"≥ {target:,}", f"{value:,.{digits}f}", round(value, digits) >= target
    )
    at_most = lambda what, value, target, digits: (
        what, f"≤ {target}", f"{value:.{digits}f}", round(value, digits) <= target
    )
    checks = [
        at_least("english-large, words: UAS", given["UAS"], 91.8),
        at_least("english-large, words: LAS", given["LAS"], 89.6),
        at_most("english-large, words: ECE", given["ECE"], 0.01, 4),
        at_least("english-large, raw text: UAS", raw["UAS"], 89.8),
        at_least("english-large, raw text: LAS", raw["LAS"], 87.4),
        at_least("english-large, tokens/s from gold words", given["tokens/s"], 3500, 0),
        at_most("english-large, MB", LARGE.stat().st_size / 1e6, 26, 1),
        at_least("english, raw text: LAS", small["EWT", "raw"]["LAS"], 84.5),
        at_most("english, PUD from raw text: ECE", small["PUD", "raw"]["ECE"], 0.012, 4),
        at_least("english, tokens/s from raw text", small["EWT", "raw"]["tokens/s"], 20000, 0),
        at_most("english, MB", SMALL.stat().st_size / 1e6, 8, 1),
    ]
    if "plain" in small:
        checks.insert(6, at_least("english-large, plain sentences", large["plain"], 39, 0))
        checks.append(at_least("english, plain sentences", small["plain"], 38, 0))
    scores = lambda pair: (f"{pair[0]:.2f}", f"{pair[1]:.2f}") if pair else ("–", "–")
    ours = lambda name, encoder: (name, encoder, *(
        f"{found[name]['EWT', source][score]:.2f}" for source in ("words", "raw") for score in ("UAS", "LAS")
    ))
    published = [
        ours("english-large", "all-MiniLM-L6-v2, 22 million"),
        ours("english", "none; distilled"),
        *((name, encoder, *scores(given), *scores(raw)) for name, encoder, given, raw in PUBLISHED_ENGLISH),
    ]
    return [
        "`english` and `english-large` are inside the program; `fast` and `default` are presets of `tutte train` on UD English",
        "EWT 2.16 (204,577 words), without raw text. `english-large` is a network of 8-bit weights over a pretrained encoder,",
        "and `english` learns from its answers (`scripts/make-english-model`). English EWT test, from gold words with the",
        "model's own tags, and from raw text; English PUD, another kind of text, from raw text. ECE: expected calibration",
        "error of HeadProb. Plain sentences: those of a fixed list of 40 that are right in all that matters. Speed:",
        f"`tutte parse -j 1 --probs` of raw text, processor time of the whole process, fastest of {REPEATS}. One seed.",
        "",
        *table(("", "words: UAS", "words: LAS", "words: ECE", "raw: UAS", "raw: LAS", "PUD: UAS", "PUD: LAS", "PUD: ECE",
                "plain", "tokens/s", "MB"), rows),
        "",
        "![LAS against speed](../images/speed-accuracy.svg)",
        "",
        "Choose `english-large` for accuracy, and `english` for everything else: it is more accurate than the presets,",
        "because its teacher has read more than the treebank. Choose a preset to train on your own treebank.",
        "",
        *checked(checks),
        "",
        "Published scores of others for English EWT; other releases of the treebank, so the comparison is rough:",
        "",
        *table(("", "encoder, weights", "words: UAS", "words: LAS", "raw: UAS", "raw: LAS"), published),
    ]


# features


def features(tutte, work, _):
    dev, test = part("english-ewt", "dev"), part("english-ewt", "test")
    alone = english(work, "default")
    both = work.changed("english-ewt.both", LARGE, dev, "--tags", "model", "--with-features", alone)
    models = {"features (default)": alone, "network (english-large)": LARGE, "both": both}
    rows, parsed_test = [], {}
    for name, model in models.items():
        short = name.split(" ")[0]
        on = {}
        for which, gold in (("dev", dev), ("test", test)):
            system = work.parse(f"english-ewt.{short}.{which}", model, gold)
            on[which] = tutte.report(gold, system)
        parsed_test[short] = system
        rows.append((name, f"{on['dev']['UAS']:.2f}", f"{on['dev']['LAS']:.2f}", *scores_of(on["test"])))
    p = tutte.p_values(test, parsed_test["network"], parsed_test["both"])
    return [
        "The scores of `english-large` and of a model of the preset `default`, added by `tutte calibrate --with-features`. Two",
        "weights for arcs and two for labels are chosen on the dev file. English EWT, gold words, own tags.",
        "",
        *table(("", "dev: UAS", "dev: LAS", *SCORES), rows),
        "",
        f"Both against the network alone, test: p = {p[0]:.4f} for UAS and {p[1]:.4f} for LAS (paired permutation test over",
        "sentences, `tutte eval`).",
    ]


SCORES = ("UAS", "LAS", "complete trees", "ECE")


def scores_of(it):
    """Returns the cells of the columns `SCORES`."""
    return f"{it['UAS']:.2f}", f"{it['LAS']:.2f}", f"{it['complete']:.2f}", f"{it['ECE']:.4f}"


# objectives


def objectives(tutte, work, options):
    test = part("english-ewt", "test")
    train, dev = work.folder / "part.conllu", work.folder / "part-dev.conllu"
    if not train.is_file():
        shuffled = work.folder / "shuffled.conllu"
        tutte("convert", "-q", part("english-ewt", "train"), shuffled, "--shuffle")
        first_words(shuffled, PART_WORDS, train)
        shuffled.unlink()
        tutte("convert", "-q", part("english-ewt", "dev"), dev, "--sample", DEV_SENTENCES)
    found, used, speed = {}, [], {}
    for seed in SEEDS:
        systems = {}
        for name, objective in OBJECTIVES.items():
            model, took = work.train(
                f"part.{name}.{seed}", train, "--dev", dev, "--encoder", options.encoder, "--with", "tagger,parser",
                "--tree-set", "projective-single-root", "--passes", EPOCHS, "--seed", seed, "--objective", objective,
            )
            systems[name] = work.parse(f"part.{name}.{seed}", model, test)
            found[name, seed] = tutte.report(test, systems[name])
            if took and name == "trees":
                used.append(took)
        found["p", seed] = tutte.p_values(test, systems["words"], systems["trees"])
        small = work.changed(
            f"part.8-bit.{seed}", work.folder / f"part.trees.{seed}.tutte", dev, "--tags", "model", "--eight-bit"
        )
        found["8-bit", seed] = tutte.report(test, work.parse(f"part.8-bit.{seed}", small, test))
        print(f"seed {seed}: {found}", file=sys.stderr, flush=True)
    for name in ("trees", "8-bit"):
        model, system = work.folder / f"part.{name}.{SEEDS[0]}.tutte", work.folder / "speed.conllu"
        command = ["parse", "-q", "-j", 1, "-m", model, test, "--tags", "model", "--probs", "-o", system]
        speed[name] = words(test) / min(tutte(*command).processor_seconds for _ in range(REPEATS))
    average = lambda name: {it: mean(found[name, seed][it] for seed in SEEDS) for it in found[name, SEEDS[0]]}
    rows = []
    for name, title in (("trees", "whole trees"), ("words", "each word apart"), ("8-bit", "whole trees, 8 bits")):
        rows += [(f"{title}, seed {seed}", *scores_of(found[name, seed])) for seed in SEEDS]
        rows.append((f"**{title}, mean**", *scores_of(average(name))))
    p = "; ".join(
        f"seed {seed}: {found['p', seed][0]:.4f} for UAS, {found['p', seed][1]:.4f} for LAS" for seed in SEEDS
    )
    loss = average("trees")["LAS"] - average("8-bit")["LAS"]
    fastest = min(used, key=lambda it: it["processor"])
    whole = words(part("english-ewt", "train"))
    # The time of the dev file's parses is a part of it, so this is rather too much.
    minutes = fastest["processor"] / THREADS / 60 * (10 * whole) / (EPOCHS * words(train))
    checks = [
        ("loss of LAS in 8 bits, mean", "≤ 0.10", f"{loss:+.2f}", loss <= 0.1),
        ("tokens/s, 32 bits, one core, gold words", "≥ 1,800", f"{speed['trees']:,.0f}", speed["trees"] >= 1800),
        ("tokens/s, 8 bits, one core, gold words", "≥ 3,500", f"{speed['8-bit']:,.0f}", speed["8-bit"] >= 3500),
        ("ten epochs of all of EWT on two cores, estimated", "≤ 45 min", f"{minutes:.0f} min", minutes <= 45),
        ("peak memory of a training", "≤ 4 GB", f"{fastest['MB'] / 1000:.2f} GB", fastest["MB"] <= 4000),
    ]
    return [
        f"Networks over all-MiniLM-L6-v2 (22 million weights), {EPOCHS} epochs on {words(train):,} words of EWT: the first",
        "sentences of its training file, shuffled. They differ only in `--objective`: likelihood of whole trees, or softmax,",
        f"a choice among heads for each word apart. Both parse by the same exact marginals. {DEV_SENTENCES} sentences of the",
        "dev file choose the epoch and the calibration. Test file of EWT, gold words, own tags; complete trees: share of",
        "sentences whose heads and labels are all right.",
        "",
        *table(("", *SCORES), rows),
        "",
        "p-values of the differences between whole trees and each word apart (paired permutation test over sentences,",
        f"`tutte eval`): {p}.",
        "",
        f"Training: processor time of the fastest run, divided by {THREADS} threads and scaled to ten epochs of {whole:,} words.",
        f"Parsing: `tutte parse -j 1 --probs`, processor time of the whole process, fastest of {REPEATS}.",
        "",
        *checked(checks),
    ]


# scratch


def scratch(tutte, work, options):
    rows, winners, lines = [], [], []
    for name, (train, test) in SCRATCH.items():
        if options.only and name not in options.only:
            continue
        short = name.split(",")[0].split(" (")[0].lower().replace(" ", "-") + ("-x" if "CoNLL-X" in name else "")
        gold, dev, whole = (work.folder / f"{short}.{it}.conllu" for it in ("test", "dev", "train"))
        train, test = DATA / train, DATA / test
        need(train, test)
        if not dev.is_file():
            tutte.convert(test, gold)
            beside = train.with_name(train.name.replace("train", "dev"))
            if "train" in train.name and beside.is_file():
                tutte.convert(train, whole)
                tutte.convert(beside, dev)
            else:
                tutte.convert(train, work.folder / f"{short}.all.conllu")
                tutte("convert", "-q", work.folder / f"{short}.all.conllu", work.folder / f"{short}.part.conllu",
                      "--split", "90/10")
                (work.folder / f"{short}.part-train.conllu").rename(whole)
                (work.folder / f"{short}.part-test.conllu").rename(dev)
        settings = ["--format", "conllu", "--dev", dev, "--with", "tagger,parser"]
        features, first = work.train(f"{short}.features", whole, *settings)
        tree_set = json.loads(tutte("info", "--json", features).output)["tree_set"]
        network, second = work.train(
            f"{short}.network", whole, *settings, "--encoder", "scratch", "--tree-set", tree_set
        )
        conllu = ["--format", "conllu"]
        both = work.changed(f"{short}.both", network, dev, "--tags", "model", "--with-features", features, *conllu)
        systems, on = {}, {}
        for which, model in (("features", features), ("scratch", network), ("both", both)):
            systems[which] = work.parse(f"{short}.{which}.parsed", model, gold, *conllu)
            report = tutte.eval(gold, systems[which], *conllu)
            on[which] = {it: 100 * report["metrics"][it]["f1"] for it in ("UPOS", "UAS", "LAS")}
        better = max(("features", "scratch"), key=lambda it: on[it]["LAS"])
        compared = json.loads(run(
            tutte.program, "eval", "-q", "--json", gold, systems[better], systems["both"], *conllu
        ).output)
        p = compared["significance"][0]["las"]["permutation"]["p"]
        gain = on["both"]["LAS"] - on[better]["LAS"]
        if gain > 0:
            winners.append(name)
        published = PUBLISHED.get(name)
        rows.append((
            name, f"{words(whole):,}",
            *(f"{on[it]['UAS']:.2f} / {on[it]['LAS']:.2f} ({on[it]['UPOS']:.1f})" for it in ("features", "scratch", "both")),
            f"{gain:+.2f}", f"{p:.4f}",
            f"{published[0]:.2f} / {published[1]:.2f}" if published else "–",
            f"{first['processor'] / 60:.1f}" if first else "–", f"{second['processor'] / 60:.1f}" if second else "–",
        ))
        lines = [
            "`--encoder scratch` is a small transformer over words and their character n-grams that starts from random",
            "weights, for languages that no encoder has read: 20 epochs. Features: the preset `default`. Both: the two models",
            "joined by `tutte calibrate --with-features`. Gold words; every model finds its own tags. A tenth of the training",
            "sentences of the Danish treebanks is their dev file. Scores of the test file, UAS / LAS, and UPOS in brackets:",
            "joined models take their tags from the network. Gain: LAS of both over the better of the two, with its p-value",
            "(paired permutation test over sentences). UDPipe 2 (multilingual BERT, which has not read Gothic): its published",
            "scores for UD 2.17. Training: minutes of processor time. One seed.",
            "",
            *table(("", "training words", "features", "scratch", "both", "gain", "p", "UDPipe 2", "min, features",
                    "min, scratch"), rows),
            "",
            f"Both together are above either alone on: {', '.join(winners) if winners else 'none'}. Target: two of them.",
        ]
        # A run that is stopped leaves the treebanks that are done.
        (work.folder / "scratch.md").write_text("\n".join(lines) + "\n")
    return lines


# teachers


def teachers(tutte, work, options):
    lines, changes = [], {}
    for treebank in options.treebank or self_training.TREEBANKS:
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            models, gold_words, text_words = self_training.train_models(tutte, treebank, folder)
            found, p = self_training.measure(tutte, models, part(treebank, "test"), folder)
        more, changes[treebank] = self_training.section(treebank, found, p, gold_words, text_words)
        lines += [f"#{line}" if line.startswith("## ") else line for line in more]
    return [*self_training.ABOUT, "", self_training.verdict(changes), *lines]


# pytorch


def pytorch(tutte, work, options):
    bench = subprocess.run(
        ["cargo", "bench", "--quiet", "-p", "tutte-neural", "--bench", "encoder"], cwd=ROOT, check=True,
        env={**os.environ, "TUTTE_ENCODER": str(options.encoder)}, stdout=subprocess.PIPE, text=True,
    ).stdout
    peer = run("env", f"TUTTE_ENCODER={options.encoder}", options.pytorch,
               ROOT / "crates/neural/benches/peers/encoder.py").output
    rates = lambda text: {
        line[:32].strip(): float(line[32:].split()[0].replace(",", ""))
        for line in text.splitlines() if line.endswith(" tokens/s")
    }
    ours, theirs = rates(bench), rates(peer)
    version = run(options.pytorch, "-c", "import torch; print(torch.__version__)").output.strip()
    rows = [
        (what, f"{ours[what]:,.0f}", f"{theirs[what]:,.0f}", f"{ours[what] / theirs[what]:.2f}")
        for what in ours if what in theirs
    ]
    step = "the same with AdamW"
    checks = [
        ("parsing, ratio of speeds", "≥ 0.7", f"{ours['forward, 32 bits'] / theirs['forward, 32 bits']:.2f}",
         ours["forward, 32 bits"] >= 0.7 * theirs["forward, 32 bits"]),
        ("training, ratio of times", "≤ 2.5", f"{theirs[step] / ours[step]:.2f}", theirs[step] <= 2.5 * ours[step]),
    ]
    return [
        "Encoder and scorers alone, one thread, the same batches of sub-words: `cargo bench -p tutte-neural --bench encoder`",
        f"and `crates/neural/benches/peers/encoder.py` (PyTorch {version}). Tokens per second of processor time, best of 3.",
        "",
        *table(("", "tutte", "PyTorch", "ratio"), rows),
        "",
        *checked(checks),
    ]


# without


def without(tutte, work, options):
    crates = lambda *features: set(subprocess.run(
        ["cargo", "tree", "-p", "tutte-cli", "-e", "normal", "--prefix", "none", "--format", "{p}", *features],
        cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True,
    ).stdout.split("\n"))
    names = lambda found: {line.split()[0] for line in found if line.strip()}
    plain, neural = names(crates()), names(crates("--features", "neural"))
    programs = {"with networks": tutte.program}
    if options.plain:
        programs = {"without networks": options.plain, **programs}
    rows = []
    for which, program in programs.items():
        models = ["english"] + (["english-large"] if which == "with networks" else [])
        for model in models:
            took = [run(program, "parse", "-q", "-m", model, "-t", "Tea.") for _ in range(10)]
            rows.append((
                f"{which}, `-m {model}`", f"{1000 * min(it.processor_seconds for it in took):.0f}",
                f"{max(it.megabytes for it in took):.0f}", f"{Path(program).stat().st_size / 1e6:.1f}",
            ))
    needed = ["tutte-neural", "tokenizers", "gemm-f32", "gemm-common"]
    shared = [name for name in needed if name in plain]
    return [
        f"The default build has {len(plain)} crates; {', '.join(f'`{name}`' for name in shared) or 'none'} of those of networks",
        f"({', '.join(f'`{name}`' for name in needed)}) is among them. The feature `neural` adds {len(neural - plain)} crates.",
        "",
        "A process that parses one word, fastest of 10:",
        "",
        *table(("", "processor ms", "peak MB", "program, MB"), rows),
    ]


SECTIONS = {
    "choice": ("What to choose for English", choice),
    "features": ("Features beside a network", features),
    "objectives": ("Whole trees or each word apart; 32 bits or 8", objectives),
    "scratch": ("Without a pretrained encoder", scratch),
    "teachers": ("A teacher of features", teachers),
    "pytorch": ("Beside PyTorch", pytorch),
    "without": ("A build without networks", without),
}
ABOUT = [
    "# Networks",
    "",
    "Written by `scripts/record-benchmarks neural`; do not edit. Each section can be recorded alone:",
    "`crates/parser/benches/neural.py --output docs/results/neural.md SECTION`. Then the others keep their text and their",
    "date. Choices were made on dev files; test files were parsed for this page.",
]


def sections_of(page):
    """Returns the sections of a page by title, with their lines."""
    found = {}
    if page and page.is_file():
        for text in page.read_text(encoding="utf-8").split("\n## ")[1:]:
            title, _, body = text.partition("\n")
            found[title] = body.strip("\n").split("\n")
    return found


def write(page, title, lines):
    """Writes a section of a page. The other sections stay."""
    found = sections_of(page)
    found[title] = lines
    text = list(ABOUT)
    for title, _ in SECTIONS.values():
        if title in found:
            text += ["", f"## {title}", "", *found[title]]
    new = page.with_name(page.name + ".new")
    new.write_text("\n".join(text) + "\n", encoding="utf-8")
    new.replace(page)


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"one of {', '.join(SECTIONS)}; all if none is named")
    parser.add_argument("--output", type=Path, metavar="FILE", help="page whose sections are replaced (Markdown)")
    parser.add_argument("--program", type=Path, metavar="PATH", help="program with networks; without, it is built")
    parser.add_argument("--plain", type=Path, metavar="PATH", help="program without networks, for the section without")
    parser.add_argument("--work", type=Path, metavar="DIR", help="folder that keeps models and parsed files")
    parser.add_argument("--network", type=Path, metavar="MODEL", help="a network of 32 bits trained on EWT, for choice")
    parser.add_argument("--pytorch", type=Path, metavar="PYTHON", help="Python with torch and transformers")
    parser.add_argument("--only", action="append", choices=SCRATCH, help="treebank of scratch; repeatable")
    parser.add_argument("--treebank", action="append", choices=self_training.TREEBANKS, help="treebank of teachers; repeatable")
    options = parser.parse_args()
    unknown = [name for name in options.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"unknown section {unknown[0]}; the sections are {', '.join(SECTIONS)}")
    tutte = Program(options.program and options.program.resolve())
    options.encoder = Path(output_of(ROOT / "scripts/fetch-english-encoder", folder=ROOT))
    with tempfile.TemporaryDirectory() as folder:
        work = Work((options.work or Path(folder)).resolve(), tutte)
        for name, (title, section) in SECTIONS.items():
            if options.sections and name not in options.sections:
                continue
            if name == "pytorch" and not options.pytorch:
                print("pytorch: skipped; name a Python with --pytorch", file=sys.stderr)
                continue
            machine = Machine()
            lines = [*section(tutte, work, options), "", machine.line()]
            print("\n".join(["", f"## {title}", "", *lines]), flush=True)
            if options.output:
                # After every section, so that a run that is stopped leaves those that are done.
                write(options.output, title, lines)


if __name__ == "__main__":
    main()
