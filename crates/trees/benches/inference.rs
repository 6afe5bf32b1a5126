//! The matrix-tree theorem against a linear-algebra library, measured in the same run.
//!
//! Ours goes from scores to log-partition and marginals. faer only computes the LU factorisation and
//! the inverse, of a matrix built beforehand, into memory allocated beforehand.
//!
//! `cargo bench -p tutte-trees --bench inference`
#![allow(clippy::print_stdout, missing_docs)]

mod support;

use std::hint::black_box;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting::{factor, inverse};
use faer::{Mat, Par};
use support::{Stopwatch, exponent, gaussian, sentences, trained};
use tutte_trees::{ArcMatrix, TreeSet, Workspace, arc_covariances_with, marginals_with};

const SETS: [TreeSet; 2] = [TreeSet::NonProjectiveMultiRoot, TreeSet::NonProjectiveSingleRoot];
const SIZES: [usize; 5] = [10, 20, 40, 80, 160];

/// Target ratios to faer's LU + inverse: marginals multi-root, single-root, log-partition.
const TARGETS: [[f64; 5]; 3] =
    [[1.2, 1.2, 1.4, 2.0, 2.5], [1.6, 1.6, 1.8, 2.5, 3.0], [0.6, 0.6, 0.7, 0.9, 1.0]];

fn main() {
    let mut watch = Stopwatch::new();
    let mut ratios: [Vec<f64>; 4] = Default::default();
    let mut microseconds: [Vec<f64>; 6] = Default::default();
    for words in SIZES {
        let inputs = sentences(words, gaussian);
        let faer = time_faer(&mut watch, &inputs);
        microseconds[0].push(faer);
        for (which, set) in SETS.into_iter().enumerate() {
            let time = watch.time_marginals("N(0,1)", set, &inputs);
            microseconds[1 + which].push(time);
            ratios[which].push(time / faer);
            let time = watch.time_log_partition("log_partition", set, &inputs);
            microseconds[3 + which].push(time);
            ratios[2 + which].push(time / faer);
        }
        microseconds[5].push(time_covariances(&mut watch, SETS[0], &inputs));
    }
    let exponents = SETS.map(|set| fit(&mut watch, set));
    let fall_backs = SETS.map(|set| SIZES.map(|words| share_declined(set, words)));
    let slow = SETS.map(|set| {
        let inputs = sentences(40, strong_cycles);
        watch.time_marginals("strong cycles", set, &inputs)
    });
    watch.finish();
    println!("Dense N(0,1) scores, one thread, times relative to faer's LU + inverse (target)");
    header();
    let rows = [
        ("log Z + marginals, multi-root", 0, 0),
        ("log Z + marginals, single-root", 1, 1),
        ("log Z alone, multi-root", 2, 2),
        ("log Z alone, single-root", 3, 2),
    ];
    for (name, which, target) in rows {
        print!("{name:<36}");
        for (size, ratio) in ratios[which].iter().enumerate() {
            print!("{:>16}", format!("{ratio:.2} (≤ {})", TARGETS[target][size]));
        }
        println!();
    }
    println!("\nThe same in µs");
    header();
    let rows = [
        "faer LU + inverse",
        "log Z + marginals, multi-root",
        "log Z + marginals, single-root",
        "log Z alone, multi-root",
        "log Z alone, single-root",
        "covariance of one G with every arc",
    ];
    for (name, times) in rows.into_iter().zip(&microseconds) {
        print!("{name:<36}");
        times.iter().for_each(|time| print!("{time:>16.2}"));
        println!();
    }
    println!();
    for (set, exponent) in SETS.into_iter().zip(exponents) {
        println!("{set}: marginals grow as n^{exponent:.2} over n = 20…320 (target ≤ 3.1)");
    }
    for (set, shares) in SETS.into_iter().zip(fall_backs) {
        let shares = shares.map(|share| format!("{:.1} %", 100.0 * share)).join(", ");
        println!("{set}: trained-like scores that need the fall-back at n = {SIZES:?}: {shares}");
    }
    for ((set, time), which) in SETS.into_iter().zip(slow).zip([1, 2]) {
        let ratio = time / microseconds[which][2];
        println!("{set}: at n = 40 the fall-back takes {ratio:.1}× the fast path (target ≤ 3)");
    }
}

fn header() {
    print!("{:<36}", "");
    SIZES.iter().for_each(|words| print!("{:>16}", format!("n = {words}")));
    println!();
}

fn time_covariances(watch: &mut Stopwatch, set: TreeSet, inputs: &[ArcMatrix]) -> f64 {
    let mut workspace = Workspace::default();
    let mut covariances = ArcMatrix::default();
    let g = gaussian(inputs[0].words(), 99);
    watch.time(&format!("covariances/{set}/{}", inputs[0].words()), inputs, |scores| {
        let scores = black_box(scores);
        arc_covariances_with(scores, &g, set, &mut workspace, &mut covariances).ok();
        black_box(&covariances);
    })
}

fn fit(watch: &mut Stopwatch, set: TreeSet) -> f64 {
    let points = [20, 40, 80, 160, 320].map(|words| {
        let inputs = sentences(words, gaussian);
        (words, watch.time_marginals("growth", set, &inputs))
    });
    exponent(&points)
}

/// LU + inverse of the Laplacian, everything allocated beforehand.
fn time_faer(watch: &mut Stopwatch, inputs: &[ArcMatrix]) -> f64 {
    let n = inputs[0].words();
    let laplacians: Vec<Mat<f64>> = inputs
        .iter()
        .map(|scores| {
            Mat::from_fn(n, n, |i, j| {
                if i != j {
                    return -scores[(i + 1, j + 1)].exp();
                }
                (0..=n).filter(|&head| head != j + 1).map(|head| scores[(head, j + 1)].exp()).sum()
            })
        })
        .collect();
    let mut lu = Mat::<f64>::zeros(n, n);
    let mut result = Mat::<f64>::zeros(n, n);
    let mut forward = vec![0usize; n];
    let mut backward = vec![0usize; n];
    let mut memory = MemBuffer::new(
        factor::lu_in_place_scratch::<usize, f64>(n, n, Par::Seq, Default::default())
            .or(inverse::inverse_scratch::<usize, f64>(n, Par::Seq)),
    );
    watch.time(&format!("faer/{n}"), &laplacians, |laplacian| {
        lu.copy_from(black_box(laplacian));
        let stack = MemStack::new(&mut memory);
        let (_, permutation) = factor::lu_in_place(
            lu.as_mut(),
            &mut forward,
            &mut backward,
            Par::Seq,
            stack,
            Default::default(),
        );
        let stack = MemStack::new(&mut memory);
        inverse::inverse(result.as_mut(), lu.as_ref(), lu.as_ref(), permutation, Par::Seq, stack);
        black_box(&result);
    })
}

/// N(0,1) with pairs of words that head each other 30 nats above everything else: the certificate
/// of the fast path declines, and plain elimination answers.
fn strong_cycles(words: usize, seed: u64) -> ArcMatrix {
    let mut scores = gaussian(words, seed);
    for word in (1..words).step_by(2) {
        scores[(word, word + 1)] += 30.0;
        scores[(word + 1, word)] += 30.0;
    }
    scores
}

/// The share of trained-like sentences that the fast path declines.
fn share_declined(set: TreeSet, words: usize) -> f64 {
    let cases = 200;
    let mut workspace = Workspace::default();
    let mut marginals = ArcMatrix::default();
    let declined = (0..cases)
        .filter(|&seed| {
            let scores = trained(words, 1000 + seed);
            marginals_with(&scores, set, &mut workspace, &mut marginals).ok();
            workspace.used_fallback()
        })
        .count();
    declined as f64 / cases as f64
}
