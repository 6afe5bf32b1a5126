#!/usr/bin/env python3
"""Train or run UDPipe 1 in a separate process, to measure its time and memory.

    udpipe_runner.py train TRAIN MODEL PASSES               a parser
    udpipe_runner.py parse MODEL FILE OUTPUT BEAM
    udpipe_runner.py train-pipeline TRAIN HELDOUT MODEL     tokenizer, tagger and parser; HELDOUT may be -
    udpipe_runner.py run-pipeline MODEL TEXT OUTPUT         from raw text

The last printed line is JSON with times in seconds. Needs ufal.udpipe.
"""

import json
import sys
import time

from ufal import udpipe

# The usual choice of UDPipe for treebanks with crossing arcs. Everything else is its default.
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


def treebank(path):
    found = udpipe.Sentences()
    for sentence in sentences(path) if path != "-" else ():
        found.append(sentence)
    return found


def learn(path, heldout, model, tokenizer, tagger, parser):
    trees, heldout = treebank(path), treebank(heldout)
    error = udpipe.ProcessingError()
    start = time.perf_counter()
    content = udpipe.Trainer.train(
        "morphodita_parsito", trees, heldout, tokenizer, tagger, parser, error
    )
    seconds = time.perf_counter() - start
    check(error)
    with open(model, "wb") as file:
        file.write(content)
    return {"train": seconds}


def train(path, model, passes):
    nothing = udpipe.Trainer.NONE
    return learn(path, "-", model, nothing, nothing, f"iterations={passes};{SYSTEM}")


def train_pipeline(path, heldout, model):
    usual = udpipe.Trainer.DEFAULT
    return learn(path, heldout, model, usual, usual, SYSTEM)


def load(path):
    model = udpipe.Model.load(path)
    if model is None:
        sys.exit(f"UDPipe cannot load the model {path}; train it again")
    return model


def run_pipeline(model, path, output):
    """Parses raw text from file to file. The time includes loading the model."""
    start = time.perf_counter()
    usual = udpipe.Pipeline.DEFAULT
    # A pipeline does not keep its model alive.
    model = load(model)
    pipeline = udpipe.Pipeline(model, "tokenize", usual, usual, "conllu")
    error = udpipe.ProcessingError()
    with open(path, encoding="utf-8") as file:
        found = pipeline.process(file.read(), error)
    check(error)
    with open(output, "w", encoding="utf-8") as file:
        file.write(found)
    return {"run": time.perf_counter() - start}


def parse(model, path, output, beam):
    """Parses from file to file. Measures the whole, with loading the model, and the parsing calls alone."""
    start = time.perf_counter()
    model = load(model)
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
    tasks = {
        "train": train, "parse": parse, "train-pipeline": train_pipeline, "run-pipeline": run_pipeline,
    }
    task = tasks[sys.argv[1]]
    print(json.dumps(task(*sys.argv[2:])))
