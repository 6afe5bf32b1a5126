//! Shared by the benchmarks: scores, a stopwatch, a fit of the growth.
#![allow(dead_code, unreachable_pub)] // every benchmark uses its own part
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::Criterion;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use tutte_trees::{ArcMatrix, TreeSet, Workspace, log_partition_with, marginals_with};

/// Number of different sentences per length, so that no single one decides.
const SENTENCES: usize = 8;

/// Every arc N(0, 1).
pub fn gaussian(words: usize, seed: u64) -> ArcMatrix {
    let mut rng = Pcg64::seed_from_u64(seed);
    ArcMatrix::from_fn(words, |_, _| normal(&mut rng))
}

/// Scores as a trained model gives them: N(0, 5), and each word's head in some single-root tree 8
/// nats ahead of all others.
pub fn trained(words: usize, seed: u64) -> ArcMatrix {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut scores = ArcMatrix::from_fn(words, |_, _| 5.0 * normal(&mut rng));
    for modifier in 1..=words {
        let head = match modifier {
            1 => 0,
            _ => 1 + (rng.next_u64() % (modifier as u64 - 1)) as usize,
        };
        let heads = (0..=words).filter(|&other| other != modifier);
        let best = heads.map(|other| scores[(other, modifier)]).fold(f64::MIN, f64::max);
        scores[(head, modifier)] = best + 8.0;
    }
    scores
}

fn normal(rng: &mut Pcg64) -> f64 {
    let mut uniform = || ((rng.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()
}

/// Some sentences of one length.
pub fn sentences(words: usize, make: fn(usize, u64) -> ArcMatrix) -> Vec<ArcMatrix> {
    (0..SENTENCES as u64).map(|seed| make(words, seed + words as u64)).collect()
}

/// Criterion, and the fastest sample of everything it measured.
pub struct Stopwatch {
    criterion: Criterion,
}

impl Stopwatch {
    pub fn new() -> Self {
        let criterion = Criterion::default()
            .warm_up_time(Duration::from_millis(100))
            .measurement_time(Duration::from_millis(400))
            .sample_size(20)
            .without_plots()
            .configure_from_args();
        Self { criterion }
    }

    /// Measures one call of `work` in microseconds, averaged over `inputs`. The fastest sample counts,
    /// since other load on the machine only adds time. ∞ if filtered out on the command line.
    pub fn time<T>(&mut self, name: &str, inputs: &[T], mut work: impl FnMut(&T)) -> f64 {
        let mut fastest = f64::INFINITY;
        self.criterion.bench_function(name, |bencher| {
            bencher.iter_custom(|rounds| {
                let start = Instant::now();
                for _ in 0..rounds {
                    inputs.iter().for_each(&mut work);
                }
                let elapsed = start.elapsed();
                let calls = rounds as f64 * inputs.len() as f64;
                fastest = fastest.min(elapsed.as_secs_f64() * 1e6 / calls);
                elapsed / inputs.len() as u32
            });
        });
        fastest
    }

    /// Measures log Z and the marginals of all arcs; see [`time`](Self::time).
    pub fn time_marginals(&mut self, what: &str, set: TreeSet, inputs: &[ArcMatrix]) -> f64 {
        let mut workspace = Workspace::default();
        let mut marginals = ArcMatrix::default();
        let name = format!("marginals/{set}/{what}/{}", inputs[0].words());
        self.time(&name, inputs, |scores| {
            black_box(marginals_with(black_box(scores), set, &mut workspace, &mut marginals)).ok();
        })
    }

    /// Measures log Z alone; see [`time`](Self::time).
    pub fn time_log_partition(&mut self, what: &str, set: TreeSet, inputs: &[ArcMatrix]) -> f64 {
        let mut workspace = Workspace::default();
        self.time(&format!("{what}/{set}/{}", inputs[0].words()), inputs, |scores| {
            black_box(log_partition_with(black_box(scores), set, &mut workspace)).ok();
        })
    }

    /// Prints Criterion's summary, and the heading of the tables.
    pub fn finish(self) {
        self.criterion.final_summary();
        println!("\n== tables\n");
    }
}

/// Fits the exponent e of time ≈ c·nᵉ by least squares in logarithms.
pub fn exponent(points: &[(usize, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|&(n, t)| ((n as f64).ln(), t.ln())).collect();
    let count = logs.len() as f64;
    let (x, y) = logs.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / count, y + p.1 / count));
    let covariance: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    covariance / logs.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
}
