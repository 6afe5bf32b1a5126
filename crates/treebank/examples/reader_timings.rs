//! The timings of this crate for `benches/peers/reader.py`: reading a treebank from disk, and
//! reading it with all columns parsed. Prints the best time of several rounds, in seconds, and the
//! counts.
//!
//! ```text
//! cargo run --release -p tutte-treebank --example reader_timings -- FILE ROUNDS
//! ```
#![allow(clippy::print_stdout, reason = "a program that reports")]

use std::hint::black_box;
use std::time::Instant;

use tutte_treebank::{Error, Sentence, open};

/// Sentences, words, sum of heads, features, entries of DEPS and of MISC.
type Counts = [usize; 6];

fn read(path: &str) -> Result<Counts, Error> {
    let mut counts = [0; 6];
    let mut reader = open(path)?;
    let mut sentence = Sentence::default();
    while reader.read(&mut sentence)? {
        counts[0] += 1;
        counts[1] += black_box(&sentence).len();
    }
    Ok(counts)
}

/// Parses all columns, as the peers do by default.
fn take_apart(path: &str) -> Result<Counts, Error> {
    let mut counts = [0; 6];
    let mut reader = open(path)?;
    let mut sentence = Sentence::default();
    while reader.read(&mut sentence)? {
        counts[0] += 1;
        for word in sentence.words() {
            counts[1] += 1;
            counts[2] += word.head().unwrap_or(0);
            counts[3] += word.features().map(black_box).count();
            for dependency in word.enhanced() {
                black_box(dependency?);
                counts[4] += 1;
            }
            counts[5] += word.misc_entries().map(black_box).count();
        }
    }
    Ok(counts)
}

fn best(rounds: usize, work: impl Fn() -> Result<Counts, Error>) -> Result<(f64, Counts), Error> {
    let mut best = (f64::INFINITY, [0; 6]);
    for _ in 0..rounds {
        let start = Instant::now();
        let counts = work()?;
        best = (best.0.min(start.elapsed().as_secs_f64()), counts);
    }
    Ok(best)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, rounds] = &arguments[..] else {
        return Err("usage: reader_timings FILE ROUNDS".into());
    };
    let rounds: usize = rounds.parse()?;
    let (seconds, _) = best(rounds, || read(path))?;
    println!("{seconds}");
    let (seconds, counts) = best(rounds, || take_apart(path))?;
    println!("{seconds} {}", counts.map(|count| count.to_string()).join(" "));
    Ok(())
}
