//! Benchmark of weak supervision: time of one evaluation of the objective and its gradient. Compares it with the
//! likelihood of trees on the same sentences. Also compares it with the method of Druck, Mann & McCallum (2009), which
//! conditions on every arc in turn.
//!
//! `cargo bench -p tutte --bench weak` needs UD English EWT in `$TUTTE_DATA`. `cargo test -p tutte --bench weak` runs a
//! short version on `examples/`.
#![allow(missing_docs, clippy::print_stdout, clippy::print_stderr, reason = "a benchmark reports")]

#[path = "../../treebank/tests/support/treebanks.rs"]
mod treebanks;

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use tutte::features::FeatureSet;
use tutte::learn::objective::expectation::Wanted;
use tutte::rules::suggest::{Selection, Suggest};
use tutte::weak::{ExpectationConstraint, WeakData, WeakOptions, learn};
use tutte_treebank::{Sentence, open};
use tutte_trees::{ArcMatrix, TreeSet, Workspace, arc_covariances_with, marginals_with};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const TREES: TreeSet = TreeSet::NonProjectiveMultiRoot;

fn main() -> Result<()> {
    // Cargo passes --bench to benchmarks, and not to tests.
    let is_benchmark = std::env::args().any(|argument| argument == "--bench");
    let (path, count, evaluations, lengths): (PathBuf, _, _, &[_]) = if is_benchmark {
        let ewt = treebanks::root().join("ud/english-ewt/train.conllu");
        (ewt, 1000, 60, &[(1, 20), (36, 44)])
    } else {
        let garden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/garden.conllu");
        (garden, 10, 1, &[(1, 20)])
    };
    let missing = |error| format!("{error}; set TUTTE_DATA to your folder of treebanks");
    let treebank: Vec<Sentence> =
        open(&path).map_err(missing)?.collect::<std::result::Result<_, _>>()?;
    let of_length = |low: usize, high: usize| -> Vec<Sentence> {
        let all = treebank.iter().filter(|sentence| (low..=high).contains(&sentence.len()));
        all.take(count).cloned().collect()
    };
    println!("\n== tables\n");
    println!(
        "One evaluation of objective and gradient on one thread, µs per sentence: expectations (60 rules\n\
         of tags, exact covariances), the paper's approximation of them, and the likelihood of trees. The\n\
         last columns compare covariances alone: Druck et al. condition on every arc (one by one).\n\
         Targets: rules/trees at most 3; ratio (one by one/exact) at least 100 at 40 words."
    );
    println!(
        "\n   words  sentences  rules  approximate  trees  rules/trees  one by one  exact  ratio"
    );
    for &(low, high) in lengths {
        gradients((low, high), &of_length(low, high), evaluations)?;
    }
    let sentences = of_length(1, 20);
    many_rules(&sentences, evaluations)?;
    threads(&sentences, evaluations)?;
    whole(&treebank)
}

/// Prints the time of one evaluation, beside those of the approximation and of trees.
fn gradients(
    (low, high): (usize, usize),
    sentences: &[Sentence],
    evaluations: usize,
) -> Result<()> {
    let rules = evidence(sentences, 60, |_, _| 0);
    let trees = WeakData { trees: sentences, ..WeakData::default() };
    let micros = |seconds: f64, sentences: usize| 1e6 * seconds / sentences as f64;
    let per = |seconds: f64| micros(seconds, sentences.len());
    let one = WeakOptions::default();
    let approximately = one.clone().with_approximate(true);
    let exact = per(evaluation(&rules, &one, evaluations)?);
    let approximate = per(evaluation(&rules, &approximately, evaluations)?);
    let likelihood = per(evaluation(&trees, &one, evaluations)?);
    // The paper's method is too slow for all sentences.
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
    Ok(())
}

/// Prints time and memory of one evaluation by number of rules. It starts with the fewest rules, because the peak
/// memory of a process cannot fall.
fn many_rules(sentences: &[Sentence], evaluations: usize) -> Result<()> {
    println!(
        "\nMore rules, of tags, direction and distance: one evaluation on one thread. Time and memory should\n\
         grow with the number of matching arcs, each of which matches one rule, and not with the number of\n\
         rules. Memory is the peak of the process so far, matches included."
    );
    println!("\n  rules    matching arcs    µs/sentence  memory, MB");
    for most in [60, 600, 6000] {
        let rules = evidence(sentences, most, |head, word| head.abs_diff(word));
        let seconds = evaluation(&rules, &WeakOptions::default(), evaluations)?;
        let memory = peak_memory().map_or_else(|| "–".to_owned(), |mb| format!("{mb:.0}"));
        println!(
            "{:>7}  {:>15}  {:>13.0}  {memory:>10}",
            rules.constraints.len(),
            rules.arcs.iter().map(Vec::len).sum::<usize>(),
            1e6 * seconds / sentences.len() as f64,
        );
    }
    Ok(())
}

/// Returns the peak memory of this process in MB; `None` where the system does not report it.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes / 1024.0)
}

/// Prints times with one thread and two, and checks that both train the same parser.
fn threads(sentences: &[Sentence], evaluations: usize) -> Result<()> {
    println!(
        "\nOne thread and two: time of one evaluation, and a comparison of the weights after ten steps."
    );
    println!("\n  threads    µs/sentence");
    let rules = evidence(sentences, 60, |_, _| 0);
    let mut found = Vec::new();
    for threads in [1, 2] {
        let options = WeakOptions::default().with_threads(threads);
        let seconds = evaluation(&rules, &options, evaluations)?;
        println!("{threads:>9}  {:>13.0}", 1e6 * seconds / sentences.len() as f64);
        let learnt = learn(&rules, &options.with_steps(10), &mut ())?;
        found.push((learnt.model.arcs.weights, learnt.after));
    }
    let is_same = found.windows(2).all(|pair| pair[0] == pair[1]);
    println!("\n{}", if is_same { "The same weights." } else { "NOT the same weights." });
    Ok(())
}

/// Prints the time of a whole training, on sentences of at most ten words without punctuation.
fn whole(treebank: &[Sentence]) -> Result<()> {
    let mut raw = Vec::new();
    for sentence in treebank {
        raw.extend(without_punctuation(sentence)?.filter(|rest| rest.len() <= 10));
    }
    let suggest = Suggest { selection: Selection::Top, top: 60, ..Suggest::default() };
    let rules = suggest.rules("counted.tut", &raw)?;
    println!(
        "\nA whole training on one thread: {} sentences of at most 10 words without punctuation, universal\n\
         tags, {} rules (the pairs of tags with the highest share of arcs). Target: at most 3 s.",
        raw.len(),
        rules.len()
    );
    println!("\n  features        weights  steps  seconds");
    let sets = [("tags", FeatureSet::tags()), ("mcdonald-tags", FeatureSet::mcdonald_tags())];
    for (name, features) in sets {
        let templates = features.with_coarse_tags();
        let options = WeakOptions::default().with_templates(templates).with_tree_set(TREES);
        let start = Instant::now();
        let learnt = learn(&WeakData::of_rules(&rules, &raw, options.tree_set), &options, &mut ())?;
        println!(
            "  {name:<14}  {:>7}  {:>5}  {:>7.2}",
            learnt.model.arcs.weights.len(),
            learnt.after.step,
            start.elapsed().as_secs_f64()
        );
    }
    Ok(())
}

/// Returns a sentence without punctuation, or `None` if no word remains. Dependents of punctuation go to its head.
fn without_punctuation(sentence: &Sentence) -> Result<Option<Sentence>> {
    let is_removed = |word: usize| sentence.word(word).is_some_and(|word| word.upos() == "PUNCT");
    let kept: Vec<usize> = (1..=sentence.len()).filter(|&word| !is_removed(word)).collect();
    let mut text = String::new();
    for (number, &word) in (1..).zip(&kept) {
        let head_of = |word: usize| sentence.word(word).and_then(|word| word.head()).unwrap_or(0);
        let mut head = head_of(word);
        while is_removed(head) {
            head = head_of(head);
        }
        let head = kept.iter().position(|&word| word == head).map_or(0, |at| at + 1);
        let tag = sentence.word(word).map_or("X", |word| word.upos());
        writeln!(text, "{number}\t_\t_\t{tag}\t_\t_\t{head}\t_\t_\t_")?;
    }
    if kept.is_empty() { Ok(None) } else { Ok(Some(text.parse()?)) }
}

/// Makes one constraint for each of the most frequent classes of arcs, with a target of 0.75. A class is a pair of tags,
/// a direction, and the value of `class`.
fn evidence(raw: &[Sentence], most: usize, class: impl Fn(usize, usize) -> usize) -> WeakData<'_> {
    let mut pairs = std::collections::BTreeMap::<String, Vec<(usize, usize, usize)>>::new();
    for (at, sentence) in raw.iter().enumerate() {
        let tag = |word: usize| sentence.word(word).map_or("ROOT", |token| token.upos());
        for word in 1..=sentence.len() {
            for head in (0..=sentence.len()).filter(|&head| head != word) {
                let is_left = head < word;
                let class = class(head, word);
                let key = format!("{} {} {is_left} {class}", tag(head), tag(word));
                pairs.entry(key).or_default().push((at, head, word));
            }
        }
    }
    let mut pairs: Vec<_> = pairs.into_values().collect();
    pairs.sort_by_key(|matches| std::cmp::Reverse(matches.len()));
    pairs.truncate(most);
    let mut arcs = vec![Vec::new(); raw.len()];
    let mut constraints = Vec::new();
    for (number, matches) in pairs.into_iter().enumerate() {
        constraints.push(ExpectationConstraint {
            of: matches.len() as f64,
            wanted: Wanted::exactly(0.75),
            grouped: false,
        });
        matches.into_iter().for_each(|(at, head, word)| arcs[at].push((head, word, number)));
    }
    WeakData { raw, constraints, arcs, ..WeakData::default() }
}

/// Returns the seconds of one evaluation. A restart without steps makes one evaluation; the rest is done once and
/// subtracted.
fn evaluation(evidence: &WeakData<'_>, options: &WeakOptions, evaluations: usize) -> Result<f64> {
    let time = |restarts: usize| -> Result<f64> {
        let options = options.clone().with_steps(0).with_restarts(restarts).with_tree_set(TREES);
        let start = Instant::now();
        learn(evidence, &options, &mut ())?;
        Ok(start.elapsed().as_secs_f64())
    };
    let once = time(0)?.min(time(0)?);
    let more = time(evaluations)?;
    Ok((more - once).max(0.0) / evaluations as f64)
}

/// Returns the seconds of computing Cov([e ∈ y], G) for all arcs e of some sentences: one by one, and at once.
fn covariances(sentences: &[Sentence]) -> Result<(f64, f64)> {
    let mut one_by_one = 0.0;
    let mut at_once = 0.0;
    let mut workspace = Workspace::default();
    let mut covariances = ArcMatrix::default();
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

/// Returns Cov([e ∈ y], G) = μ(e) (E[G | e] − E[G]), with one inference for every e: O(n⁵).
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
        let mut conditioned = scores.clone();
        for other in (0..=words).filter(|&other| other != head && other != modifier) {
            conditioned.forbid(other, modifier);
        }
        marginals_with(&conditioned, TREES, workspace, &mut given)?;
        covariances[(head, modifier)] = probability * (mean(&given) - whole);
    }
    Ok(covariances)
}
