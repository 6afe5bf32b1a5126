//! Speed of an encoder with its scorers on one thread: forward, forward and backward, 8-bit forward.
//!
//! `cargo bench -p tutte-neural --bench encoder`. With TUTTE_ENCODER, the encoder of that folder; otherwise one of
//! random weights with the sizes of a 22-million-parameter encoder. `peers/encoder.py` runs the same network and
//! batches in PyTorch.

#![allow(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Instant;

use tutte_neural::{
    Activations, AdamW, AdamWOptions, Coefficients, Family, Mode, Network, NetworkOptions,
    RandomEncoder, SentenceInput,
};

/// Sub-words of a batch.
const BATCH: usize = 1000;
/// Lengths of sentences, in words: about those of a web treebank.
const LENGTHS: [usize; 12] = [4, 25, 9, 16, 12, 31, 7, 19, 40, 14, 22, 5];
/// Words of one or two sub-words. The peer script has the same list.
const WORDS: [&str; 16] = [
    "the",
    "people",
    "of",
    "this",
    "small",
    "town",
    "rebuilt",
    "their",
    "church",
    "after",
    "a",
    "great",
    "fire",
    "in",
    "april",
    "unseasonably",
];

fn sentences() -> Vec<Vec<&'static str>> {
    let mut next = 0;
    let mut word = || {
        next += 1;
        WORDS[(next * 7 + next / 16) % 16]
    };
    LENGTHS.map(|n| (0..n).map(|_| word()).collect()).to_vec()
}

/// Batches of about [`BATCH`] rows, sentences of similar lengths together.
fn batches(network: &Network) -> (Vec<Vec<SentenceInput>>, usize) {
    let mut sentences: Vec<_> = std::iter::repeat_n(sentences(), 25).flatten().collect();
    sentences.sort_by_key(Vec::len);
    let words = sentences.iter().map(Vec::len).sum();
    let mut batches: Vec<Vec<SentenceInput>> = vec![Vec::new()];
    let mut rows = 0;
    for sentence in sentences {
        let input = network.encode(&sentence).expect("words can be divided");
        if rows > 0 && rows + input.rows() > BATCH {
            batches.push(Vec::new());
            rows = 0;
        }
        rows += input.rows();
        batches.last_mut().expect("there is a batch").push(input);
    }
    (batches, words)
}

/// Seconds of processor time of this thread. Where the system does not tell, seconds of the clock.
fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let status = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = status.split(' ').next().and_then(|time| time.parse::<f64>().ok());
    nanoseconds
        .map_or_else(|| START.get_or_init(Instant::now).elapsed().as_secs_f64(), |time| time * 1e-9)
}

/// Prints the best rate of a few runs, per second of processor time: other programs may run beside it.
fn report(name: &str, words: usize, mut run: impl FnMut()) {
    run();
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = seconds();
        run();
        best = best.min(seconds() - start);
    }
    println!("{name:32} {:8.0} tokens/s", words as f64 / best);
}

fn main() {
    let random = std::env::temp_dir().join(format!("tutte-bench-encoder-{}", std::process::id()));
    let given = std::env::var_os("TUTTE_ENCODER").map(PathBuf::from);
    let folder = given.clone().unwrap_or_else(|| random.clone());
    if given.is_none() {
        let words = (0..30_466).map(|i| format!("w{i}")).chain(WORDS.map(String::from));
        let encoder =
            RandomEncoder::new(Family::Bert).with_sizes(384, 6, 12, 1536).with_positions(512);
        encoder.with_words(words).write(&folder).expect("the folder can be written");
    }
    let options = NetworkOptions::new().with_labels(40).with_tag_head("upos", 17);
    let mut network = Network::open(&folder, options).expect("the encoder can be opened");
    let (batches, words) = batches(&network);
    let rows: usize = batches.iter().flatten().map(SentenceInput::rows).sum();
    println!("{words} words, {rows} sub-words, {} batches", batches.len());

    let mut activations = Activations::new();
    report("forward, 32 bits", words, || {
        for batch in &batches {
            network.forward(batch, Mode::Infer, &mut activations);
        }
    });
    let quantized = network.quantize();
    report("forward, 8 bits", words, || {
        for batch in &batches {
            quantized.forward(batch, Mode::Infer, &mut activations);
        }
    });
    let mut gradients = network.gradients().expect("weights have 32 bits");
    let mut optimizer = AdamW::new(AdamWOptions::new(), &gradients);
    let mut coefficients = Coefficients::new();
    let mut has_step = false;
    let mut train = |network: &mut Network, has_step: bool| {
        for (i, batch) in batches.iter().enumerate() {
            network.forward(batch, Mode::Train { seed: i as u64 }, &mut activations);
            coefficients.reset(&activations);
            for sentence in 0..batch.len() {
                coefficients.arcs_mut(sentence).fill(1e-3);
                for modifier in 1..=activations.words(sentence) {
                    coefficients.add_labels(sentence, (0, modifier), &[1e-3; 40]);
                }
                coefficients.tags_mut(sentence, 0).fill(1e-3);
            }
            gradients.clear();
            network.backward(&mut activations, &coefficients, &mut gradients);
            if has_step {
                optimizer.step(network, &gradients);
            }
        }
    };
    for name in ["forward and backward", "the same with AdamW"] {
        report(name, words, || train(&mut network, has_step));
        has_step = true;
    }
    let _ = std::fs::remove_dir_all(random);
}
