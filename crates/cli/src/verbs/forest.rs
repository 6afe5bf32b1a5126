//! `tutte forest`: the probable arcs of each sentence.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value};
use tutte::{Error, KeepColumns, LabelledDistribution};
use tutte_treebank::{Sentence, create};

use super::parse::probability;
use crate::failure::{Outcome, cannot_write};
use crate::files::Files;
use crate::input::{ModelAndFiles, Tagged};
use crate::output::output_file;
use crate::report::{counted, rounded};
use crate::session::Session;

/// List the probable arcs of each sentence, with their probabilities
///
/// Writes one JSON object per line and sentence: its words, and the arcs and labels with a probability of at least EPS.
/// Existing heads are ignored unless --keep-heads is given. Sentences without tags are tagged by the model.
///
/// If the tags that the model chose are uncertain, probabilities are those over several readings of the tags, as in `tutte
/// parse`. Heads are numbers of words; 0 is the root. `missing` is the expected number of arcs that are not listed. Forbid=4,7
/// in MISC forbids heads. Arcs that the model prunes have probability zero.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte forest -m en.tutte text.conllu -o forest.jsonl.zst
  tutte forest -m en.tutte text.conllu --eps 0.2 | jq -c '.arcs[] | select(.prob < 0.6)'")]
pub(crate) struct Forest {
    #[command(flatten)]
    asking: ModelAndFiles,

    /// File to write, compressed if its name ends in .gz or .zst; - is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-", value_parser = output_file())]
    output: PathBuf,

    /// List arcs and labels with at least this probability
    #[arg(long, value_name = "EPS", default_value_t = 0.01, value_parser = probability)]
    eps: f64,

    /// Keep the heads of the input; probabilities are conditional on them
    #[arg(long)]
    keep_heads: bool,

    /// Keep the labels of the input; probabilities are conditional on them
    #[arg(long)]
    keep_labels: bool,
}

/// A sentence.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    sent_id: Option<&'a str>,
    words: Vec<&'a str>,
    /// Reason why there are no arcs.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Entropy of the distribution over trees, in nats.
    #[serde(skip_serializing_if = "Option::is_none")]
    entropy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<f64>,
    arcs: Vec<Arc>,
}

/// An arc.
#[derive(Serialize)]
struct Arc {
    head: usize,
    word: usize,
    prob: f64,
    /// Labels and their probabilities, together with the arc's; the most probable first.
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<Map<String, Value>>,
}

/// Counts of the run.
#[derive(Debug, Default, Serialize)]
struct ForestSummary {
    output: String,
    sentences: usize,
    words: usize,
    arcs: usize,
    /// Sentences whose constraints contradict each other; they have no arcs.
    contradictions: usize,
}

impl Forest {
    /// Returns the files of the run.
    pub(super) fn files(&self) -> Files {
        self.asking.files().writes("-o", [&self.output])
    }
}

pub(crate) fn run(arguments: &Forest, session: &Session) -> Result<Outcome> {
    session.refuse_json_beside(&arguments.output)?;
    session.files(&arguments.asking.files)?;
    let model = arguments.asking.load()?;
    let trees = model.require_parser()?;
    let output = arguments.output.display().to_string();
    let cannot_write = || cannot_write(&arguments.output);
    let mut writer = create(&arguments.output)?;
    let mut summary = ForestSummary::default();
    let worker = || {
        let labels = trees.labels.labels();
        let keep = KeepColumns { heads: arguments.keep_heads, labels: arguments.keep_labels };
        move |tagged: Tagged<'_, '_>, sentence: &mut Sentence| {
            let Tagged { annotator, readings } = tagged;
            let constraints = keep.constraints(sentence, labels);
            let nearest = constraints.and_then(|constraints| {
                let distributions = annotator.analyse(sentence, readings, &constraints)?;
                distributions.mixture().nearest_distribution()
            });
            match nearest {
                Ok(nearest) => {
                    let line = Line::new(sentence, &nearest.distribution, arguments.eps)?;
                    Ok((line.text()?, line.arcs.len(), None))
                }
                Err(error @ Error::Contradiction { .. }) => {
                    let line = Line::contradiction(sentence, &error);
                    Ok((line.text()?, 0, Some(error)))
                }
                Err(error) => Err(error.into()),
            }
        }
    };
    arguments.asking.each(&model, session, worker, |sentence, (line, arcs, contradiction)| {
        summary.sentences += 1;
        summary.words += sentence.len();
        summary.arcs += arcs;
        if let Some(contradiction) = contradiction {
            summary.contradictions += 1;
            session.complain(&contradiction.into());
        }
        writer.write_tail(&line).with_context(cannot_write)
    })?;
    writer.finish().with_context(cannot_write)?.commit()?;
    summary.output = output;
    if session.json() {
        session.print_json(&summary)?;
    } else {
        let ForestSummary { sentences, words, arcs, .. } = &summary;
        session.note(format!(
            "{}, {}, {}",
            counted(*sentences, "sentence"),
            counted(*words, "token"),
            counted(*arcs, "arc")
        ));
    }
    let outcome = match summary.contradictions {
        0 => Outcome::Good,
        _ => Outcome::CheckFailed,
    };
    Ok(session.end(outcome))
}

impl<'a> Line<'a> {
    fn new(
        sentence: &'a Sentence,
        distribution: &LabelledDistribution<'_>,
        least: f64,
    ) -> Result<Self> {
        let mut listed = distribution.arcs().arcs_above(least);
        listed.retain(|&(_, _, prob)| prob > 0.0);
        listed.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| b.2.total_cmp(&a.2)));
        let missing = distribution.words() as f64 - listed.iter().map(|arc| arc.2).sum::<f64>();
        let arc = |(head, word, prob)| {
            let mut probs: Vec<(usize, f64)> =
                distribution.label_probs(head, word)?.into_iter().enumerate().collect();
            probs.sort_by(|a, b| b.1.total_cmp(&a.1));
            let labels = probs
                .into_iter()
                .map(|(label, p)| (distribution.name(label).to_owned(), prob * p))
                .filter(|(_, p)| *p >= least && *p > 0.0)
                .map(|(label, p)| (label, Value::from(rounded(p))))
                .collect();
            let labels = (!distribution.labels().is_empty()).then_some(labels);
            Ok(Arc { head, word, prob: rounded(prob), labels })
        };
        Ok(Self {
            sent_id: sentence.sent_id(),
            words: sentence.words().map(|word| word.form()).collect(),
            error: None,
            entropy: Some(rounded(distribution.entropy())),
            missing: Some(rounded(missing.max(0.0))),
            arcs: listed.into_iter().map(arc).collect::<Result<_>>()?,
        })
    }

    fn contradiction(sentence: &'a Sentence, error: &Error) -> Self {
        Self {
            sent_id: sentence.sent_id(),
            words: sentence.words().map(|word| word.form()).collect(),
            error: Some(error.to_string()),
            entropy: None,
            missing: None,
            arcs: Vec::new(),
        }
    }

    fn text(&self) -> Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }
}
