//! Projective inference against a plain loop of the same recurrence, measured in the same run.
//!
//! The plain loop is a direct implementation, as in C, for this one purpose: four flat arrays, spans
//! by width, back-pointers for the best tree, a maximum and then a sum of exponentials for the total.
//! N(0,1) scores, one thread.
//!
//! `cargo bench -p tutte-trees --bench projective`
#![allow(clippy::print_stdout, missing_docs)]

mod support;

use std::hint::black_box;

use support::{Stopwatch, exponent, gaussian, sentences, trained};
use tutte_trees::{ArcMatrix, TreeSet, Workspace, argmax_with, log_partition_with};

const SETS: [TreeSet; 2] = [TreeSet::ProjectiveMultiRoot, TreeSet::ProjectiveSingleRoot];
const SIZES: [usize; 5] = [10, 20, 40, 80, 160];

fn main() {
    let mut watch = Stopwatch::new();
    let mut lines = Vec::new();
    for set in SETS {
        for words in SIZES {
            let inputs = sentences(words, gaussian);
            check(set, &inputs);
            let inside = watch.time_log_partition("inside", set, &inputs);
            let marginals = watch.time_marginals("N(0,1)", set, &inputs);
            let best = time_best(&mut watch, set, &inputs);
            let single = set.is_single_root();
            let mut plain = Plain::default();
            let mut heads = Vec::new();
            let plain_inside =
                watch.time(&format!("plain inside/{set}/{words}"), &inputs, |scores| {
                    black_box(plain.inside(black_box(scores), single));
                });
            let plain_best = watch.time(&format!("plain best/{set}/{words}"), &inputs, |scores| {
                black_box(plain.best(black_box(scores), single, &mut heads));
            });
            let peaked = watch.time_marginals("trained", set, &sentences(words, trained));
            lines.push(format!(
                "{set:<24}{words:>5}{inside:>10.2}{marginals:>11.2}{best:>10.2}{:>16.2}{:>14.2}{:>20.2}{:>18.2}",
                inside / plain_inside,
                best / plain_best,
                marginals / inside,
                peaked / marginals
            ));
        }
    }
    let growth = SETS.map(|set| {
        let points = |time: &mut dyn FnMut(&[ArcMatrix]) -> f64| {
            exponent(&[20, 40, 80, 160, 320].map(|words| (words, time(&sentences(words, gaussian)))))
        };
        let inside = points(&mut |inputs| watch.time_log_partition("inside", set, inputs));
        let marginals = points(&mut |inputs| watch.time_marginals("growth", set, inputs));
        let best = points(&mut |inputs| time_best(&mut watch, set, inputs));
        format!("{set}: exponents over n = 20…320: inside {inside:.2}, marginals {marginals:.2}, MAP {best:.2}")
    });
    watch.finish();
    println!("N(0,1) scores, one thread, µs, and ratios to the plain loop");
    println!(
        "{:<24}{:>5}{:>10}{:>11}{:>10}{:>16}{:>14}{:>20}{:>18}",
        "set",
        "n",
        "inside",
        "marginals",
        "MAP",
        "inside (≤ 2)",
        "MAP (≤ 2)",
        "marg./inside (≤ 4)",
        "trained/N(0,1)"
    );
    lines.iter().chain(&growth).for_each(|line| println!("{line}"));
}

/// Checks the answers before they are timed.
fn check(set: TreeSet, inputs: &[ArcMatrix]) {
    let mut workspace = Workspace::default();
    let mut heads = Vec::new();
    let mut plain = Plain::default();
    for scores in inputs {
        let ours = log_partition_with(scores, set, &mut workspace).unwrap();
        let theirs = plain.inside(scores, set.is_single_root());
        assert!((ours - theirs).abs() < 1e-9 * theirs.abs().max(1.0), "{ours} {theirs}");
        let ours = argmax_with(scores, set, &mut workspace, &mut heads).unwrap();
        let theirs = plain.best(scores, set.is_single_root(), &mut heads);
        assert!((ours - theirs).abs() < 1e-9 * theirs.abs().max(1.0), "{ours} {theirs}");
    }
}

fn time_best(watch: &mut Stopwatch, set: TreeSet, inputs: &[ArcMatrix]) -> f64 {
    let mut workspace = Workspace::default();
    let mut heads = Vec::new();
    watch.time(&format!("best/{set}/{}", inputs[0].words()), inputs, |scores| {
        black_box(argmax_with(black_box(scores), set, &mut workspace, &mut heads)).ok();
    })
}

/// The recurrence for one semiring: complete and incomplete items, headed left and right.
#[derive(Default)]
struct Plain {
    c_right: Vec<f64>,
    c_left: Vec<f64>,
    i_right: Vec<f64>,
    i_left: Vec<f64>,
    c_right_split: Vec<usize>,
    c_left_split: Vec<usize>,
    i_split: Vec<usize>,
    terms: Vec<f64>,
}

impl Plain {
    fn reset(&mut self, side: usize) {
        let values = [&mut self.c_right, &mut self.c_left, &mut self.i_right, &mut self.i_left];
        for values in values {
            values.clear();
            values.resize(side * side, f64::NEG_INFINITY);
        }
        for splits in [&mut self.c_right_split, &mut self.c_left_split, &mut self.i_split] {
            splits.resize(side * side, 0);
        }
        for i in 0..side {
            self.c_right[i * side + i] = 0.0;
            self.c_left[i * side + i] = 0.0;
        }
    }

    fn inside(&mut self, scores: &ArcMatrix, single: bool) -> f64 {
        let n = scores.words();
        let s = n + 1;
        let w = scores.as_slice();
        self.reset(s);
        let Self { c_right, c_left, i_right, i_left, terms, .. } = self;
        let first = usize::from(single);
        for width in 1..s - first {
            for i in first..s - width {
                let j = i + width;
                terms.clear();
                for q in i..j {
                    terms.push(c_right[i * s + q] + c_left[(q + 1) * s + j]);
                }
                let both = log_sum_exp(terms);
                i_right[i * s + j] = both + w[i * s + j];
                if i > 0 {
                    i_left[i * s + j] = both + w[j * s + i];
                }
                terms.clear();
                for q in i + 1..=j {
                    terms.push(i_right[i * s + q] + c_right[q * s + j]);
                }
                c_right[i * s + j] = log_sum_exp(terms);
                if i > 0 {
                    terms.clear();
                    for q in i..j {
                        terms.push(c_left[i * s + q] + i_left[q * s + j]);
                    }
                    c_left[i * s + j] = log_sum_exp(terms);
                }
            }
        }
        if !single {
            return c_right[n];
        }
        terms.clear();
        for m in 1..=n {
            terms.push(w[m] + c_left[s + m] + c_right[m * s + n]);
        }
        log_sum_exp(terms)
    }

    fn best(&mut self, scores: &ArcMatrix, single: bool, heads: &mut Vec<usize>) -> f64 {
        let n = scores.words();
        let s = n + 1;
        let w = scores.as_slice();
        self.reset(s);
        let Self { c_right, c_left, i_right, i_left, .. } = self;
        let first = usize::from(single);
        for width in 1..s - first {
            for i in first..s - width {
                let j = i + width;
                let mut best = f64::NEG_INFINITY;
                for q in i..j {
                    let score = c_right[i * s + q] + c_left[(q + 1) * s + j];
                    if score > best {
                        best = score;
                        self.i_split[i * s + j] = q;
                    }
                }
                i_right[i * s + j] = best + w[i * s + j];
                if i > 0 {
                    i_left[i * s + j] = best + w[j * s + i];
                }
                let mut best = f64::NEG_INFINITY;
                for q in i + 1..=j {
                    let score = i_right[i * s + q] + c_right[q * s + j];
                    if score > best {
                        best = score;
                        self.c_right_split[i * s + j] = q;
                    }
                }
                c_right[i * s + j] = best;
                if i > 0 {
                    let mut best = f64::NEG_INFINITY;
                    for q in i..j {
                        let score = c_left[i * s + q] + i_left[q * s + j];
                        if score > best {
                            best = score;
                            self.c_left_split[i * s + j] = q;
                        }
                    }
                    c_left[i * s + j] = best;
                }
            }
        }
        heads.clear();
        heads.resize(n, 0);
        if !single {
            let total = c_right[n];
            self.walk(s, 0, n, true, true, heads);
            return total;
        }
        let mut best = f64::NEG_INFINITY;
        let mut root = 1;
        for m in 1..=n {
            let score = w[m] + c_left[s + m] + c_right[m * s + n];
            if score > best {
                best = score;
                root = m;
            }
        }
        self.walk(s, 1, root, false, true, heads);
        self.walk(s, root, n, true, true, heads);
        best
    }

    fn walk(&self, s: usize, i: usize, j: usize, right: bool, complete: bool, heads: &mut [usize]) {
        if i == j {
            return;
        }
        match (complete, right) {
            (false, _) => {
                let (head, modifier) = if right { (i, j) } else { (j, i) };
                heads[modifier - 1] = head;
                let q = self.i_split[i * s + j];
                self.walk(s, i, q, true, true, heads);
                self.walk(s, q + 1, j, false, true, heads);
            }
            (true, true) => {
                let q = self.c_right_split[i * s + j];
                self.walk(s, i, q, true, false, heads);
                self.walk(s, q, j, true, true, heads);
            }
            (true, false) => {
                let q = self.c_left_split[i * s + j];
                self.walk(s, i, q, false, true, heads);
                self.walk(s, q, j, false, false, heads);
            }
        }
    }
}

fn log_sum_exp(terms: &[f64]) -> f64 {
    let mut high = f64::NEG_INFINITY;
    for &x in terms {
        if x > high {
            high = x;
        }
    }
    let mut sum = 0.0;
    for &x in terms {
        sum += (x - high).exp();
    }
    high + sum.ln()
}
