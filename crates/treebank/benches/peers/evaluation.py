"""Compares `tutte eval` with the official evaluation of Universal Dependencies, number by number.

The official program is not part of this project; it comes with some versions of Stanza:

    pip install --no-deps stanza==1.10.1
    cargo build --release -p tutte-cli
    python crates/treebank/benches/peers/evaluation.py [TREEBANK.conllu ...]

Pairs of analyses are random. Small texts of few letters are divided and analysed twice, so that all
kinds of conflicts occur. Copies of the given treebanks have changed heads, labels, tags, lemmas,
features and enhanced arcs, split and merged tokens and sentences, and removed and added multiword
tokens. Both programs evaluate every pair; all counts and the printed tables must be the same. Then
both are timed on each treebank.

The official program expects empty nodes to be collapsed. They are collapsed here, by walking all
paths over them.
"""

import argparse
import importlib.util
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

METRICS = ["Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS",
           "LAS", "CLAS", "MLAS", "BLEX"]
ENHANCED = ["ELAS", "EULAS"]
FORM, LEMMA, UPOS, XPOS, FEATS, DEPREL, MISC = 1, 2, 3, 4, 5, 7, 9


# Sentences as tokens of words, so that they can be split and joined.

class Word:
    """A word, or an empty node. Heads are words, None is the root."""

    def __init__(self, columns):
        self.columns = columns
        self.head = None
        self.deps = []  # (head, label)

    @property
    def form(self):
        return self.columns[FORM]


class Token:
    """A token of the text: a word, or a multiword token of several words."""

    def __init__(self, form, words, multiword=False):
        self.form, self.words, self.multiword = form, words, multiword
        self.empty = []  # empty nodes after the last word


def words_of(sentence):
    return [word for token in sentence for word in token.words]


def read(path):
    """Returns all sentences of a file. Empty nodes inside multiword tokens move behind them."""
    for block in pathlib.Path(path).read_text(encoding="utf-8").strip("\n").split("\n\n"):
        lines = [line.split("\t") for line in block.split("\n") if not line.startswith("#")]
        nodes = {"0": None}
        sentence, first, last = [], [], 0
        for columns in lines:
            number = columns[0]
            if "-" in number:
                last = int(number.split("-")[1])
                sentence.append(Token(columns[FORM], [], True))
                continue
            word = nodes[number] = Word(columns)
            if "." in number:
                (sentence[-1].empty if sentence else first).append(word)
            elif int(number) <= last:
                sentence[-1].words.append(word)
            else:
                sentence.append(Token(columns[FORM], [word]))
        for word in list(nodes.values())[1:]:
            number, head, deps = word.columns[0], word.columns[6], word.columns[8]
            if "." not in number:
                word.head = nodes[head]
            if deps != "_":
                for arc in deps.split("|"):
                    head, label = arc.split(":", 1)
                    word.deps.append((nodes[head], label))
        sentence[0].before = first
        yield sentence


def numbered(sentence):
    """Returns nodes and their ids, in order, and multiword tokens with their range."""
    number = 0
    for at, node in enumerate(getattr(sentence[0], "before", [])):
        yield f"0.{at + 1}", node
    for token in sentence:
        if token.multiword:
            yield f"{number + 1}-{number + len(token.words)}", token
        for word in token.words:
            number += 1
            yield str(number), word
        for at, node in enumerate(token.empty):
            yield f"{number}.{at + 1}", node


def write(sentences, path, collapsed=False):
    with open(path, "w", encoding="utf-8") as file:
        for sentence in sentences:
            ids = {node: number for number, node in numbered(sentence)}
            ids[None] = "0"
            for number, node in numbered(sentence):
                if isinstance(node, Token):
                    print(number, node.form, *"________", sep="\t", file=file)
                    continue
                empty = "." in number
                if empty and collapsed:
                    continue
                arcs = {(head, label) for head, label in node.deps if head in ids}
                if collapsed:
                    arcs = {arc for head, label in arcs for arc in over_empty(head, label, ids, ())}
                arcs = sorted(arcs, key=lambda arc: (float(ids[arc[0]]), arc[1]))
                deps = "|".join(f"{ids[head]}:{label}" for head, label in arcs) or "_"
                head = "_" if empty else ids[node.head]
                print(number, *node.columns[1:6], head, node.columns[7], deps, node.columns[9],
                      sep="\t", file=file)
            print(file=file)


def over_empty(head, path, ids, seen):
    """Returns the arcs that replace an arc from `head` when empty nodes are collapsed."""
    if "." not in ids[head]:
        yield head, path
    elif head not in seen:
        for above, label in head.deps:
            if above in ids:
                yield from over_empty(above, f"{label}>{path}", ids, (*seen, head))


# Random texts.

def random_analysis(dice, text):
    """Divides a text into random sentences, tokens and words, with a random analysis."""
    sentences, at = [], 0
    while at < len(text):
        length = dice.randint(1, 8)
        sentences.append(random_sentence(dice, text[at:at + length]))
        at += length
    return sentences


def random_sentence(dice, text):
    sentence, at = [], 0
    while at < len(text):
        form = text[at:at + dice.choice([1, 1, 1, 2, 2, 3])]
        at += len(form)
        spaced = dice.choice([" ", "\u00a0", "\u2009"]).join(form) if dice.random() < .1 else form
        if dice.random() < .3:
            parts = list(form) if dice.random() < .5 else dice.choices(["a", "b", "B", "a b"], k=dice.randint(1, 3))
            sentence.append(Token(spaced, [random_word(dice, part) for part in parts], True))
        else:
            sentence.append(Token(spaced, [random_word(dice, spaced)]))
    random_tree(dice, words_of(sentence))
    sentence[0].before = [random_word(dice, "e") for _ in range(dice.random() < .1)]
    for token in sentence:
        token.empty = [random_word(dice, "e") for _ in range(dice.choice([0] * 8 + [1, 2]))]
    nodes = [node for _, node in numbered(sentence) if isinstance(node, Word)]
    earlier = []  # empty nodes depend on earlier ones only: no cycles
    for node in nodes:
        empty = node not in words_of(sentence)
        heads = [None] + words_of(sentence) + (earlier if empty else nodes)
        heads = [head for head in heads if head is not node]
        if not empty or dice.random() < .9:
            for _ in range(dice.choice([0, 1, 1, 1, 2, 3])):
                node.deps.append((dice.choice(heads), random_label(dice)))
        if empty:
            earlier.append(node)
    return sentence


def random_word(dice, form):
    return Word(["", form, dice.choice(["_", "a", "b"]), dice.choice(["X", "Y"]),
                 dice.choice(["x", "y"]), random_features(dice), "", random_label(dice), "", "_"])


def random_features(dice):
    features = dice.sample(["Case=Nom", "Case=Acc", "Number=Sing", "Own=Yes", "Tense=Past"], 2)
    return "|".join(features) if dice.random() < .5 else "_"


def random_label(dice):
    return dice.choice(["nsubj", "nsubj:pass", "obj", "det", "case", "aux", "aux:pass", "punct",
                        "root", "conj:and", "cc"])


def random_tree(dice, words):
    """Returns heads such that every word descends from one root."""
    order = dice.sample(words, len(words))
    for at, word in enumerate(order):
        word.head = dice.choice(order[:at]) if at else None


# Random changes.

def descends(word, other):
    while word is not None and word is not other:
        word = word.head
    return word is other


def change(dice, sentences, rate):
    for sentence in sentences:
        words = words_of(sentence)
        labels = [word.columns[DEPREL] for word in words]
        for word in words:
            if dice.random() < rate:
                column = dice.choice([LEMMA, UPOS, XPOS, FEATS, DEPREL])
                word.columns[column] = dice.choice(words).columns[column]
            if dice.random() < rate and word.head is not None:
                head = dice.choice(words)
                if not descends(head, word):
                    word.head = head
            if dice.random() < rate and word.deps:
                word.deps[0] = (dice.choice([None] + words), word.deps[0][1])
            if dice.random() < rate and word.deps:
                word.deps.append((dice.choice(words), dice.choice(labels)))
            if dice.random() < rate and word.deps:
                word.deps.pop(dice.randrange(len(word.deps)))
        at = 0
        while at < len(sentence):
            if dice.random() < rate:
                dice.choice([split_token, merge_tokens, dissolve, make_multiword])(dice, sentence, at)
            at += 1
    at = 0
    while at < len(sentences):
        if dice.random() < rate:
            dice.choice([split_sentence, merge_sentences])(dice, sentences, at)
        at += 1


def split_token(dice, sentence, at):
    token = sentence[at]
    if token.multiword or len(token.form) < 2:
        return
    cut = dice.randrange(1, len(token.form))
    if not token.form[:cut].strip() or not token.form[cut:].strip():
        return
    word = token.words[0]
    rest = Word(list(word.columns))
    word.columns[FORM], rest.columns[FORM] = token.form[:cut].strip(), token.form[cut:].strip()
    rest.head = word
    sentence[at:at + 1] = [piece := Token(word.form, [word]), tail := Token(rest.form, [rest])]
    piece.before, tail.empty = getattr(token, "before", []), token.empty


def merge_tokens(_, sentence, at):
    if at + 1 >= len(sentence) or sentence[at].multiword or sentence[at + 1].multiword:
        return
    (a,), (b,) = sentence[at].words, sentence[at + 1].words
    head = b.head if descends(a, b) else a.head
    for word in words_of(sentence):
        if word.head is b:
            word.head = a
    a.head = head
    a.columns[FORM] += b.form
    merged = Token(a.form, [a])
    merged.before = getattr(sentence[at], "before", [])
    merged.empty = sentence[at].empty + sentence[at + 1].empty
    sentence[at:at + 2] = [merged]


def dissolve(_, sentence, at):
    token = sentence[at]
    if not token.multiword or len(token.form) < len(token.words):
        return
    pieces = list(token.form[:len(token.words) - 1]) + [token.form[len(token.words) - 1:]]
    tokens = []
    for word, piece in zip(token.words, pieces):
        word.columns[FORM] = piece
        tokens.append(Token(piece, [word]))
    tokens[0].before, tokens[-1].empty = getattr(token, "before", []), token.empty
    sentence[at:at + 1] = tokens


def make_multiword(dice, sentence, at):
    tokens = sentence[at:at + dice.randint(1, 3)]
    if any(token.multiword for token in tokens):
        return
    words = [word for token in tokens for word in token.words]
    made = Token("".join(token.form for token in tokens), words, True)
    made.before = getattr(tokens[0], "before", [])
    made.empty = [node for token in tokens for node in token.empty]
    if dice.random() < .3:
        words[0].columns[FORM] = words[0].form.upper()
    sentence[at:at + len(tokens)] = [made]


def split_sentence(dice, sentences, at):
    sentence = sentences[at]
    if len(sentence) < 2:
        return
    cut = dice.randrange(1, len(sentence))
    halves = [sentence[:cut], sentence[cut:]]
    for half in halves:
        words = words_of(half)
        root, *others = [word for word in words if word.head not in words]
        root.head = None
        for word in others:
            word.head = root
    sentences[at:at + 1] = halves


def merge_sentences(_, sentences, at):
    if at + 1 >= len(sentences):
        return
    first, second = sentences[at], sentences[at + 1]
    first[-1].empty += getattr(second[0], "before", [])
    second[0].before = []
    root = next(word for word in words_of(first) if word.head is None)
    for word in words_of(second):
        word.head = word.head or root
    sentences[at:at + 2] = [first + second]


# Comparison.

def official_program(path):
    if path is None:
        package = importlib.util.find_spec("stanza")
        if package is None:
            sys.exit("stanza is not installed: pip install --no-deps stanza==1.10.1")
        path = pathlib.Path(package.submodule_search_locations[0]) / "utils" / "conll18_ud_eval.py"
    if not pathlib.Path(path).exists():
        sys.exit(f"{path} is not there; stanza 1.10.1 has it")
    spec = importlib.util.spec_from_file_location("official", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Comparison:
    def __init__(self, official, tutte, folder):
        self.official, self.tutte = official, tutte
        self.gold, self.system = folder / "gold.conllu", folder / "system.conllu"
        self.cases = self.enhanced = self.numbers = self.failures = 0

    def compare(self, what, gold, system):
        write(gold, self.gold, collapsed=True)
        write(system, self.system, collapsed=True)
        judged = self.official.evaluate(self.official.load_conllu_file(str(self.gold)),
                                        self.official.load_conllu_file(str(self.system)))
        write(gold, self.gold)
        write(system, self.system)
        run = [self.tutte, "eval", "-q", "--format=conllu", str(self.gold), str(self.system)]
        document = subprocess.run([*run, "--json"], capture_output=True, check=True).stdout
        ours = json.loads(document)["systems"][0]["metrics"]
        self.cases += 1
        self.enhanced += "ELAS" in ours
        wrong = []
        for metric in METRICS + [metric for metric in ENHANCED if metric in ours]:
            theirs = judged[metric]
            numbers = [theirs.gold_total, theirs.system_total, theirs.correct, theirs.aligned_total]
            found = [ours[metric][name] for name in ["gold", "system", "correct", "aligned"]]
            self.numbers += len(numbers)
            if numbers != found:
                wrong.append(f"  {metric}: gold, system, correct, aligned {numbers}, tutte {found}")
        for counts in [False, True]:
            flags = ["--counts"] if counts else []
            printed = subprocess.run([*run, *flags], capture_output=True, check=True, text=True).stdout
            table = self.official.build_evaluation_table(judged, True, counts, "ELAS" in ours)
            if not printed.startswith(table + "\n\n"):
                wrong.append(f"  the tables differ:\n{table}\n{printed}")
        if wrong:
            self.failures += 1
            kept = pathlib.Path(f"differs-{self.failures}")
            self.gold.replace(f"{kept}-gold.conllu")
            self.system.replace(f"{kept}-system.conllu")
            print(f"{what} differs (kept as {kept}-*.conllu):", *wrong, sep="\n")


def seconds(action, repeat):
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("treebanks", nargs="*", help="CoNLL-U files with complete trees")
    parser.add_argument("--small", type=int, default=2000, help="number of small random texts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tutte", default="target/release/tutte", help="the program")
    parser.add_argument("--official", help="conll18_ud_eval.py, if not that of stanza")
    arguments = parser.parse_args()
    sys.setrecursionlimit(10_000)
    official = official_program(arguments.official)
    dice = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(official, arguments.tutte, pathlib.Path(folder))
        for number in range(arguments.small):
            text = "".join(dice.choices("abABß", k=dice.randint(1, 40)))
            gold, system = random_analysis(dice, text), random_analysis(dice, text)
            comparison.compare(f"small text {number}", gold, system)
        for path in arguments.treebanks:
            for rate in [0, .01, .1, .5]:
                system = list(read(path))
                change(dice, system, rate)
                comparison.compare(f"{path}, {rate} changed", list(read(path)), system)
        print(f"{comparison.cases} pairs of files ({comparison.enhanced} with enhanced graphs), "
              f"{comparison.numbers} numbers: {comparison.failures} pairs differ")
        for path in arguments.treebanks:
            run = [arguments.tutte, "eval", path, path]
            ours = seconds(lambda: subprocess.run(run, capture_output=True, check=True), 10)
            run = [sys.executable, official.__file__, "-v", path, path]
            theirs = seconds(lambda: subprocess.run(run, capture_output=True, check=True), 3)
            print(f"{path}: tutte {1000 * ours:.0f} ms, official {1000 * theirs:.0f} ms, "
                  f"{theirs / ours:.0f} times")
    sys.exit(comparison.failures > 0)


if __name__ == "__main__":
    main()
