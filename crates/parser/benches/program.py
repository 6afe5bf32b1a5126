"""What the benchmarks of this folder and of peers share: their options, the program tutte, and what a child process
took.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DATA = Path(os.environ.get("TUTTE_DATA", ROOT / "../shared/data"))


@dataclass
class Took:
    """What a child process took, and what it printed."""

    seconds: float
    # Of all its threads.
    processor_seconds: float
    megabytes: float
    output: str


def run(*command):
    """Runs a program to its end; what it says on standard error is seen by who waits.

    Memory is the greatest resident set, `ru_maxrss`, which counts pages of mapped files too. On Linux
    it is at least that of the process that started it, so that must stay small: this module, and who
    uses it, load nothing.
    """
    command = [str(word) for word in command]
    print("+", " ".join(command), file=sys.stderr, flush=True)
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"this failed, with exit code {process.returncode}: {' '.join(command)}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Took(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6, output)


class Tutte:
    """The program, built as it is released."""

    def __init__(self):
        print("building tutte", file=sys.stderr, flush=True)
        build = ["cargo", "build", "--quiet", "--release", "-p", "tutte-cli"]
        output = subprocess.run(
            [*build, "--message-format", "json-render-diagnostics"],
            cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True,
        ).stdout
        messages = map(json.loads, output.splitlines())
        self.program = [m["executable"] for m in messages if m.get("executable")][-1]

    def train(self, train, model, *options):
        return run(self.program, "train", "-q", "--with", "parser", train, "-o", model, *options)

    def parse(self, model, file, output, *options):
        """File to file, on one thread."""
        return run(self.program, "parse", "-q", "-j", 1, "-m", model, file, "-o", output, *options)

    def bench(self, model, file, repeats):
        """The report of `tutte bench`."""
        command = [self.program, "bench", "-q", "--json", "-n", repeats, "-m", model, file]
        return json.loads(run(*command).output)

    def scores(self, gold, system):
        """UAS and LAS of all words, in percent."""
        metrics = self.eval(gold, system)["metrics"]
        return tuple(100 * metrics[name]["f1"] for name in ("UAS", "LAS"))

    def eval(self, gold, system, *options):
        """The report of `tutte eval`."""
        report = json.loads(run(self.program, "eval", "-q", "--json", gold, system, *options).output)
        return report["systems"][0]

    def convert(self, file, output):
        run(self.program, "convert", "-q", "--to", "conllu", file, output)

    def strip_heads(self, file, output):
        run(self.program, "convert", "-q", "--strip-heads", file, output)


def words(path):
    """The number of words of a CoNLL-U file: lines whose id is a plain number."""
    with open(path, encoding="utf-8") as file:
        return sum(line.split("\t", 1)[0].isdigit() for line in file if "\t" in line)


def first_words(path, wanted, output):
    """Writes the first sentences that together have so many words."""
    found = 0
    with open(path, encoding="utf-8") as file, open(output, "w", encoding="utf-8") as part:
        for line in file:
            part.write(line)
            found += "\t" in line and line.split("\t", 1)[0].isdigit()
            if not line.strip() and found >= wanted:
                break
    return output


def argument_parser(description):
    """A parser of options, to be ended by `parsed`."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def add_only(parser, treebanks):
    """Lets some of the treebanks be chosen, `chosen` of them."""
    parser.add_argument("--only", action="append", choices=treebanks,
                        help="this treebank; may be given several times")


def chosen(treebanks, options):
    """Those of the treebanks that `--only` leaves."""
    return [name for name in treebanks if not options.only or name in options.only]


def parsed(parser, what="tables"):
    """The options, among them what all benchmarks have: where to write."""
    parser.add_argument("--output", type=Path, metavar="FILE",
                        help=f"write the {what} to FILE (Markdown) as well")
    return parser.parse_args()


def need(*files):
    """Ends the program if a treebank is not there."""
    for file in files:
        if not Path(file).is_file():
            sys.exit(f"there is no {file}; TUTTE_DATA can name a folder of treebanks")


def environment():
    """Lines that say where and when."""
    compiler = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=False)
    return [
        f"- processor: {processor()}, {os.cpu_count()} cores",
        f"- {compiler.stdout.strip() or 'rustc: unknown'}",
        f"- date: {date.today()}",
    ]


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line for line in lines if line.startswith("model name"))
        return model.split(":", 1)[1].strip()
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def table(header, rows):
    """A table of Markdown, the first column flush left."""
    line = lambda cells: "| " + " | ".join(cells) + " |"
    return [line(header), "|---" + "|---:" * (len(header) - 1) + "|", *map(line, rows)]


def missed_lines(missed):
    """Lines that name what was missed."""
    return ["", *(["Missed:", "", *(f"- {it}" for it in missed)] if missed else ["No target is missed."])]


def finish(lines, output, missed):
    """Prints the text, writes it, and ends; with exit code 1 if something was missed."""
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if output:
        output.write_text(text)
        print(f"wrote {output}", file=sys.stderr)
    sys.exit(int(missed))
