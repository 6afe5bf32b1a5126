//! Encoder folders: every family opens; damaged or hostile folders give errors that name the cure.

mod support;

use std::collections::BTreeMap;
use std::fs;

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use serde_json::{Value, json};
use support::Folder;
use tutte_neural::{Activations, Family, Mode, Network, NetworkOptions, RandomEncoder, Tensor};

fn options() -> NetworkOptions {
    NetworkOptions::new().with_arc_mlp(8).with_labels(3).with_label_mlp(4).with_tag_head("upos", 5)
}

const FAMILIES: [Family; 5] =
    [Family::Bert, Family::Roberta, Family::XlmRoberta, Family::DistilBert, Family::ModernBert];

fn encoder(family: Family) -> Folder {
    let folder = Folder::new();
    RandomEncoder::new(family).with_words(["dog", "the"]).write(folder.path()).unwrap();
    folder
}

fn error(folder: &Folder) -> String {
    Network::open(folder.path(), options()).unwrap_err().to_string()
}

fn change_config(folder: &Folder, key: &str, value: Value) {
    let path = folder.path().join("config.json");
    let mut config: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    config[key] = value;
    fs::write(path, config.to_string()).unwrap();
}

/// Type, shape and bytes of a tensor.
type Stored = (Dtype, Vec<usize>, Vec<u8>);

fn change_weights(folder: &Folder, change: impl FnOnce(&mut BTreeMap<String, Stored>)) {
    let path = folder.path().join("model.safetensors");
    let bytes = fs::read(&path).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let mut all: BTreeMap<String, Stored> = tensors
        .iter()
        .map(|(name, view)| {
            (name.to_owned(), (view.dtype(), view.shape().to_vec(), view.data().to_vec()))
        })
        .collect();
    change(&mut all);
    let views = all.iter().map(|(name, (dtype, shape, data))| {
        (name, TensorView::new(*dtype, shape.clone(), data).unwrap())
    });
    fs::write(path, safetensors::serialize(views, None).unwrap()).unwrap();
}

#[test]
fn every_family_opens_and_scores() {
    for family in FAMILIES {
        let network = Network::open(encoder(family).path(), options()).unwrap();
        let words = ["the", "dog", "日本", "", " ", "Barks", "\u{0}", "no-one's"];
        let input = network.encode(&words).unwrap();
        assert_eq!(input.words(), words.len());
        let mut activations = Activations::new();
        network.forward([&input], Mode::Infer, &mut activations);
        assert_eq!(activations.arc_scores(0).len(), 81);
        assert!(activations.arc_scores(0).iter().all(|s| s.is_finite()));
        let mut labels = Vec::new();
        activations.label_scores(0, &[(0, 1), (8, 3)], &mut labels);
        assert_eq!(labels.len(), 6);
        assert_eq!(activations.tag_log_probs(0, network.tag_head("upos").unwrap()).len(), 8 * 5);
    }
}

#[test]
fn a_sentence_has_the_same_bits_in_every_batch() {
    let bits = |scores: &[f32]| scores.iter().map(|score| score.to_bits()).collect::<Vec<_>>();
    for family in FAMILIES {
        let network = Network::open(encoder(family).path(), options()).unwrap();
        for network in [network.quantize(), network] {
            let long = ["the", "dog", "abc"].repeat(20);
            let sentences: [&[&str]; 5] = [&["the"], &["the", "dog"], &long, &[], &["dog", "ab"]];
            let inputs = sentences.map(|words| network.encode(words).unwrap());
            let mut together = Activations::new();
            network.forward(&inputs, Mode::Infer, &mut together);
            for (i, input) in inputs.iter().enumerate() {
                let mut alone = Activations::new();
                network.forward([input], Mode::Infer, &mut alone);
                assert_eq!(bits(alone.arc_scores(0)), bits(together.arc_scores(i)));
                assert_eq!(bits(alone.tag_log_probs(0, 0)), bits(together.tag_log_probs(i, 0)));
                let arcs: Vec<(usize, usize)> =
                    (1..=sentences[i].len()).map(|word| (0, word)).collect();
                let [mut a, mut b] = [Vec::new(), Vec::new()];
                alone.label_scores(0, &arcs, &mut a);
                together.label_scores(i, &arcs, &mut b);
                assert_eq!(bits(&a), bits(&b));
            }
        }
    }
}

#[test]
fn long_sentences_are_seen_through_windows() {
    let network = Network::open(encoder(Family::Bert).path(), options()).unwrap();
    let input = network.encode(&["the"; 500]).unwrap();
    assert!(input.rows() > 900 && input.rows() < 1200, "{}", input.rows());
    let mut activations = Activations::new();
    network.forward([&input], Mode::Infer, &mut activations);
    assert!(activations.arc_scores(0).iter().all(|s| s.is_finite()));
    // One word of more letters than a window has places.
    let input = network.encode(&["x".repeat(90).as_str(), "the"]).unwrap();
    network.forward([&input], Mode::Infer, &mut activations);
    assert_eq!(activations.words(0), 2);
}

#[test]
fn weights_in_half_precision() {
    let folder = encoder(Family::Bert);
    let exact = Network::open(folder.path(), options()).unwrap();
    change_weights(&folder, |tensors| {
        for (dtype, _, data) in tensors.values_mut() {
            // The upper half of an f32 is a bf16.
            *data = data.chunks(4).flat_map(|bytes| [bytes[2], bytes[3]]).collect();
            *dtype = Dtype::BF16;
        }
    });
    let rounded = Network::open(folder.path(), options()).unwrap();
    let input = exact.encode(&["the", "dog"]).unwrap();
    let [mut a, mut b] = [Activations::new(), Activations::new()];
    exact.forward([&input], Mode::Infer, &mut a);
    rounded.forward([&input], Mode::Infer, &mut b);
    for (x, y) in a.hidden(2).iter().zip(b.hidden(2)) {
        assert!((x - y).abs() < 0.05);
    }
}

#[test]
fn missing_files_are_named() {
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        let folder = encoder(Family::Bert);
        fs::remove_file(folder.path().join(file)).unwrap();
        let error = error(&folder);
        assert!(
            error.contains(file) && error.contains("three files") && error.contains("Files"),
            "{error}"
        );
    }
}

#[test]
fn hostile_configurations() {
    let cases = [
        ("model_type", json!("gpt2"), "Supported are bert"),
        ("hidden_size", json!(1_u64 << 60), "whole number"),
        ("hidden_size", json!(1 << 20), "has the shape"),
        ("hidden_size", json!(0), "whole number"),
        ("hidden_size", json!(-3), "whole number"),
        ("num_hidden_layers", json!(1 << 24), "no tensor"),
        ("num_attention_heads", json!(5), "not a multiple"),
        ("vocab_size", json!(1 << 24), "has the shape"),
        ("vocab_size", json!(10), "rows"),
        ("max_position_embeddings", json!(2), "too few"),
        ("max_position_embeddings", json!(1 << 24), "has the shape"),
        ("hidden_act", json!("swish"), "Supported are gelu"),
        ("hidden_dropout_prob", json!(1.5), "below 1"),
        ("layer_norm_eps", json!("small"), "below 1"),
        ("position_embedding_type", json!("relative_key"), "absolute"),
    ];
    for (key, value, expected) in cases {
        let folder = encoder(Family::Bert);
        change_config(&folder, key, value.clone());
        let error = error(&folder);
        assert!(error.contains(expected), "{key} = {value}: {error}");
    }
    let folder = encoder(Family::Roberta);
    change_config(&folder, "pad_token_id", json!(-1));
    assert!(error(&folder).contains("pad_token_id"));
    let cases = [
        ("hidden_size", json!(12), "even width"),
        ("layer_types", json!(["full_attention"]), "must list 2 times"),
        ("layer_types", json!(["full_attention", 3]), "must list 2 times"),
        ("num_hidden_layers", json!(1 << 24), "no tensor"),
        ("global_attn_every_n_layers", json!(0), "whole number"),
        ("global_rope_theta", json!(-1.0), "must be a number from 1"),
        ("rope_parameters", json!({"full_attention": {"rope_type": "yarn"}}), "Only \"default\""),
        ("max_position_embeddings", json!(2), "too few"),
        ("norm_eps", json!(2), "below 1"),
        ("norm_bias", json!(true), "no tensor"),
    ];
    for (key, value, expected) in cases {
        let folder = encoder(Family::ModernBert);
        change_config(&folder, key, value.clone());
        let error = error(&folder);
        assert!(error.contains(expected), "{key} = {value}: {error}");
    }
    for text in ["", "[]", "{}", "null", "{\"model_type\": 3}"] {
        fs::write(folder.path().join("config.json"), text).unwrap();
        error(&folder);
    }
}

#[test]
fn hostile_weights() {
    let name = "bert.encoder.layer.1.output.dense.weight";
    let folder = encoder(Family::Bert);
    change_weights(&folder, |tensors| drop(tensors.remove(name)));
    assert!(error(&folder).contains(&format!("no tensor \"{name}\"")));

    let folder = encoder(Family::Bert);
    change_weights(&folder, |tensors| tensors.get_mut(name).unwrap().1.reverse());
    let message = error(&folder);
    assert!(message.contains("[24, 16]") && message.contains("[16, 24]"), "{message}");

    let folder = encoder(Family::Bert);
    change_weights(&folder, |tensors| {
        tensors.get_mut(name).unwrap().2[4..8].copy_from_slice(&f32::NAN.to_le_bytes())
    });
    let message = error(&folder);
    assert!(message.contains("NaN at index 1") && message.contains(name), "{message}");

    let folder = encoder(Family::Bert);
    change_weights(&folder, |tensors| tensors.get_mut(name).unwrap().0 = Dtype::I32);
    assert!(error(&folder).contains("I32"));

    let path = folder.path().join("model.safetensors");
    let whole = fs::read(&path).unwrap();
    for bytes in [&whole[..0], &whole[..7], &whole[..100], &whole[..whole.len() - 1], &[0xff; 64]] {
        fs::write(&path, bytes).unwrap();
        assert!(error(&folder).contains("not a safetensors file"));
    }
}

#[test]
fn hostile_tokenizers() {
    let folder = encoder(Family::Bert);
    let other = encoder(Family::Roberta);
    fs::copy(other.path().join("tokenizer.json"), folder.path().join("tokenizer.json")).unwrap();
    let message = error(&folder);
    assert!(message.contains("from one place"), "{message}");
    let path = folder.path().join("tokenizer.json");
    for text in [
        "",
        "{}",
        "[1, 2]",
        "{\"model\": {\"type\": \"WordLevel\", \"vocab\": {}, \"unk_token\": \"u\"}}",
    ] {
        fs::write(&path, text).unwrap();
        error(&folder);
    }
}

#[test]
fn hostile_parts() {
    let network = Network::open(encoder(Family::Bert).path(), options()).unwrap();
    let open = |description: &str, tensors: Vec<Tensor<'_>>| {
        Network::from_parts(description, network.tokenizer(), tensors)
    };
    let description = network.description();
    open(&description, network.to_tensors()).unwrap();
    for (from, to) in [
        ("\"hidden\":16", "\"hidden\":16000000"),
        ("\"layers\":2", "\"layers\":16000000"),
        ("\"arc_mlp\":8", "\"arc_mlp\":60000"),
        ("\"heads\":4", "\"heads\":0"),
        ("\"dropout\":0.33", "\"dropout\":2"),
        ("\"is_quantized\":false", "\"is_quantized\":true"),
        ("\"classes\":5", "\"classes\":0"),
        ("\"positions\":64", "\"positions\":1"),
        ("{", ""),
    ] {
        assert!(description.contains(from), "{description}");
        open(&description.replacen(from, to, 1), network.to_tensors()).unwrap_err();
    }
    for left_out in 0..network.to_tensors().len() {
        let mut tensors = network.to_tensors();
        tensors.remove(left_out);
        open(&description, tensors).unwrap_err();
    }
    Network::from_parts(&description, None, network.to_tensors()).unwrap_err();
}

#[test]
fn senseless_options() {
    let folder = encoder(Family::Bert);
    for options in [
        options().with_dropout(1.0),
        options().with_encoder_dropout(-0.1),
        options().with_layers(tutte_neural::LayerChoice::Last(0)),
        options().with_layers(tutte_neural::LayerChoice::Last(4)),
        options().with_label_mlp(0),
        options().with_tag_head("upos", 3),
        options().with_tag_head("xpos", 0),
    ] {
        assert!(Network::open(folder.path(), options).unwrap_err().to_string().contains("must be"));
    }
}
