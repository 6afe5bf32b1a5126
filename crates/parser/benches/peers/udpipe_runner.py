#!/usr/bin/env python3
"""Train or run the parser of UDPipe 1 in a process of its own, so that its memory can be told.

    udpipe_runner.py train TRAIN MODEL PASSES
    udpipe_runner.py parse MODEL FILE OUTPUT BEAM

The last line printed is JSON: what it took, in seconds. Needs ufal.udpipe.
"""

import json
import sys
import time

from ufal import udpipe

# Everything else is UDPipe's default. Its usual choice for treebanks with crossing arcs.
SYSTEM = "transition_system=swap;transition_oracle=static_lazy"


def sentences(path):
    reader = udpipe.InputFormat.newConlluInputFormat()
    with open(path, encoding="utf-8") as file:
        reader.setText(file.read())
    error = udpipe.ProcessingError()
    sentence = udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        yield sentence
        sentence = udpipe.Sentence()
    check(error)


def check(error):
    if error.occurred():
        sys.exit(f"UDPipe: {error.message}")


def train(path, model, passes):
    treebank = udpipe.Sentences()
    for sentence in sentences(path):
        treebank.append(sentence)
    error = udpipe.ProcessingError()
    nothing = udpipe.Trainer.NONE
    start = time.perf_counter()
    content = udpipe.Trainer.train(
        "morphodita_parsito", treebank, udpipe.Sentences(), nothing, nothing,
        f"iterations={passes};{SYSTEM}", error,
    )
    seconds = time.perf_counter() - start
    check(error)
    with open(model, "wb") as file:
        file.write(content)
    return {"train": seconds}


def parse(model, path, output, beam):
    """From file to file with the model's loading, and the calls that parse alone."""
    start = time.perf_counter()
    model = udpipe.Model.load(model)
    if model is None:
        sys.exit("UDPipe: the model cannot be loaded")
    writer = udpipe.OutputFormat.newConlluOutputFormat()
    error = udpipe.ProcessingError()
    calls = 0.0
    with open(output, "w", encoding="utf-8") as file:
        for sentence in sentences(path):
            before = time.perf_counter()
            model.parse(sentence, f"beam_search={beam}", error)
            calls += time.perf_counter() - before
            check(error)
            file.write(writer.writeSentence(sentence))
        file.write(writer.finishDocument())
    return {"parse": time.perf_counter() - start, "calls": calls}


if __name__ == "__main__":
    task = {"train": train, "parse": parse}[sys.argv[1]]
    print(json.dumps(task(*sys.argv[2:])))
