//! Checks that no encoder folder and no stored network makes a reader panic. Runs the shared checks of `support` on the
//! inputs of the fuzzer and on damaged ones. `fuzz/` runs the same checks with coverage feedback.

#[path = "support/any_encoder.rs"]
mod any_encoder;
#[path = "../../../fuzz/inputs.rs"]
mod inputs;
mod support;

use std::fs;
use std::path::Path;

use any_encoder::{ask_everything, joined};
use proptest::prelude::*;
use support::Folder;
use tutte_neural::{Family, Network, NetworkOptions, RandomEncoder, ScratchOptions, TensorData};

/// Writes the seeds. Run it after a change of the format: `cargo test -p tutte-neural --test no_panic -- --ignored`.
#[test]
#[ignore = "writes fuzz/seeds/encoder"]
fn write_the_seeds_of_the_fuzzer() {
    let seeds = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/encoder"));
    fs::create_dir_all(seeds).expect("a folder");
    for (name, family) in [
        ("bert", Family::Bert),
        ("roberta", Family::Roberta),
        ("distilbert", Family::DistilBert),
        ("modernbert", Family::ModernBert),
    ] {
        let folder = Folder::new();
        let encoder = RandomEncoder::new(family).with_sizes(2, 1, 1, 2).with_positions(4);
        encoder.write(folder.path()).expect("an encoder");
        let read = |name: &str| fs::read(folder.path().join(name)).expect("a file");
        let files = ["config.json", "tokenizer.json", "model.safetensors"].map(read);
        fs::write(seeds.join(name), joined(&files[0], &files[1], &files[2])).expect("a file");
    }
    let scratch = ScratchOptions::new().with_hidden(4).with_layers(1, 2).with_rows(3, 5);
    let options = NetworkOptions::new().with_arc_mlp(2).with_labels(2).with_label_mlp(1);
    let network = Network::scratch(&scratch, options).expect("a network");
    for (name, network) in [("scratch", network.clone()), ("scratch-8-bit", network.quantize())] {
        fs::write(seeds.join(name), stored(&network)).expect("a file");
    }
}

/// Returns the parts of a network as an input of the fuzzer.
fn stored(network: &Network) -> Vec<u8> {
    use safetensors::tensor::{Dtype, TensorView};
    let tensors = network.to_tensors();
    let bytes = tensors.iter().map(|tensor| match &tensor.data {
        TensorData::F32(values) => {
            (Dtype::F32, values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
        }
        TensorData::I8(values) => (Dtype::I8, values.iter().map(|value| *value as u8).collect()),
        other => panic!("{other:?} is not stored"),
    });
    let bytes: Vec<_> = bytes.collect();
    let views = tensors.iter().zip(&bytes).map(|(tensor, (dtype, bytes))| {
        (tensor.name.clone(), TensorView::new(*dtype, tensor.shape.clone(), bytes).expect("sizes"))
    });
    let weights = safetensors::serialize(views, None).expect("tensors");
    joined(network.description().as_bytes(), network.tokenizer().unwrap_or_default(), &weights)
}

#[test]
fn inputs_of_the_fuzzer() {
    let folder = Folder::new();
    for (path, bytes) in inputs::inputs("encoder") {
        let is_network = ask_everything(&bytes, folder.path());
        let is_whole_seed = path.extension().is_none() && path.to_string_lossy().contains("seeds");
        assert!(is_network || !is_whole_seed, "{}", path.display());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_inputs(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let seeds = inputs::seeds("encoder");
        let mut bytes = which.get(&seeds).1.clone();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        ask_everything(&bytes, Folder::new().path());
    }
}
