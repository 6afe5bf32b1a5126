#!/usr/bin/env python3
"""The network of benches/encoder.rs in PyTorch: same batches, one thread.

    pip install torch transformers
    TUTTE_ENCODER=FOLDER python encoder.py

Sentences of a batch are padded to the longest, as is usual; batches hold sentences of similar lengths.
Times are processor times: other programs may run beside it.
"""

import os
import time

import torch
import transformers

torch.set_num_threads(1)
BATCH = 1000
LENGTHS = [4, 25, 9, 16, 12, 31, 7, 19, 40, 14, 22, 5]
WORDS = ("the people of this small town rebuilt their church after a great fire in april unseasonably").split()


def sentences():
    result, n = [], 0
    for length in LENGTHS:
        words = []
        for _ in range(length):
            n += 1
            words.append(WORDS[(n * 7 + n // 16) % 16])
        result.append(words)
    return result


class Parser(torch.nn.Module):
    def __init__(self, folder):
        super().__init__()
        self.encoder = transformers.AutoModel.from_pretrained(folder)
        hidden = self.encoder.config.hidden_size
        layers = self.encoder.config.num_hidden_layers + 1
        self.mixes = torch.nn.Parameter(torch.zeros(2, layers))
        self.drop = torch.nn.Dropout(0.33)
        self.mlp = torch.nn.Linear(hidden, 2 * (256 + 100))
        self.arc = torch.nn.Parameter(torch.zeros(256, 256))
        self.arc_bias = torch.nn.Parameter(torch.zeros(256))
        self.bilinear = torch.nn.Linear(100, 40 * 100)
        self.rest = torch.nn.Linear(100, 40)
        self.tags = torch.nn.Linear(hidden, 17)

    def forward(self, ids, mask, first, last):
        states = torch.stack(self.encoder(ids, attention_mask=mask, output_hidden_states=True).hidden_states)
        index = torch.arange(ids.shape[0]).unsqueeze(1)
        words = (states[:, index, first] + states[:, index, last]) / 2
        scorer, tagger = torch.einsum("ml,lbnh->mbnh", self.mixes.softmax(-1), words)
        mlp = self.drop(torch.nn.functional.leaky_relu(self.mlp(self.drop(scorer)), 0.1))
        head, modifier, label_head, label_modifier = mlp.split([256, 256, 100, 100], -1)
        arcs = head @ (modifier @ self.arc.T).transpose(1, 2) + (head @ self.arc_bias).unsqueeze(-1)
        # Labels at one arc per word: from the root.
        bilinear = self.bilinear(label_modifier).view(*label_modifier.shape[:2], 40, 100)
        labels = torch.einsum("bnld,bd->bnl", bilinear, label_head[:, 0]) + self.rest(label_modifier)
        tags = self.tags(self.drop(tagger)).log_softmax(-1)
        return arcs, labels, tags


def batches(tokenizer):
    encoded = []
    for words in sorted(sentences() * 25, key=len):
        ids, first, last = [tokenizer.cls_token_id], [0], [0]
        for word in words:
            pieces = tokenizer(word, add_special_tokens=False)["input_ids"]
            first.append(len(ids))
            ids += pieces
            last.append(len(ids) - 1)
        encoded.append((ids + [tokenizer.sep_token_id], first, last))
    groups, rows = [[]], 0
    for item in encoded:
        if rows and rows + len(item[0]) > BATCH:
            groups.append([])
            rows = 0
        rows += len(item[0])
        groups[-1].append(item)
    pad = torch.nn.utils.rnn.pad_sequence
    result = []
    for group in groups:
        ids = pad([torch.tensor(item[0]) for item in group], batch_first=True)
        mask = pad([torch.ones(len(item[0]), dtype=torch.long) for item in group], batch_first=True)
        first = pad([torch.tensor(item[1]) for item in group], batch_first=True)
        last = pad([torch.tensor(item[2]) for item in group], batch_first=True)
        result.append((ids, mask, first, last))
    return result


def report(name, words, run):
    run()
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    print(f"{name:32} {words / best:8.0f} tokens/s")


def main():
    folder = os.environ["TUTTE_ENCODER"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = Parser(folder)
    data = batches(tokenizer)
    words = 25 * sum(LENGTHS)
    print(f"{words} words, {sum(int(b[1].sum()) for b in data)} sub-words, {len(data)} batches")

    def infer(network):
        network.eval()
        with torch.inference_mode():
            for batch in data:
                network(*batch)

    report("forward, 32 bits", words, lambda: infer(model))
    try:
        quantized = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)
        report("forward, 8 bits", words, lambda: infer(quantized))
    except Exception as error:  # Not every build of PyTorch has it.
        print(f"forward, 8 bits: {error}")
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4)

    def train(has_step):
        model.train()
        for batch in data:
            arcs, labels, tags = model(*batch)
            optimizer.zero_grad()
            (1e-3 * (arcs.sum() + labels.sum() + tags.sum())).backward()
            if has_step:
                optimizer.step()

    report("forward and backward", words, lambda: train(False))
    report("the same with AdamW", words, lambda: train(True))


if __name__ == "__main__":
    main()
