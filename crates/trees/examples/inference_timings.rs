//! The tutte side of `benches/peers/compare.py`: answers and timings for a file of score matrices.
//!
//! ```text
//! inference_timings WORK TREE_SET SECONDS INPUT OUTPUT        WORK is marginals or argmax
//! ```
//!
//! Both files are little-endian numbers of 8 bytes. INPUT: n as an integer, then any number of
//! head-major score matrices of (n+1)² numbers. OUTPUT, all `f64`: first the least and the median time
//! of one sentence in µs. Then, for each sentence, its log-partition and (n+1)² marginals, or the score
//! of its best tree and n heads.
//!
//! One repeat goes through all the sentences on one thread; repeats fill SECONDS.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use tutte_trees::{ArcMatrix, TreeSet, Workspace, argmax_with, marginals_with};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [work, tree_set, seconds, input, output] = &arguments[..] else {
        return Err("usage: inference_timings WORK TREE_SET SECONDS INPUT OUTPUT".into());
    };
    let tree_set: TreeSet = tree_set.parse()?;
    let budget = Duration::try_from_secs_f64(seconds.parse()?)?;
    let sentences = read_sentences(&std::fs::read(input)?)?;

    let mut workspace = Workspace::default();
    let mut marginals = ArcMatrix::default();
    let mut heads = Vec::new();
    let mut answers = Vec::new();
    let timing = match work.as_str() {
        "marginals" => {
            for scores in &sentences {
                answers.push(marginals_with(scores, tree_set, &mut workspace, &mut marginals)?);
                answers.extend_from_slice(marginals.as_slice());
            }
            time_per_sentence(budget, &sentences, |scores| {
                let log_z = marginals_with(scores, tree_set, &mut workspace, &mut marginals);
                black_box((&log_z, &marginals));
            })
        }
        "argmax" => {
            for scores in &sentences {
                answers.push(argmax_with(scores, tree_set, &mut workspace, &mut heads)?);
                answers.extend(heads.iter().map(|&head| head as f64));
            }
            time_per_sentence(budget, &sentences, |scores| {
                let best = argmax_with(scores, tree_set, &mut workspace, &mut heads);
                black_box((&best, &heads));
            })
        }
        other => return Err(format!("WORK is {other:?}; it must be marginals or argmax").into()),
    };

    let numbers = timing.iter().chain(&answers);
    std::fs::write(output, numbers.flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())?;
    Ok(())
}

fn read_sentences(bytes: &[u8]) -> Result<Vec<ArcMatrix>, Box<dyn Error>> {
    let (numbers, []) = bytes.as_chunks::<8>() else {
        return Err("the input is no whole number of 8-byte numbers".into());
    };
    let [n, cells @ ..] = numbers else { return Err("the input is empty".into()) };
    let n = usize::try_from(u64::from_le_bytes(*n))?;
    let side = n.checked_add(1).ok_or("n is too large")?;
    let size = side.checked_mul(side).ok_or("n is too large")?;
    cells
        .chunks(size)
        .map(|cells| {
            let values = cells.iter().map(|&cell| f64::from_le_bytes(cell)).collect();
            Ok(ArcMatrix::from_vec(n, values)?)
        })
        .collect()
}

/// Returns the least and the median time of one sentence in µs, over at least five repeats of all.
fn time_per_sentence(
    budget: Duration,
    sentences: &[ArcMatrix],
    mut ask: impl FnMut(&ArcMatrix),
) -> [f64; 2] {
    let begin = Instant::now();
    let mut repeats = Vec::new();
    while repeats.len() < 5 || begin.elapsed() < budget {
        let start = Instant::now();
        sentences.iter().for_each(|scores| ask(black_box(scores)));
        repeats.push(start.elapsed().as_secs_f64() * 1e6 / sentences.len().max(1) as f64);
    }
    repeats.sort_by(f64::total_cmp);
    [repeats[0], repeats[repeats.len() / 2]]
}
