"""Shared code of the benchmarks in this folder and in peers: options, the program tutte, and resources of processes."""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
from machine import built_program, output_of, processor

DATA = Path(os.environ.get("TUTTE_DATA", ROOT / "../shared/data"))


@dataclass
class Took:
    """Resources that a child process used, and its standard output."""

    seconds: float
    # Summed over all its threads.
    processor_seconds: float
    megabytes: float
    output: str


def run(*command):
    """Runs a program to its end. Its standard error is passed on.

    Memory is the peak resident set, `ru_maxrss`, which includes pages of mapped files. On Linux it is at least that
    of the parent process, so the parent must stay small: this module and its users load no data.
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
        sys.exit(f"exit code {process.returncode} of: {' '.join(command)}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Took(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6, output)


class Tutte:
    """The program tutte, built in release mode."""

    def __init__(self, program=None):
        """Takes a program that was built before, or builds one."""
        if not program:
            print("building tutte", file=sys.stderr, flush=True)
            program = built_program("--quiet", "--release", "-p", "tutte-cli", folder=ROOT)
        self.program = program

    def train(self, train, model, *options):
        return run(self.program, "train", "-q", "--with", "parser", train, "-o", model, *options)

    def parse(self, model, file, output, *options):
        """Parses a file to a file, on one thread."""
        return run(self.program, "parse", "-q", "-j", 1, "-m", model, file, "-o", output, *options)

    def bench(self, model, file, repeats):
        """Returns the report of `tutte bench`."""
        command = [self.program, "bench", "-q", "--json", "-n", repeats, "-m", model, file]
        return json.loads(run(*command).output)

    def scores(self, gold, system):
        """Returns UAS and LAS of all words, in percent."""
        metrics = self.eval(gold, system)["metrics"]
        return tuple(100 * metrics[name]["f1"] for name in ("UAS", "LAS"))

    def eval(self, gold, system, *options):
        """Returns the report of `tutte eval`."""
        report = json.loads(run(self.program, "eval", "-q", "--json", gold, system, *options).output)
        return report["systems"][0]

    def convert(self, file, output):
        run(self.program, "convert", "-q", "--to", "conllu", file, output)

    def strip_heads(self, file, output):
        run(self.program, "convert", "-q", "--strip-heads", file, output)


def words(path):
    """Returns the number of words in a CoNLL-U file: lines whose ID is a plain number."""
    with open(path, encoding="utf-8") as file:
        return sum(line.split("\t", 1)[0].isdigit() for line in file if "\t" in line)


def first_words(path, wanted, output):
    """Writes the first sentences of a file, with at least this many words together."""
    found = 0
    with open(path, encoding="utf-8") as file, open(output, "w", encoding="utf-8") as part:
        for line in file:
            part.write(line)
            found += "\t" in line and line.split("\t", 1)[0].isdigit()
            if not line.strip() and found >= wanted:
                break
    return output


def argument_parser(description):
    """Returns a parser of options; `parsed` completes it."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def add_only(parser, treebanks):
    """Adds the option `--only`, which `chosen` reads."""
    parser.add_argument("--only", action="append", choices=treebanks,
                        help="this treebank; may be given several times")


def chosen(treebanks, options):
    """Returns the treebanks that `--only` selects, or all."""
    return [name for name in treebanks if not options.only or name in options.only]


def parsed(parser, what="tables"):
    """Adds the option `--output` and parses all options."""
    parser.add_argument("--output", type=Path, metavar="FILE",
                        help=f"write the {what} to FILE (Markdown) as well")
    return parser.parse_args()


def need(*files):
    """Ends the program if a file is missing."""
    for file in files:
        if not Path(file).is_file():
            sys.exit(f"there is no file {file}; set TUTTE_DATA to your folder of treebanks")


def environment():
    """Returns lines that name the processor, the compiler and the date."""
    return [
        f"- processor: {processor()}, {os.cpu_count()} cores",
        f"- {output_of('rustc', '--version', folder=ROOT)}",
        f"- date: {date.today()}",
    ]


def table(header, rows):
    """Returns the lines of a Markdown table, with the first column left-aligned."""
    line = lambda cells: "| " + " | ".join(cells) + " |"
    return [line(header), "|---" + "|---:" * (len(header) - 1) + "|", *map(line, rows)]


def missed_lines(missed):
    """Returns lines that list missed targets."""
    return ["", *(["Missed:", "", *(f"- {it}" for it in missed)] if missed else ["No target is missed."])]


def finish(lines, output, missed):
    """Prints the lines, writes them to `output`, and ends the program; with exit code 1 if a target was missed."""
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if output:
        output.write_text(text)
        print(f"wrote {output}", file=sys.stderr)
    sys.exit(int(missed))
