#!/usr/bin/env python3
"""Compare the shape of parsed trees with that of gold ones, as `tutte stats` counts it.

Parses English EWT dev and English PUD from gold words and tags with a model, with and without --at-most-one auto, and
prints beside gold: sentences with crossing arcs, and heads with two modifiers of the same core argument. Subtypes such as
nsubj:outer are labels of their own. Needs Python 3.9 or later without packages, and treebanks in $TUTTE_DATA. The exit code
is 1 if crossing sentences or repeated arguments of the best of both are more than 1.3 times those of gold.
"""

import json
import tempfile
from pathlib import Path

from program import DATA, Tutte, argument_parser, environment, finish, missed_lines, need, parsed, run, table

FILES = [("English EWT dev", "ud/english-ewt/dev.conllu"), ("English PUD", "ud/english-pud/test.conllu")]
# Core arguments of Universal Dependencies: these labels and their subtypes.
ARGUMENTS = ["nsubj", "csubj", "obj", "iobj"]
# Name of a parse, and its options.
PARSES = [("parsed", []), ("parsed, --at-most-one auto", ["--at-most-one", "auto"])]
MOST = 1.3


def shape(tutte, file):
    """Returns the sentences with crossing arcs, and the heads that repeat each argument."""
    summary = json.loads(run(tutte.program, "stats", "-q", "--json", file).output)["total"]
    trees = summary["trees"]
    repeated = dict.fromkeys(ARGUMENTS, 0)
    for label in summary["deprels"]:
        argument = label["value"].split(":")[0]
        if argument in repeated:
            repeated[argument] += label["repeating_heads"]
    return {"sentences": trees["trees"], "crossing": trees["nonprojective_trees"], **repeated}


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("model", type=Path, help="model of English trees")
    parser.add_argument("--program", metavar="PATH", help="program tutte that was built before")
    parser.add_argument("--tree-set", metavar="SET", help="tree set instead of the model's")
    options = parsed(parser, "table")
    need(options.model, *(DATA / file for _, file in FILES))
    tutte = Tutte(options.program)
    tree_set = ["--tree-set", options.tree_set] if options.tree_set else []
    rows, missed = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, file in FILES:
            gold = DATA / file
            shapes = [("gold", shape(tutte, gold), "")]
            for kind, more in PARSES:
                system = Path(folder) / "system.conllu"
                tutte.parse(options.model, gold, system, "--tags", "file", *tree_set, *more)
                uas, las = tutte.scores(gold, system)
                shapes.append((kind, shape(tutte, system), f"{uas:.2f} / {las:.2f}"))
            for kind, counts, scores in shapes:
                crossing = f"{counts['crossing']} ({100 * counts['crossing'] / counts['sentences']:.1f} %)"
                rows.append([name, kind, crossing, *(str(counts[it]) for it in ARGUMENTS), scores or "–"])
            for what in ["crossing", *ARGUMENTS]:
                expected = shapes[0][1][what]
                least = min(counts[what] for _, counts, _ in shapes[1:])
                if least > MOST * expected:
                    missed.append(f"{name}: {what} in {least} of the parse, {expected} of gold")
    header = ["treebank", "trees", "crossing", *(f"two {it}" for it in ARGUMENTS), "UAS / LAS"]
    lines = ["# Shape of parsed trees", "", *environment(), "", *table(header, rows), *missed_lines(missed)]
    finish(lines, options.output, bool(missed))


if __name__ == "__main__":
    main()
