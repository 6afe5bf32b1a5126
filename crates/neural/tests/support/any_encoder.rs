//! Checks on arbitrary bytes as an encoder folder and as the network of a model file: reading must not panic or take
//! memory that the bytes do not pay for, and a network that was read must score, and survive being stored.
//!
//! Fuzzing (`fuzz/`) and the tests (`tests/no_panic.rs`) share this file. Add new checks here, for both.

use std::fs;
use std::path::Path;

use safetensors::{Dtype, SafeTensors};
use tutte_neural::{Activations, Mode, Network, NetworkOptions, Tensor, TensorData};

/// Joins the parts of an input: `config.json` or the description of a network, the tokenizer, and the weights.
pub(crate) fn joined(config: &[u8], tokenizer: &[u8], weights: &[u8]) -> Vec<u8> {
    [config, &[0], tokenizer, &[0], weights].concat()
}

/// Divides an input into its three parts. Texts end with a zero byte.
fn parts(data: &[u8]) -> [&[u8]; 3] {
    let mut parts = data.splitn(3, |byte| *byte == 0);
    [(); 3].map(|()| parts.next().unwrap_or_default())
}

/// Reads `data` as an encoder folder, which is written to `folder`, and as the parts of a network in a model file.
/// Runs all checks. Returns `true` if it is a network in one of these forms.
///
/// # Panics
/// If a check fails.
pub(crate) fn ask_everything(data: &[u8], folder: &Path) -> bool {
    let [config, tokenizer, weights] = parts(data);
    fs::create_dir_all(folder).expect("a folder can be made");
    for (name, bytes) in
        [("config.json", config), ("tokenizer.json", tokenizer), ("model.safetensors", weights)]
    {
        fs::write(folder.join(name), bytes).expect("a file can be written");
    }
    let options = NetworkOptions::new()
        .with_arc_mlp(2)
        .with_label_mlp(2)
        .with_labels(2)
        .with_tag_head("upos", 2);
    let opened = Network::open(folder, options);
    let tokenizer = (!tokenizer.is_empty()).then_some(tokenizer);
    let description = String::from_utf8_lossy(config);
    let stored = Network::from_parts(&description, tokenizer, tensors(weights));
    [opened, stored].into_iter().fold(false, |is_network, read| match read {
        Ok(network) => {
            ask(&network, data.len());
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            is_network
        }
    })
}

/// Reads tensors as model files do. Bytes that are not tensors are none.
fn tensors(bytes: &[u8]) -> Vec<Tensor<'static>> {
    let Ok(tensors) = SafeTensors::deserialize(bytes) else { return Vec::new() };
    let tensor = |(name, view): (&str, safetensors::tensor::TensorView<'_>)| {
        let shape = view.shape().to_vec();
        match view.dtype() {
            Dtype::F32 => {
                let numbers =
                    view.data().as_chunks().0.iter().map(|four| f32::from_le_bytes(*four));
                Some(Tensor::f32(name, shape, numbers.collect::<Vec<f32>>()))
            }
            Dtype::I8 => {
                let numbers = view.data().iter().map(|byte| *byte as i8);
                Some(Tensor::i8(name, shape, numbers.collect::<Vec<i8>>()))
            }
            _ => None,
        }
    };
    tensors.iter().filter_map(tensor).collect()
}

/// Runs all checks on a network that was made of this many bytes.
fn ask(network: &Network, bytes: usize) {
    assert!(network.encoder_config().hidden <= bytes);
    let Some(scores) = scores(network) else { return };
    let tensors = network.to_tensors();
    for Tensor { shape, data, .. } in &tensors {
        let len = match data {
            TensorData::F32(values) => values.len(),
            TensorData::I8(values) => values.len(),
            other => panic!("{other:?} is not stored"),
        };
        assert_eq!(shape.iter().product::<usize>(), len);
    }
    let again = Network::from_parts(&network.description(), network.tokenizer(), tensors);
    let again = again.expect("the parts of a network make it again");
    let bits = |scores: &[f32]| scores.iter().map(|score| score.to_bits()).collect::<Vec<_>>();
    let is_number = scores.iter().all(|score| !score.is_nan());
    if is_number {
        assert_eq!(bits(&self::scores(&again).expect("scores")), bits(&scores));
    }
    let _ = self::scores(&network.quantize());
}

/// Returns the scores of arcs and tags of some words; `None` if the tokenizer cannot divide them.
fn scores(network: &Network) -> Option<Vec<f32>> {
    let words = ["Tea", "", "cools", "\u{0}", "日本", "no-one's"];
    let input = network.encode(&words).ok()?;
    assert_eq!(input.words(), words.len());
    let mut activations = Activations::new();
    network.forward([&input, &input], Mode::Infer, &mut activations);
    let mut scores = activations.arc_scores(1).to_vec();
    for head in 0..network.tag_heads().len() {
        scores.extend_from_slice(activations.tag_log_probs(1, head));
    }
    if network.options().labels > 0 {
        let mut labels = Vec::new();
        activations.label_scores(1, &[(0, 1), (6, 2)], &mut labels);
        assert_eq!(labels.len(), 2 * network.options().labels);
        scores.extend(labels);
    }
    Some(scores)
}
