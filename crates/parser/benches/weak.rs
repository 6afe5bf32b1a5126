//! What a gradient of expectations costs: one evaluation of the objective of weak supervision and its
//! gradient, beside the likelihood of trees on the same sentences, and beside the method of Druck, Mann &
//! McCallum (2009), which conditions on every arc in turn.
//!
//! `cargo bench -p tutte --bench weak` needs UD English EWT in `$TUTTE_DATA`; `cargo test -p tutte --bench
//! weak` glances at sentences of `examples/`.
#![allow(missing_docs, clippy::print_stdout, clippy::print_stderr, reason = "a benchmark reports")]

#[path = "../../treebank/tests/support/treebanks.rs"]
mod treebanks;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use tutte::signal::expectation::Wanted;
use tutte::weak::{Constraint, Evidence, Options, learn};
use tutte_treebank::{Sentence, open};
use tutte_trees::{ArcMatrix, TreeSet, Workspace, arc_covariances_with, marginals_with};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const TREES: TreeSet = TreeSet::NonProjectiveMultiRoot;

fn main() -> Result<()> {
    // Cargo says --bench when it is a benchmark that is wanted, nothing when it is a test.
    let (path, count, evaluations, lengths): (PathBuf, _, _, &[_]) =
        match std::env::args().any(|argument| argument == "--bench") {
            true => {
                let ewt = treebanks::root().join("ud/english-ewt/train.conllu");
                (ewt, 1000, 5, &[(1, 20), (36, 44)])
            }
            false => {
                let garden = Path::new(env!("CARGO_MANIFEST_DIR"));
                (garden.join("../../examples/garden.conllu"), 10, 1, &[(1, 20)])
            }
        };
    println!("\n== tables\n");
    println!(
        "One evaluation of objective and gradient on one thread, µs a sentence: expectations (60 rules of\n\
         tags, exact covariances), their approximation in the paper, the likelihood of trees, and Druck et\n\
         al.'s way to the same covariances, inference alone, which conditions on every arc."
    );
    println!(
        "\n   words  sentences  rules  approximate  trees  rules/trees  one by one  exact  ratio"
    );
    for &(low, high) in lengths {
        let mut sentences: Vec<Sentence> = Vec::new();
        let missing = |error| format!("{error}; TUTTE_DATA can name a folder of treebanks");
        for sentence in open(&path).map_err(missing)? {
            let sentence = sentence?;
            if (low..=high).contains(&sentence.len()) && sentences.len() < count {
                sentences.push(sentence);
            }
        }
        let rules = evidence(&sentences);
        let trees = Evidence { trees: &sentences, ..Evidence::default() };
        let micros = |seconds: f64, sentences: usize| 1e6 * seconds / sentences as f64;
        let per = |seconds: f64| micros(seconds, sentences.len());
        let exact = per(evaluation(&rules, false, evaluations)?);
        let approximate = per(evaluation(&rules, true, evaluations)?);
        let likelihood = per(evaluation(&trees, false, evaluations)?);
        // The paper's way takes too long for all of them.
        let few = sentences.len().min(20);
        let (one_by_one, at_once) = covariances(&sentences[..few])?;
        println!(
            "{low:>3}–{high:<4}  {:>9}  {exact:>5.0}  {approximate:>11.0}  {likelihood:>5.0}  {:>11.2}  \
             {:>10.0}  {:>5.1}  {:>5.0}",
            sentences.len(),
            exact / likelihood,
            micros(one_by_one, few),
            micros(at_once, few),
            one_by_one / at_once,
        );
    }
    Ok(())
}

/// Rules for the 60 most frequent pairs of tags and directions, each wanting three in four.
fn evidence(raw: &[Sentence]) -> Evidence<'_> {
    let mut pairs = std::collections::BTreeMap::<String, Vec<(usize, usize, usize)>>::new();
    for (at, sentence) in raw.iter().enumerate() {
        let tag = |word: usize| sentence.word(word).map_or("ROOT", |token| token.upos());
        for word in 1..=sentence.len() {
            for head in (0..=sentence.len()).filter(|&head| head != word) {
                let key = format!("{} {} {}", tag(head), tag(word), head < word);
                pairs.entry(key).or_default().push((at, head, word));
            }
        }
    }
    let mut pairs: Vec<_> = pairs.into_values().collect();
    pairs.sort_by_key(|matches| std::cmp::Reverse(matches.len()));
    pairs.truncate(60);
    let mut arcs = vec![Vec::new(); raw.len()];
    let mut constraints = Vec::new();
    for (number, matches) in pairs.into_iter().enumerate() {
        constraints.push(Constraint {
            of: matches.len() as f64,
            wanted: Wanted::exactly(0.75),
            grouped: false,
        });
        matches.into_iter().for_each(|(at, head, word)| arcs[at].push((head, word, number)));
    }
    Evidence { raw, constraints, arcs, ..Evidence::default() }
}

/// The seconds of one evaluation: every start makes one, and all else is done once.
fn evaluation(evidence: &Evidence<'_>, approximate: bool, evaluations: usize) -> Result<f64> {
    let time = |restarts: usize| -> Result<f64> {
        let options =
            Options { steps: 0, restarts, approximate, tree_set: TREES, ..Options::default() };
        let start = Instant::now();
        learn(evidence, &options, |_| {})?;
        Ok(start.elapsed().as_secs_f64())
    };
    let (once, more) = (time(0)?.min(time(0)?), time(evaluations)?);
    Ok((more - once).max(0.0) / evaluations as f64)
}

/// The seconds of Cov([e ∈ y], G) for all arcs e of some sentences: one by one, and at once.
fn covariances(sentences: &[Sentence]) -> Result<(f64, f64)> {
    let (mut one_by_one, mut at_once) = (0.0, 0.0);
    let (mut workspace, mut covariances) = (Workspace::default(), ArcMatrix::default());
    for sentence in sentences {
        let words = sentence.len();
        let scores = ArcMatrix::from_fn(words, |h, m| ((7 * h + 13 * m) % 11) as f64 / 4.0);
        let g = ArcMatrix::from_fn(words, |h, m| f64::from(u8::from((h + m) % 3 == 0)));
        let start = Instant::now();
        arc_covariances_with(&scores, &g, TREES, &mut workspace, &mut covariances)?;
        at_once += start.elapsed().as_secs_f64();
        let start = Instant::now();
        let found = conditioned(&scores, &g, &mut workspace)?;
        one_by_one += start.elapsed().as_secs_f64();
        for (head, modifier, covariance) in covariances.arcs() {
            assert!((found[(head, modifier)] - covariance).abs() < 1e-9, "both are exact");
        }
    }
    Ok((one_by_one, at_once))
}

/// Cov([e ∈ y], G) = μ(e) (E[G | e] − E[G]), with a distribution of its own for every e: O(n⁵).
fn conditioned(scores: &ArcMatrix, g: &ArcMatrix, workspace: &mut Workspace) -> Result<ArcMatrix> {
    let words = scores.words();
    let mut marginals = ArcMatrix::default();
    marginals_with(scores, TREES, workspace, &mut marginals)?;
    let mean = |marginals: &ArcMatrix| -> f64 {
        g.arcs().map(|(head, modifier, g)| g * marginals[(head, modifier)]).sum()
    };
    let whole = mean(&marginals);
    let mut covariances = ArcMatrix::zeros(words);
    let mut given = ArcMatrix::default();
    for (head, modifier, probability) in marginals.arcs() {
        let mut known = scores.clone();
        for other in (0..=words).filter(|&other| other != head && other != modifier) {
            known.forbid(other, modifier);
        }
        marginals_with(&known, TREES, workspace, &mut given)?;
        covariances[(head, modifier)] = probability * (mean(&given) - whole);
    }
    Ok(covariances)
}
