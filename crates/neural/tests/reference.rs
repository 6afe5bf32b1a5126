//! Encoders against the reference implementation, number for number. `reference/record.py` made the records.

mod support;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use support::Folder;
use tutte_neural::{Activations, Mode, Network, NetworkOptions, SentenceInput};

/// A tokenizer whose sub-words are `w4`, `w5`, …: the record gives numbers.
fn tokenizer(vocabulary: u64) -> Value {
    let marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"];
    let name = |id: u64| {
        marks.get(id as usize).map_or_else(|| format!("w{id}"), |mark| (*mark).to_string())
    };
    let vocab: serde_json::Map<String, Value> =
        (0..vocabulary).map(|id| (name(id), json!(id))).collect();
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": {"type": "WhitespaceSplit"}, "decoder": null, "post_processor": null,
        "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]"},
    })
}

fn compare(family: &str) {
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference");
    let record = fs::read_to_string(records.join(format!("{family}.json"))).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    let folder = Folder::new();
    fs::write(folder.path().join("config.json"), record["config"].to_string()).unwrap();
    fs::write(folder.path().join("tokenizer.json"), tokenizer(40).to_string()).unwrap();
    fs::copy(
        records.join(format!("{family}.safetensors")),
        folder.path().join("model.safetensors"),
    )
    .unwrap();

    let network = Network::open(folder.path(), NetworkOptions::new().with_arc_mlp(4)).unwrap();
    let sentences: Vec<SentenceInput> = record["sentences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|ids| {
            let ids = ids.as_array().unwrap();
            let words: Vec<String> =
                ids[1..ids.len() - 1].iter().map(|id| format!("w{id}")).collect();
            network.encode(&words).unwrap()
        })
        .collect();
    let mut activations = Activations::new();
    network.forward(&sentences, Mode::Infer, &mut activations);
    let width = network.encoder_config().hidden;
    for layer in 0..=network.encoder_config().layers {
        let mut start = 0;
        for (sentence, states) in record["hidden"].as_array().unwrap().iter().enumerate() {
            let expected: Vec<f64> =
                states[layer].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
            assert_eq!(expected.len(), sentences[sentence].rows() * width);
            let found = &activations.hidden(layer)[start..start + expected.len()];
            for (found, expected) in found.iter().zip(&expected) {
                let error = (f64::from(*found) - expected).abs();
                assert!(error < 2e-5, "{family}, layer {layer}: {found} is not {expected}");
            }
            start += expected.len();
        }
    }
}

#[test]
fn bert_agrees() {
    compare("bert");
}

#[test]
fn roberta_agrees() {
    compare("roberta");
}

#[test]
fn modernbert_agrees() {
    compare("modernbert");
}

#[test]
fn distilbert_agrees() {
    compare("distilbert");
}
