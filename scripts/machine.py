"""The machine that a benchmark runs on, and the programs that it measures."""

import json
import platform
import subprocess
from pathlib import Path


def processor():
    """Returns the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line for line in lines if line.startswith("model name"))
        return model.split(":", 1)[1].strip()
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def output_of(*command, folder):
    """Runs a command and returns its output; "unknown" if it has none."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def built_program(*options, folder):
    """Builds a program by `cargo build` with these options, and returns its path."""
    output = subprocess.run(
        ["cargo", "build", *options, "--message-format", "json-render-diagnostics"],
        cwd=folder, check=True, stdout=subprocess.PIPE, text=True,
    ).stdout
    messages = map(json.loads, output.splitlines())
    return [message["executable"] for message in messages if message.get("executable")][-1]
