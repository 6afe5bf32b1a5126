//! Training: a toy task is learnt, checkpoints resume to the same bits, shards add up.

mod support;

use support::Folder;
use tutte_linear::{Checkpointed, Codec};
use tutte_neural::{
    Activations, AdamW, AdamWOptions, Coefficients, Family, Gradients, Mode, Network,
    NetworkOptions, RandomEncoder, ScratchOptions, SentenceInput, cross_entropy,
};

/// Sentences with heads, labels and tags: `a`-words hang on the next `b`-word, `b`-words on the first word, which
/// hangs on the root.
fn treebank() -> Vec<(Vec<&'static str>, Vec<usize>)> {
    let sentences: [&[&str]; 6] = [
        &["b", "a", "b"],
        &["b", "a", "a", "b"],
        &["bc", "a", "b", "a", "b"],
        &["b"],
        &["bc", "a", "bc", "b"],
        &["b", "b", "a", "bc"],
    ];
    let heads = |words: &[&str]| {
        (0..words.len())
            .map(|i| match words[i] {
                _ if i == 0 => 0,
                "a" => i + 2 + words[i + 1..].iter().position(|w| w.starts_with('b')).unwrap(),
                _ => 1,
            })
            .collect()
    };
    sentences.map(|words| (words.to_vec(), heads(words))).to_vec()
}

/// Adds the gradient of the cross-entropy of heads, labels and tags, and returns loss and errors.
fn learn(
    network: &Network,
    batch: &[(SentenceInput, Vec<usize>)],
    mode: Mode,
    activations: &mut Activations,
    gradients: &mut Gradients,
) -> (f64, usize) {
    let mut coefficients = Coefficients::new();
    network.forward(batch.iter().map(|(input, _)| input), mode, activations);
    coefficients.reset(activations);
    let (mut loss, mut errors) = (0.0, 0);
    for (sentence, (_, heads)) in batch.iter().enumerate() {
        let nodes = heads.len() + 1;
        for (i, &head) in heads.iter().enumerate() {
            let modifier = i + 1;
            let mut scores: Vec<f32> = (0..nodes)
                .map(|h| activations.arc_scores(sentence)[h * nodes + modifier])
                .collect();
            scores[modifier] = -1e9;
            let log_sum = scores.iter().map(|s| f64::from(*s).exp()).sum::<f64>().ln() as f32;
            let log_probs: Vec<f32> = scores.iter().map(|s| s - log_sum).collect();
            let best = (0..nodes).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
            errors += usize::from(best != head);
            let mut target = vec![0.0; nodes];
            target[head] = 1.0;
            let mut d = vec![0.0; nodes];
            loss += cross_entropy(&log_probs, &target, &mut d);
            for h in 0..nodes {
                coefficients.arcs_mut(sentence)[h * nodes + modifier] = d[h];
            }
            // The label and the tag say whether the head is the root.
            let class = usize::from(head == 0);
            let mut labels = Vec::new();
            activations.label_scores(sentence, &[(head, modifier)], &mut labels);
            let log_sum = (labels[0].exp() + labels[1].exp()).ln();
            let log_probs = [labels[0] - log_sum, labels[1] - log_sum];
            errors += usize::from(log_probs[class] < log_probs[1 - class]);
            let mut target = [0.0; 2];
            target[class] = 1.0;
            let mut d = [0.0; 2];
            loss += cross_entropy(&log_probs, &target, &mut d);
            coefficients.add_labels(sentence, (head, modifier), &d);
            let log_probs = &activations.tag_log_probs(sentence, 0)[i * 2..i * 2 + 2];
            errors += usize::from(log_probs[class] < log_probs[1 - class]);
            loss += cross_entropy(
                log_probs,
                &target,
                &mut coefficients.tags_mut(sentence, 0)[i * 2..i * 2 + 2],
            );
        }
    }
    if mode != Mode::Infer {
        network.backward(activations, &coefficients, gradients);
    }
    (loss, errors)
}

fn options() -> NetworkOptions {
    NetworkOptions::new()
        .with_arc_mlp(16)
        .with_label_mlp(8)
        .with_labels(2)
        .with_tag_head("is-root", 2)
        .with_dropout(0.1)
        .with_encoder_dropout(0.0)
}

fn pretrained() -> Network {
    let folder = Folder::new();
    RandomEncoder::new(Family::Bert).with_sizes(32, 2, 4, 64).write(folder.path()).unwrap();
    Network::open(folder.path(), options()).unwrap()
}

fn scratch() -> Network {
    let scratch = ScratchOptions::new().with_hidden(32).with_layers(2, 4).with_rows(50, 100);
    Network::scratch(&scratch, options()).unwrap()
}

fn batch(network: &Network) -> Vec<(SentenceInput, Vec<usize>)> {
    treebank().into_iter().map(|(words, heads)| (network.encode(&words).unwrap(), heads)).collect()
}

fn adamw() -> AdamWOptions {
    AdamWOptions::new().with_rates(2e-3, 5e-3).with_steps(10, 300).with_clip(5.0)
}

#[test]
fn learns_a_toy_task() {
    for mut network in [pretrained(), scratch()] {
        let batch = batch(&network);
        let mut gradients = network.gradients().unwrap();
        let mut optimizer = AdamW::new(adamw(), &gradients);
        let mut activations = Activations::new();
        for step in 0..300 {
            gradients.clear();
            learn(&network, &batch, Mode::Train { seed: step }, &mut activations, &mut gradients);
            optimizer.step(&mut network, &gradients);
        }
        let (loss, errors) = learn(&network, &batch, Mode::Infer, &mut activations, &mut gradients);
        assert_eq!(errors, 0, "the loss is {loss}");
    }
}

/// Runs steps `from..to`, one shard per half of the batch.
fn run(network: &mut Network, optimizer: &mut AdamW, from: u64, to: u64) {
    let batch = batch(network);
    let mut shards = [network.gradients().unwrap(), network.gradients().unwrap()];
    let mut activations = Activations::new();
    for step in from..to {
        for (i, shard) in shards.iter_mut().enumerate() {
            shard.clear();
            let mode = Mode::Train { seed: 2 * step + i as u64 };
            learn(network, &batch[3 * i..3 * i + 3], mode, &mut activations, shard);
        }
        let [sum, other] = &mut shards;
        sum.add(other);
        optimizer.step(network, sum);
    }
}

fn bits(network: &Network) -> Vec<u32> {
    let mut bits = Vec::new();
    network
        .clone()
        .for_each_parameter(|_, _, values| bits.extend(values.iter().map(|v| v.to_bits())));
    bits
}

#[test]
fn resumes_to_the_same_bits() {
    for network in [pretrained(), scratch()] {
        let mut whole = network.clone();
        let mut optimizer = AdamW::new(adamw(), &whole.gradients().unwrap());
        run(&mut whole, &mut optimizer, 0, 6);

        let mut first = network.clone();
        let mut optimizer = AdamW::new(adamw(), &first.gradients().unwrap());
        run(&mut first, &mut optimizer, 0, 3);
        let mut saved = Vec::new();
        first.checkpoint(&mut Codec::Write(&mut saved)).unwrap();
        optimizer.checkpoint(&mut Codec::Write(&mut saved)).unwrap();
        let mut second = network.clone();
        let mut resumed = AdamW::new(adamw(), &second.gradients().unwrap());
        let rest = &mut &saved[..];
        second.checkpoint(&mut Codec::Read(rest)).unwrap();
        assert_eq!(bits(&first), bits(&second));
        resumed.checkpoint(&mut Codec::Read(rest)).unwrap();
        assert_eq!(resumed.steps(), 3);
        run(&mut second, &mut resumed, 3, 6);
        assert_eq!(bits(&whole), bits(&second));
    }
}

#[test]
fn shards_add_up() {
    let network = Network::from_parts(
        &pretrained().description().replace("\"dropout\":0.1", "\"dropout\":0.0"),
        pretrained().tokenizer(),
        pretrained().to_tensors(),
    )
    .unwrap();
    let batch = batch(&network);
    let mut activations = Activations::new();
    let mut all = network.gradients().unwrap();
    learn(&network, &batch, Mode::Train { seed: 1 }, &mut activations, &mut all);
    let mut parts = network.gradients().unwrap();
    for part in [&batch[..2], &batch[2..]] {
        let mut gradients = network.gradients().unwrap();
        learn(&network, part, Mode::Train { seed: 1 }, &mut activations, &mut gradients);
        parts.add(&gradients);
    }
    parts.scale(-1.0);
    parts.add(&all);
    assert!(parts.norm() < 1e-4 * all.norm(), "{} of {}", parts.norm(), all.norm());
}

#[test]
fn frozen_encoders_stay_as_they_are() {
    let mut network = pretrained();
    network.set_frozen_encoder(true);
    let before = network.clone();
    let mut optimizer = AdamW::new(adamw(), &network.gradients().unwrap());
    run(&mut network, &mut optimizer, 0, 3);
    let mut old = Vec::new();
    before
        .clone()
        .for_each_parameter(|name, _, values| old.push((name.to_owned(), values.to_vec())));
    let mut i = 0;
    let mut moved = 0;
    network.for_each_parameter(|name, _, values| {
        if name.starts_with("encoder.") {
            assert_eq!(old[i].1, values);
        } else {
            moved += usize::from(old[i].1 != values);
        }
        i += 1;
    });
    assert!(moved > 5);
}

#[test]
fn memory_is_used_again() {
    // A smaller batch after a larger one gives the same as with fresh memory.
    let network = pretrained();
    let batch = batch(&network);
    let mut used = Activations::new();
    let mut gradients = network.gradients().unwrap();
    learn(&network, &batch, Mode::Train { seed: 1 }, &mut used, &mut gradients);
    network.forward([&batch[1].0], Mode::Infer, &mut used);
    let mut fresh = Activations::new();
    network.forward([&batch[1].0], Mode::Infer, &mut fresh);
    assert_eq!(used.arc_scores(0), fresh.arc_scores(0));
    assert_eq!(used.tag_log_probs(0, 0), fresh.tag_log_probs(0, 0));
    network.forward([], Mode::Infer, &mut fresh);
    assert_eq!(fresh.sentences(), 0);
    let empty = network.encode(&[""; 0]).unwrap();
    network.forward([&empty, &batch[1].0], Mode::Infer, &mut fresh);
    assert_eq!((fresh.words(0), fresh.arc_scores(0).len()), (0, 1));
}
