//! Decoding, k-best lists and samples when arcs may cross: microseconds, and their growth with n.
//!
//! `cargo bench -p tutte-trees --bench decode`
#![allow(clippy::print_stdout, missing_docs)]

mod support;

use std::hint::black_box;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;
use support::{Stopwatch, exponent, gaussian, sentences, trained};
use tutte_trees::{TreeDistribution, TreeSet, Workspace, argmax_with};

const SINGLE: TreeSet = TreeSet::NonProjectiveSingleRoot;
const MULTI: TreeSet = TreeSet::NonProjectiveMultiRoot;
const SIZES: [usize; 6] = [10, 20, 40, 80, 160, 320];
/// Guide figures on an idle core, single-root, N(0,1).
const GUIDE: [&str; 6] = ["2", "6", "25", "110", "500", "–"];

fn main() {
    let mut watch = Stopwatch::new();
    let cases = [
        ("single-root, N(0,1)", SINGLE, gaussian as fn(usize, u64) -> _),
        ("multi-root, N(0,1)", MULTI, gaussian),
        ("single-root, trained-like", SINGLE, trained),
        ("multi-root, trained-like", MULTI, trained),
    ];
    let times = cases.map(|(name, set, make)| {
        SIZES.map(|words| {
            let mut workspace = Workspace::default();
            let mut heads = Vec::new();
            watch.time(&format!("best tree/{name}/{words}"), &sentences(words, make), |scores| {
                black_box(argmax_with(black_box(scores), set, &mut workspace, &mut heads)).ok();
            })
        })
    });
    let inputs = sentences(40, gaussian);
    let lists = [SINGLE, MULTI].map(|set| {
        watch.time(&format!("10-best/{set}/40"), &inputs, |scores| {
            if let Ok(d) = TreeDistribution::new(black_box(scores).clone(), set) {
                black_box(d.kbest(10));
            }
        })
    });
    let mut rng = Pcg64::seed_from_u64(1);
    let mut heads = Vec::new();
    let samples = [SINGLE, MULTI].map(|set| {
        watch.time(&format!("1000 samples/{set}/40"), &inputs, |scores| {
            if let Ok(d) = TreeDistribution::new(black_box(scores).clone(), set) {
                (0..1000).for_each(|_| d.sample_into(&mut rng, &mut heads));
                black_box(&heads);
            }
        })
    });
    watch.finish();
    println!("Best tree, µs (guide figures for an idle core in the last line)");
    print!("{:<28}", "");
    SIZES.iter().for_each(|words| print!("{:>10}", format!("n = {words}")));
    println!("{:>22}", "exponent, n ≥ 20");
    for ((name, ..), times) in cases.iter().zip(&times) {
        print!("{name:<28}");
        times.iter().for_each(|time| print!("{time:>10.2}"));
        let points: Vec<_> = SIZES.into_iter().zip(*times).skip(1).collect();
        println!("{:>22}", format!("{:.2} (≤ 2.2)", exponent(&points)));
    }
    print!("{:<28}", "guide, single-root");
    GUIDE.iter().for_each(|figure| print!("{figure:>10}"));
    println!("\n");
    for (index, set) in [SINGLE, MULTI].into_iter().enumerate() {
        println!("{set}, n = 40: 10-best {:.2} ms (target ≤ 2)", lists[index] / 1e3);
        println!(
            "{set}, n = 40: 1,000 exact samples {:.2} ms, solve and tables included (target ≤ 15)",
            samples[index] / 1e3
        );
    }
}
