//! `tutte learn`: a parser without a treebank.
//!
//! `learn/progress.rs` shows the progress of learning, `learn/summary.rs` the result.

mod progress;
mod summary;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
use tutte::features::FeatureSet;
use tutte::learn::best_path;
use tutte::learn::objective::expectation::Criterion;
use tutte::rules::RuleSet;
use tutte::weak::{MOST_RESTARTS, WeakData, WeakOptions};
use tutte::{About, LONGEST_DISTRIBUTION};
use tutte_treebank::Sentence;
use tutte_trees::TreeSet;

use self::progress::{choose_variance_with_progress, learn_with_progress};
use self::summary::{Accuracy, DevAccuracy, LearnSummary, lines};
use super::train::{command_line, template_file, templates};
use crate::failure::{Outcome, advise, usage};
use crate::files::Files;
use crate::input::{Seed, Threads, TreebankArgs, read_rules};
use crate::interrupt::Interrupt;
use crate::output::output_file;
use crate::report::{counted, rounded};
use crate::session::Session;

/// Learn a parser from rules and unannotated text, with or without a few trees
///
/// RAW is CoNLL-U with words and tags; its heads are ignored. Each rule says what share of some words depends on
/// others, and learning fits the parser to these shares (Druck, Mann & McCallum 2009). --trees adds trees, whole or
/// partial. The parser predicts heads without labels.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte learn raw.conllu --rules rules.tut -o got.tutte
  tutte learn raw.conllu --rules rules.tut --trees few.conllu --dev dev.conllu -o got.tutte
  tutte learn raw.conllu --trees few.conllu --entropy renyi:2 --entropy-weight 0.1 -o got.tutte

Rules are lines such as
  det:   DET  <- nearest NOUN|PROPN   head right   90%
  root:  VERB <- ROOT                              80% of words
  never: *    <- PUNCT                             never")]
pub(crate) struct Learn {
    /// Sentences with words and tags; - is standard input
    #[arg(value_name = "RAW")]
    files: Vec<PathBuf>,

    /// Model to write
    #[arg(short, long, value_name = "MODEL", value_parser = output_file())]
    output: PathBuf,

    /// File of rules, one per line
    #[arg(long, value_name = "RULES")]
    rules: Option<PathBuf>,

    /// Trees to learn from as well, whole or partial; repeatable
    #[arg(long, value_name = "FILE")]
    trees: Vec<PathBuf>,

    /// Weight of the trees in the objective
    #[arg(long, value_name = "WEIGHT", default_value_t = 1.0)]
    trees_weight: f64,

    /// Weight of the rules in the objective
    #[arg(long, value_name = "WEIGHT", default_value_t = 1.0)]
    rules_weight: f64,

    /// Trees to report accuracy on; they do not affect learning; repeatable
    #[arg(long, value_name = "FILE")]
    dev: Vec<PathBuf>,

    /// Entropy to minimise with --entropy-weight: shannon, renyi:ORDER or viterbi
    #[arg(long, value_name = "KIND", default_value = "shannon", value_parser = order)]
    entropy: f64,

    /// Weight of the entropy in the objective
    #[arg(long, value_name = "WEIGHT", default_value_t = 0.0)]
    entropy_weight: f64,

    /// Distance between a share and its target: l2 (squared), kl (for groups of rules that cover all heads of a class
    /// of words) or kl-bernoulli
    #[arg(long, value_name = "SCORE", value_enum, default_value_t = Score::L2)]
    score: Score,

    /// Gradients of the shares: exact, or approximate as in the paper
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Covariance::Exact)]
    covariance: Covariance,

    /// Variance of the Gaussian prior on weights; auto chooses it on held-out rules, which is much slower
    #[arg(long, value_name = "VARIANCE|auto", default_value = "300", value_parser = variance)]
    prior_variance: f64,

    /// Number of random restarts; the best fit to the rules is kept
    #[arg(long, value_name = "N", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u16).range(..=MOST_RESTARTS as i64))]
    restarts: u16,

    /// Maximum number of steps
    #[arg(long, value_name = "N", default_value_t = 200)]
    steps: usize,

    /// Leave out sentences of RAW longer than this
    #[arg(long, value_name = "WORDS", default_value_t = 60)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=LONGEST_DISTRIBUTION as i64))]
    max_length: u16,

    /// Tree set: nonprojective-multi-root, nonprojective-single-root, projective-multi-root or projective-single-root
    #[arg(long, value_name = "SET", default_value = "nonprojective-single-root")]
    tree_set: TreeSet,

    /// Feature templates: tags, mcdonald-tags (full in the paper), restricted (two tags and the direction), another
    /// set of `tutte train --templates`, or a FILE of templates
    #[arg(long, value_name = "SET", default_value = "tags")]
    features: String,

    /// Add features of word forms
    #[arg(long)]
    words: bool,

    /// Tags that features use
    #[arg(long, value_name = "COLUMN", value_enum, default_value_t = TagColumn::Upos)]
    tags: TagColumn,

    /// Use only features that occur on at least N candidate arcs
    #[arg(long, value_name = "N", default_value_t = 10)]
    least: u32,

    #[command(flatten)]
    seed: Seed,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    reading: TreebankArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Score {
    L2,
    Kl,
    KlBernoulli,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Covariance {
    Exact,
    Approximate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TagColumn {
    Upos,
    Xpos,
}

/// Parses a variance; 0 stands for auto.
fn variance(text: &str) -> Result<f64, String> {
    if text == "auto" {
        return Ok(0.0);
    }
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && number.is_finite());
    number.ok_or_else(|| "expected a number above 0, or auto".to_owned())
}

/// Mean distance from the targets above which a note is printed.
const MISSED: f64 = 0.1;

/// Parses the order of an entropy.
fn order(text: &str) -> Result<f64, String> {
    match text {
        "shannon" => return Ok(1.0),
        "viterbi" => return Ok(f64::INFINITY),
        _ => {}
    }
    let order = text.strip_prefix("renyi:").and_then(|order| order.parse().ok());
    let possible = order.filter(|order: &f64| *order >= 0.0);
    possible.ok_or_else(|| "expected shannon, renyi:ORDER (0 or more) or viterbi".to_owned())
}

impl Learn {
    /// Returns the files of the run.
    pub(super) fn files(&self) -> Files {
        // Trees alone are enough to learn from: standard input is not read then.
        let files = match self.rules {
            Some(_) => Files::default().reads_or_stdin(&self.files),
            None => Files::default().reads(&self.files),
        };
        let files = files.reads(self.read_paths()).reads(template_file(&self.features));
        files.writes("-o", [&self.output, &best_path(&self.output)])
    }

    /// Returns the named inputs, without templates.
    fn read_paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().chain(&self.rules).chain(&self.trees).chain(&self.dev)
    }
}

pub(crate) fn run(arguments: &Learn, session: &Session) -> Result<Outcome> {
    if arguments.output == Path::new("-") {
        return Err(usage("a model cannot be written to standard output; name a file with -o"));
    }
    if arguments.rules.is_none() && arguments.trees.is_empty() {
        return Err(usage("there is nothing to learn from: add --rules or --trees, or both"));
    }
    let started = Instant::now();
    let rules = match &arguments.rules {
        Some(path) => read_rules(path, session)?,
        None => RuleSet::parse("no rules", "")?,
    };
    if rules.is_empty() && arguments.trees.is_empty() {
        return Err(advise(
            anyhow!("there is nothing to learn from: {} has no rules", rules.file()),
            "add a rule, such as `det: DET <- nearest NOUN  head right  90%`, or trees with --trees",
        ));
    }
    let read = |files: &[PathBuf]| -> Result<Vec<Sentence>> {
        let mut all = Vec::new();
        for path in files {
            for sentence in arguments.reading.short_sentences(path, "learning", session)? {
                all.push(sentence?);
            }
        }
        all.retain(|sentence| !sentence.is_empty());
        Ok(all)
    };
    // Sentences of any length are read, and the long ones are left out.
    let read_raw = |files: &[PathBuf]| -> Result<(Vec<Sentence>, usize)> {
        let mut all = Vec::new();
        for path in files {
            all.extend(arguments.reading.read_all(path, session)?);
        }
        all.retain(|sentence| !sentence.is_empty());
        let before = all.len();
        all.retain(|sentence| sentence.len() <= arguments.max_length.into());
        let too_long = before - all.len();
        Ok((all, too_long))
    };
    // Trees alone are enough to learn from: standard input is not read then.
    let (raw, too_long) = if arguments.files.is_empty() && arguments.rules.is_none() {
        (Vec::new(), 0)
    } else {
        read_raw(&session.files(&arguments.files)?)?
    };
    let trees = read(&arguments.trees)?;
    let dev = read(&arguments.dev)?;
    let options = WeakOptions::default()
        .with_criterion(match arguments.score {
            Score::L2 => Criterion::Squared,
            Score::Kl => Criterion::Kl,
            Score::KlBernoulli => Criterion::KlBernoulli,
        })
        .with_approximate(arguments.covariance == Covariance::Approximate)
        .with_prior_variance(arguments.prior_variance)
        .with_rules_weight(arguments.rules_weight)
        .with_trees_weight(arguments.trees_weight)
        .with_entropy(
            (arguments.entropy_weight != 0.0)
                .then_some((arguments.entropy, arguments.entropy_weight)),
        )
        .with_templates(features(arguments)?)
        .with_least(arguments.least)
        .with_tree_set(arguments.tree_set)
        .with_steps(arguments.steps)
        .with_restarts(arguments.restarts.into())
        .with_seed(arguments.seed.number)
        .with_threads(arguments.threads.count());
    let evidence = WeakData { trees: &trees, ..WeakData::of_rules(&rules, &raw, options.tree_set) };
    let matched = matched(&rules, &evidence, session);
    let mut options = options;
    if options.prior_variance == 0.0 {
        options.prior_variance = choose_variance_with_progress(&evidence, &options, session)?;
    }
    let interrupt = Interrupt::watch_if_possible();
    let learnt = learn_with_progress(&rules, &evidence, &options, &dev, interrupt, session)?;
    let is_interrupted = interrupt.is_requested();
    skipped(&learnt.impossible, &raw, session);
    let model = learnt.model.compact();
    let about = About {
        command: Some(command_line::of_model(arguments.read_paths())),
        seed: arguments.seed.number,
        training: settings(&rules, &raw, &trees, &options),
        ..About::default()
    };
    // An interrupted run does not replace a model that may be better.
    let best = best_path(&arguments.output);
    let output = if is_interrupted { &best } else { &arguments.output };
    model.save(output, &about)?;
    let accuracy = if dev.is_empty() {
        None
    } else {
        let alone = (!rules.is_empty()).then(|| Accuracy::of_rules(&rules, &dev, &options));
        Some(DevAccuracy {
            model: Accuracy::of_model(&model, &dev, options.threads)?,
            rules_alone: alone.transpose()?,
        })
    };
    let without_tree = learnt.impossible.iter().map(|&at| raw[at].len());
    let words: usize = raw.iter().map(Sentence::len).sum();
    let summary = LearnSummary {
        model: output.display().to_string(),
        sentences: raw.len() - learnt.impossible.len(),
        words: words - without_tree.sum::<usize>(),
        too_long,
        without_tree: learnt.impossible.len(),
        trees: trees.len(),
        tree_set: options.tree_set.to_string(),
        steps: learnt.after.step,
        objective: rounded(learnt.after.objective),
        dev: accuracy,
        rules: lines(&rules, &evidence, &matched, &learnt),
        seconds: rounded(started.elapsed().as_secs_f64()),
    };
    if session.json() {
        session.print_report(&summary)?;
    } else {
        session.print(&summary.text())?;
        if summary.misses() > MISSED {
            session.note(format!(
                "rules are off by {:.2} on average; a --prior-variance above {} fits them better, unless they \
                 contradict each other or the text",
                summary.misses(),
                options.prior_variance
            ));
        }
        session.note(format!("next: tutte parse -m {} FILE --probs", summary.model));
    }
    if is_interrupted {
        let wanted = arguments.output.display();
        session.note(format!(
            "interrupted; the best model so far is {}, not {wanted}",
            best.display()
        ));
        return Ok(session.end(Outcome::Interrupted));
    }
    Ok(session.end(Outcome::Good))
}

/// Returns `true` for each rule that matches an arc, and warns about the others.
fn matched(rules: &RuleSet, evidence: &WeakData<'_>, session: &Session) -> Vec<bool> {
    let mut matched = vec![false; rules.len()];
    evidence.arcs.iter().flatten().for_each(|&(_, _, rule)| matched[rule] = true);
    for (rule, _) in rules.rules().iter().zip(&matched).filter(|(_, matched)| !**matched) {
        let name = &rule.name;
        session.warn(&anyhow!(
            "{}:{}: {name}: matches no arc, and has no effect",
            rules.file(),
            rule.line
        ));
    }
    if matched.contains(&false) {
        session.note(format!("find out why with `tutte rules check {} RAW`", rules.file()));
    }
    matched
}

/// Warns about sentences that hard constraints leave without a tree.
fn skipped(impossible: &[usize], raw: &[Sentence], session: &Session) {
    const SHOWN: usize = 10;
    for &at in impossible.iter().take(SHOWN) {
        let place = raw[at].place();
        let name = place.sent_id.as_ref().map(|name| format!(" (sent_id = {name})"));
        session.warn(&anyhow!(
            "{place}: skipped: rules with `always` or `never` leave no tree{}",
            name.unwrap_or_default()
        ));
    }
    if impossible.len() > SHOWN {
        let more = counted(impossible.len() - SHOWN, "more sentence");
        session.note(format!("{more} skipped for the same reason"));
    }
}

/// Returns the settings that the model file records.
fn settings(
    rules: &RuleSet,
    raw: &[Sentence],
    trees: &[Sentence],
    options: &WeakOptions,
) -> Vec<(String, String)> {
    let mut all = vec![
        ("raw sentences", raw.len().to_string()),
        ("trees", trees.len().to_string()),
        ("prior variance", options.prior_variance.to_string()),
    ];
    all.extend(rules.rules().iter().map(|rule| ("rule", rule.to_string())));
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns the requested templates.
fn features(arguments: &Learn) -> Result<FeatureSet> {
    let mut features = templates(&arguments.features)?;
    if arguments.words {
        features = features.with_words();
    }
    Ok(match arguments.tags {
        TagColumn::Upos => features.with_coarse_tags(),
        TagColumn::Xpos => features,
    })
}
