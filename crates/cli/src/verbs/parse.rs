//! `tutte parse`: trees for sentences that have none, or other ones, and how sure the model is.
//!
//! Sentences are read and written by this thread and parsed by others (see `tutte::map_stream`), so
//! memory does not grow with the input. `parse/answer.rs` says what becomes of a sentence.

mod answer;
mod json;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow};
use clap::{Args, ValueEnum};
use serde::Serialize;
use tutte::{Compact, Decoding, Keep, Labelling, Model, Parser};
use tutte_treebank::create;

use self::answer::{Answerer, Done};
use crate::asking::{Asking, is_jsonl};
use crate::failure::{Outcome, advise, usage};
use crate::report::{count, counted, hundredths};
use crate::session::Session;

/// Give sentences the trees that a model thinks best, and say how sure it is
///
/// Reads CoNLL files and writes them with new HEAD and DEPREL; heads that are there are not looked
/// at unless you say so, probabilities noted of them go, and everything else stays byte for byte as it
/// was, DEPS too (`tutte convert --strip-heads` empties what other trees left there). Words and tags are
/// those of the file: models look at lemmas, tags and features, so a file should have them as the
/// model's treebank did.
///
/// Probabilities are exact, and of the trees that are made of the arcs the model looks at; what its
/// pruner leaves out has probability zero. What you know of a sentence (--keep-heads, --keep-labels,
/// Forbid=4,7 in MISC) is told to every step of the model, so that it is looked at in any case and
/// probabilities are those of the rest, given it. Since the first of two passes is told too and guides
/// the second, they are not quite the quotients of probabilities without that knowledge.
///
/// If `tutte calibrate` found isotonic calibration the best, HeadProb is not the probability of the
/// head but how often heads of that probability are right, and a comment says so (# tutte_calibration
/// = isotonic). Everything else stays as it is: AltHead, log-probabilities, entropies, trees.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte parse -m en.tutte text.conllu -o parsed.conllu
  tutte parse -m en.tutte gold.conllu --probs | tutte eval gold.conllu -
  tutte parse -m en.tutte half.conllu --keep-heads --probs -o whole.conllu
  tutte parse -m en.tutte text.conllu --kbest 5 -o readings.jsonl
  zcat web-*.conllu.gz | tutte parse -m en.tutte -j 8 -o web.conllu.zst")]
pub(crate) struct Parse {
    #[command(flatten)]
    asking: Asking,

    /// The file to write, compressed if it is called .gz or .zst; - is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    output: PathBuf,

    /// What to write, conll or jsonl [default: jsonl if OUT is called .jsonl, otherwise conll]
    #[arg(long, value_name = "FORMAT")]
    to: Option<To>,

    /// Which tree is the best
    #[arg(long, value_name = "TREE", default_value = "mbr")]
    decode: Decode,

    /// The K most probable trees instead, one after the other; sent_id ends in .k1, .k2, …
    #[arg(long, value_name = "K", help_heading = "More trees")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    #[arg(conflicts_with_all = ["decode", "sample", "min_prob"])]
    kbest: Option<u32>,

    /// N trees drawn at random as probable as they are; sent_id ends in .s1, .s2, …
    #[arg(long, value_name = "N", help_heading = "More trees")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    #[arg(conflicts_with_all = ["decode", "min_prob"])]
    sample: Option<u32>,

    /// The number that decides what is drawn; the same number, the same trees
    #[arg(long, value_name = "NUMBER", default_value_t = 1, requires = "sample")]
    #[arg(help_heading = "More trees")]
    seed: u64,

    /// Say how sure the model is: HeadProb, LabelProb and AltHead in MISC, log-probability of the tree
    /// and entropy of all trees (in nats) in comments
    #[arg(long, help_heading = "Probabilities")]
    probs: bool,

    /// Mention other heads that are more probable than this, as AltHead=head:label:probability
    #[arg(long, value_name = "P", default_value_t = 0.05, value_parser = probability)]
    #[arg(requires = "probs", help_heading = "Probabilities")]
    alt: f64,

    /// The probabilities of all arcs, by head (0 is the root) and word; jsonl only
    #[arg(long, help_heading = "Probabilities")]
    matrix: bool,

    /// Leave open (_) heads whose probability is below this, whatever their labels
    #[arg(long, value_name = "P", value_parser = probability, help_heading = "Probabilities")]
    min_prob: Option<f64>,

    /// Leave open (_) as many heads as it takes to have this share of the others right: --min-prob as
    /// the model's calibration knows it (`tutte train --dev` or `tutte calibrate`); about heads, not
    /// labels, and for texts like those it was calibrated by
    #[arg(long, value_name = "SHARE", value_parser = probability, help_heading = "Probabilities")]
    #[arg(conflicts_with_all = ["min_prob", "kbest", "sample"])]
    precision: Option<f64>,

    /// Keep the heads that are there, and find the others given them
    #[arg(long, help_heading = "What is known")]
    keep_heads: bool,

    /// Keep the labels that are there, and find heads and other labels given them
    #[arg(long, help_heading = "What is known")]
    keep_labels: bool,
}

/// A tree of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Decode {
    /// The tree with the most arcs expected to be right (minimum Bayes risk)
    Mbr,
    /// The most probable tree before any temperature. Where labels are joint, one of --kbest may be a
    /// little more probable: a temperature weighs arcs, not labels
    Map,
    /// The most probable head of each word, whether or not they make a tree
    Greedy,
    /// The most probable tree together with the kinds of its arcs, for models trained with
    /// --clusters
    MaxZ,
}

/// What to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum To {
    /// CoNLL-U or CoNLL-X, as the input is
    Conll,
    /// A JSON object a line for every sentence
    Jsonl,
}

pub(super) fn probability(typed: &str) -> Result<f64, String> {
    let probability = typed.parse().ok().filter(|p: &f64| (0.0..=1.0).contains(p));
    probability.ok_or_else(|| "a probability is a number from 0 to 1".to_owned())
}

/// What was done.
#[derive(Debug, Default, Serialize)]
struct Summary {
    output: String,
    sentences: usize,
    words: usize,
    seconds: f64,
    words_per_second: f64,
    /// Sentences in which what is known cannot be; they are as they were.
    contradictions: usize,
    /// Sentences whose greedy heads make no tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_trees: Option<usize>,
    /// Heads less probable than this are left open.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_prob: Option<f64>,
    /// Heads left open.
    #[serde(skip_serializing_if = "Option::is_none")]
    open_heads: Option<usize>,
}

pub(crate) fn run(arguments: &Parse, session: &Session) -> Result<Outcome> {
    let started = Instant::now();
    if session.json() && arguments.output == Path::new("-") {
        return Err(usage("--json goes to standard output, and so does OUT; name a file with -o"));
    }
    if arguments.matrix && !arguments.jsonl() {
        return Err(usage("--matrix is for jsonl; add --to jsonl, or call OUT .jsonl"));
    }
    session.files(&arguments.asking.files)?;
    let model = arguments.asking.load()?;
    if arguments.keep_labels && model.labels.labelling() == Labelling::None {
        return Err(usage("--keep-labels keeps labels, but this model has none"));
    }
    let min_prob = arguments.least_probability(&model, session)?;
    let tree_set = arguments.asking.tree_set(&model);
    let decoding = match arguments.decode {
        Decode::Mbr | Decode::Greedy => Decoding::Mbr,
        Decode::Map => Decoding::Map,
        Decode::MaxZ => Decoding::MaxZ,
    };
    let output = arguments.output.display().to_string();
    let cannot_write = || format!("cannot write {output}");
    let mut writer = create(&arguments.output)?;
    let mut summary = Summary {
        no_trees: (arguments.decode == Decode::Greedy).then_some(0),
        min_prob,
        open_heads: min_prob.map(|_| 0),
        ..Summary::default()
    };
    let worker = || {
        let parser = Parser::new(&model).with_decoding(decoding).with_tree_set(tree_set);
        let keep = Keep { heads: arguments.keep_heads, labels: arguments.keep_labels };
        let mut answerer = Answerer { parser, model: &model, keep, min_prob, arguments };
        move |number, sentence: &mut _| answerer.answer(number, sentence)
    };
    let tail = arguments.asking.each(session, worker, |sentence, answer| {
        summary.sentences += 1;
        summary.words += sentence.len();
        if let Some(contradiction) = answer.contradiction {
            summary.contradictions += 1;
            session.complain(&contradiction.into());
        }
        summary.no_trees = summary.no_trees.map(|n| n + usize::from(answer.is_no_tree));
        summary.open_heads = summary.open_heads.map(|n| n + answer.open_heads);
        match answer.done {
            Done::Sentence => writer.write(sentence).with_context(cannot_write),
            Done::Blocks(blocks) => {
                blocks.iter().try_for_each(|block| writer.write(block)).with_context(cannot_write)
            }
            Done::Line(line) => writer.write_tail(&line).with_context(cannot_write),
        }
    })?;
    if !arguments.jsonl() {
        writer.write_tail(&tail).with_context(cannot_write)?;
    }
    writer.finish().with_context(cannot_write)?.commit()?;

    summary.output = output;
    summary.seconds = started.elapsed().as_secs_f64();
    summary.words_per_second = summary.words as f64 / summary.seconds;
    let outcome = match summary.contradictions {
        0 => Outcome::Good,
        _ => Outcome::CheckFailed,
    };
    match session.json() {
        true => session.print_json(&summary)?,
        false => summary.tell(session),
    }
    Ok(session.end(outcome))
}

impl Parse {
    /// Below which probability heads are left open, as was asked for by it or by a precision.
    fn least_probability(&self, model: &Model<Compact>, session: &Session) -> Result<Option<f64>> {
        let Some(precision) = self.precision else { return Ok(self.min_prob) };
        let file = self.asking.model.display();
        let Some(calibration) = &model.calibration else {
            let error = anyhow!("{file} does not know how precise its probabilities are");
            let hint = format!(
                "`tutte calibrate -m {file} DEV` finds out, by trees that the model has not learnt from"
            );
            return Err(advise(error, hint));
        };
        let (table, on) =
            (&calibration.precision, calibration.data.as_deref().unwrap_or("its dev"));
        let tree_set = self.asking.tree_set(model);
        let knows = self.keep_heads || self.keep_labels;
        if self.decode != Decode::Mbr || tree_set != model.tree_set || knows {
            session.note(format!(
                "note: precision was measured of mbr trees in the set {}, with nothing known, and may be \
                 another here",
                model.tree_set
            ));
        }
        if let Some(kept) = table.keeping(precision) {
            session.note(format!(
"heads below {:.4} are left open; on {on} that keeps {} % of all heads, and {} % of those are right",
                kept.threshold,
                hundredths(table.share(kept)),
                hundredths(kept.precision())
            ));
            return Ok(Some(kept.threshold));
        }
        let words = counted(calibration.words, "word");
        let error =
            anyhow!("{file} cannot promise a precision of {precision}, by the {words} of {on}");
        Err(match table.highest() {
            Some((most, kept)) => {
                let share = hundredths(table.share(kept));
                advise(
                    error,
                    format!("--precision {most} is the most; it keeps {share} % of heads"),
                )
            }
            None => advise(error, "`tutte calibrate` with more trees may help"),
        })
    }

    fn jsonl(&self) -> bool {
        self.to.map_or_else(|| is_jsonl(&self.output), |to| to == To::Jsonl)
    }
}

impl Summary {
    fn tell(&self, session: &Session) {
        if self.contradictions > 0 {
            let left = match self.contradictions {
                1 => "it is left as it was",
                _ => "they are left as they were",
            };
            let sentences = counted(self.contradictions, "sentence");
            session.note(format!("what is given for {sentences} cannot be; {left}"));
        }
        if let Some(no_trees) = self.no_trees.filter(|no_trees| *no_trees > 0) {
            let of = counted(self.sentences, "sentence");
            session.note(format!(
                "greedy heads are chosen word by word: those of {} of {of} make no tree",
                count(no_trees)
            ));
        }
        if let Some(open) = self.open_heads {
            let of = counted(self.words, "head");
            session.note(format!("{} of {of} left open", count(open)));
        }
        let (read, rate) = (counted(self.words, "token"), count(self.words_per_second as usize));
        let sentences = counted(self.sentences, "sentence");
        let seconds = self.seconds;
        session.note(format!("{sentences}, {read} in {seconds:.1} s: {rate} tokens a second"));
    }
}
