//! Networks with 8-bit weights: close to the original, stored and read to the same bits.

mod support;

use support::Folder;
use tutte_neural::{
    Activations, Error, Family, Mode, Network, NetworkOptions, RandomEncoder, ScratchOptions,
    TensorData,
};

fn networks() -> Vec<Network> {
    let options = NetworkOptions::new().with_labels(3).with_tag_head("upos", 5);
    let folder = Folder::new();
    RandomEncoder::new(Family::Bert).with_sizes(64, 3, 4, 128).write(folder.path()).unwrap();
    let scratch = ScratchOptions::new().with_hidden(40).with_layers(2, 4).with_rows(50, 100);
    vec![
        Network::open(folder.path(), options.clone()).unwrap(),
        Network::scratch(&scratch, options).unwrap(),
    ]
}

fn vectors(network: &Network) -> Vec<f32> {
    let input = network.encode(&["the", "dog", "barks", "at", "night"]).unwrap();
    let mut activations = Activations::new();
    network.forward([&input], Mode::Infer, &mut activations);
    activations.hidden(network.encoder_config().layers).to_vec()
}

#[test]
fn vectors_stay_close() {
    for network in networks() {
        let quantized = network.quantize();
        assert!(quantized.is_quantized() && !network.is_quantized());
        let [exact, rounded] = [vectors(&network), vectors(&quantized)];
        let norm = exact.iter().map(|x| x * x).sum::<f32>().sqrt();
        let error = exact.iter().zip(&rounded).map(|(x, y)| (x - y).powi(2)).sum::<f32>().sqrt();
        assert!(error > 0.0 && error < 0.03 * norm, "{error} of {norm}");
        assert!(matches!(quantized.gradients(), Err(Error::Quantized)));
    }
}

#[test]
fn stored_and_read_to_the_same_bits() {
    for network in networks() {
        let quantized = network.quantize();
        let tensors = quantized.to_tensors();
        let bytes: usize = tensors
            .iter()
            .map(|tensor| match &tensor.data {
                TensorData::F32(values) => 4 * values.len(),
                TensorData::I8(values) => values.len(),
                _ => unreachable!("there are no other types"),
            })
            .sum();
        assert!(
            bytes < network.parameter_count() * 4 * 2 / 5,
            "{bytes} of {}",
            network.parameter_count() * 4
        );
        let again =
            Network::from_parts(&quantized.description(), quantized.tokenizer(), tensors).unwrap();
        assert_eq!(vectors(&quantized), vectors(&again));
        let input = quantized.encode(&["a", "b"]).unwrap();
        let [mut a, mut b] = [Activations::new(), Activations::new()];
        quantized.forward([&input], Mode::Infer, &mut a);
        again.forward([&input], Mode::Infer, &mut b);
        assert_eq!(a.arc_scores(0), b.arc_scores(0));
        assert_eq!(a.tag_log_probs(0, 0), b.tag_log_probs(0, 0));
        // Stored once more, nothing changes.
        assert_eq!(quantized.to_tensors(), again.to_tensors());
    }
}
