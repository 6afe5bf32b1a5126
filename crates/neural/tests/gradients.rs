//! Gradients of whole networks against finite differences, parameter by parameter.

mod support;

use support::Folder;
use tutte_neural::{
    Activations, Coefficients, Family, LayerChoice, Mode, Network, NetworkOptions, Pooling,
    RandomEncoder, ScratchOptions, SentenceInput, cross_entropy,
};

/// Numbers that look random, between −1 and 1.
fn numbers(n: usize, mut state: u32) -> Vec<f32> {
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

/// A loss that uses every score: Σ weight·score of arcs and labels, and a cross-entropy of tags.
fn loss(
    network: &Network,
    sentences: &[SentenceInput],
    activations: &mut Activations,
    coefficients: &mut Coefficients,
) -> f64 {
    network.forward(sentences, Mode::Train { seed: 3 }, activations);
    coefficients.reset(activations);
    let weighted = |scores: &[f32], weights: &[f32]| -> f64 {
        scores.iter().zip(weights).map(|(&s, &w)| f64::from(s) * f64::from(w)).sum()
    };
    let mut total = 0.0;
    for sentence in 0..sentences.len() {
        let scores = activations.arc_scores(sentence);
        let weights = numbers(scores.len(), 5 + sentence as u32);
        total += weighted(scores, &weights);
        coefficients.arcs_mut(sentence).copy_from_slice(&weights);
        let n = activations.words(sentence);
        let arcs: Vec<(usize, usize)> =
            (1..=n).flat_map(|m| [(0, m), (n - m + 1, m)]).filter(|(h, m)| h != m).collect();
        let mut scores = Vec::new();
        activations.label_scores(sentence, &arcs, &mut scores);
        let labels = network.options().labels;
        for (arc, scores) in arcs.iter().zip(scores.chunks(labels.max(1))) {
            let weights = numbers(labels, 50 + arc.1 as u32);
            total += weighted(scores, &weights);
            coefficients.add_labels(sentence, *arc, &weights);
        }
        for (head, tags) in network.tag_heads().iter().enumerate() {
            for (word, log_probs) in
                activations.tag_log_probs(sentence, head).chunks(tags.classes).enumerate()
            {
                let mut target = vec![0.0; tags.classes];
                target[word % tags.classes] = 1.0;
                let d = &mut coefficients.tags_mut(sentence, head)[word * tags.classes..]
                    [..tags.classes];
                total += cross_entropy(log_probs, &target, d);
            }
        }
    }
    total
}

/// Makes every weight differ from its initial value: zeros would hide mistakes.
fn shake(network: &mut Network) {
    let mut seed = 1;
    network.for_each_parameter(|_, _, values| {
        seed += 1;
        let noise = numbers(values.len(), seed);
        for (value, noise) in values.iter_mut().zip(noise) {
            *value += 0.2 * noise;
        }
    });
}

/// Compares the derivative along one direction per parameter with central differences.
fn check(mut network: Network, sentences: &[&[&str]]) {
    shake(&mut network);
    let inputs: Vec<SentenceInput> =
        sentences.iter().map(|words| network.encode(words).unwrap()).collect();
    let mut activations = Activations::new();
    let mut coefficients = Coefficients::new();
    let mut gradients = network.gradients().unwrap();
    loss(&network, &inputs, &mut activations, &mut coefficients);
    network.backward(&mut activations, &coefficients, &mut gradients);
    let is_frozen = network.options().has_frozen_encoder;
    let parameters = network.parameters().to_vec();
    for (i, parameter) in parameters.iter().enumerate() {
        if is_frozen && parameter.depth.is_some() {
            assert!(gradients.of_parameter(parameter).is_none());
            continue;
        }
        let gradient = gradients.of_parameter(parameter).unwrap().to_vec();
        let direction = numbers(gradient.len(), 77 + i as u32);
        let found: f64 =
            gradient.iter().zip(&direction).map(|(&g, &d)| f64::from(g) * f64::from(d)).sum();
        let step = 2e-3f32 / (gradient.len() as f32).sqrt().min(8.0);
        let mut moved = |factor: f32| {
            let mut network = network.clone();
            network.for_each_parameter(|name, _, values| {
                if name == parameter.name {
                    values.iter_mut().zip(&direction).for_each(|(value, d)| *value += factor * d);
                }
            });
            loss(&network, &inputs, &mut activations, &mut coefficients)
        };
        let expected = (moved(step) - moved(-step)) / (2.0 * f64::from(step));
        let scale = gradient.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt();
        let error = (found - expected).abs();
        assert!(
            error < 0.02 * scale.max(0.5),
            "{}: {found} by hand, {expected} by differences",
            parameter.name
        );
    }
}

const SENTENCES: &[&[&str]] =
    &[&["the", "dog", "barks"], &["a"], &["xyz", "is", "the", "abc", "dog"]];

fn options() -> NetworkOptions {
    NetworkOptions::new()
        .with_arc_mlp(6)
        .with_label_mlp(5)
        .with_labels(3)
        .with_tag_head("upos", 4)
        .with_tag_head("feats", 2)
}

#[test]
fn pretrained() {
    for (family, pooling) in [
        (Family::Bert, Pooling::FirstLast),
        (Family::Roberta, Pooling::Mean),
        (Family::XlmRoberta, Pooling::First),
        (Family::DistilBert, Pooling::FirstLast),
        (Family::ModernBert, Pooling::Mean),
    ] {
        let folder = Folder::new();
        RandomEncoder::new(family)
            .with_words(["the", "dog", "barks"])
            .write(folder.path())
            .unwrap();
        check(Network::open(folder.path(), options().with_pooling(pooling)).unwrap(), SENTENCES);
    }
}

#[test]
fn windows_and_last_layers() {
    let folder = Folder::new();
    RandomEncoder::new(Family::Bert).with_positions(8).write(folder.path()).unwrap();
    let options = options().with_layers(LayerChoice::Last(2)).with_encoder_dropout(0.3);
    check(Network::open(folder.path(), options).unwrap(), SENTENCES);
}

#[test]
fn frozen() {
    let folder = Folder::new();
    RandomEncoder::new(Family::Bert).write(folder.path()).unwrap();
    check(Network::open(folder.path(), options().with_frozen_encoder(true)).unwrap(), SENTENCES);
}

#[test]
fn scratch() {
    let scratch = ScratchOptions::new().with_hidden(16).with_layers(2, 4).with_rows(20, 30);
    check(Network::scratch(&scratch, options()).unwrap(), SENTENCES);
}

#[test]
fn tags_alone() {
    let folder = Folder::new();
    RandomEncoder::new(Family::Bert).write(folder.path()).unwrap();
    let options = NetworkOptions::new().with_arc_mlp(0).with_tag_head("upos", 4);
    let network = Network::open(folder.path(), options).unwrap();
    let input = network.encode(&["a", "b"]).unwrap();
    let mut activations = Activations::new();
    network.forward([&input], Mode::Infer, &mut activations);
    assert!(activations.arc_scores(0).is_empty());
    for row in activations.tag_log_probs(0, 0).chunks(4) {
        assert!((row.iter().map(|x| x.exp()).sum::<f32>() - 1.0).abs() < 1e-5);
    }
    let mut coefficients = Coefficients::new();
    let mut gradients = network.gradients().unwrap();
    network.forward([&input], Mode::Train { seed: 1 }, &mut activations);
    coefficients.reset(&activations);
    coefficients.tags_mut(0, 0).fill(0.1);
    network.backward(&mut activations, &coefficients, &mut gradients);
    assert!(gradients.norm() > 0.0);
    gradients.clear();
    assert_eq!(gradients.norm(), 0.0);
}
