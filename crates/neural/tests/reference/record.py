#!/usr/bin/env python3
"""Records outputs of tiny random encoders from PyPI `transformers`, for tests/reference.rs.

    pip install torch transformers safetensors
    python record.py [FAMILY...]

For each family it writes FAMILY.safetensors (the weights, in the ecosystem's names) and FAMILY.json (the
configuration, sub-word numbers of two sentences, and the vectors after the embeddings and after each layer).
"""

import json
import pathlib
import sys

import torch
import transformers
from safetensors.torch import save_file

SIZES = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24)
CONFIGS = {
    "bert": transformers.BertConfig(vocab_size=40, max_position_embeddings=20, **SIZES),
    "roberta": transformers.RobertaConfig(
        vocab_size=40, max_position_embeddings=22, type_vocab_size=1, pad_token_id=1,
        hidden_act="gelu_new", layer_norm_eps=1e-5, **SIZES),
    "distilbert": transformers.DistilBertConfig(
        vocab_size=40, max_position_embeddings=20, dim=16, n_layers=2, n_heads=4, hidden_dim=24),
    # Layers 0 and 3 attend to all rows, the others to rows at a distance of up to two.
    "modernbert": transformers.ModernBertConfig(
        vocab_size=40, max_position_embeddings=20, local_attention=4, pad_token_id=0,
        attn_implementation="eager", **(SIZES | dict(num_hidden_layers=4))),
}
# Names of the others start with the family.
PREFIXES = {"bert": "", "modernbert": "model."}
SENTENCES = [[2, 5, 6, 7, 8, 9, 3], [2, 30, 3]]

# Fields of a configuration that are kept although they are lists or objects.
STRUCTURED = ["layer_types", "rope_parameters"]


def is_plain(value):
    return value is None or isinstance(value, (int, float, str))


def main():
    folder = pathlib.Path(__file__).parent
    names = sys.argv[1:] or list(CONFIGS)
    for name in names:
        config = CONFIGS[name]
        torch.manual_seed(7)
        model = transformers.AutoModel.from_config(config).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(0.3 * torch.randn_like(parameter))
        outputs = []
        for ids in SENTENCES:
            with torch.no_grad():
                result = model(torch.tensor([ids]), output_hidden_states=True)
            outputs.append([state[0].flatten().tolist() for state in result.hidden_states])
        prefix = PREFIXES.get(name, name + ".")
        weights = {prefix + key: value.contiguous() for key, value in model.state_dict().items()}
        save_file(weights, folder / f"{name}.safetensors")
        record = {
            "config": {k: v for k, v in config.to_dict().items() if is_plain(v) or k in STRUCTURED},
            "sentences": SENTENCES,
            "hidden": [[[float(f"{x:.7g}") for x in state] for state in states] for states in outputs],
        }
        (folder / f"{name}.json").write_text(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
