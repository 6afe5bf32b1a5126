//! `tutte score`: the probability of the trees that sentences have.
//!
//! `score/sentence_score.rs` is about one sentence, `score/summary.rs` about all of them.

mod sentence_score;
mod summary;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use tutte::{AnnotationOptions, Parser};
use tutte_treebank::{Format, Sentence, create};

use self::sentence_score::SentenceScore;
use self::summary::ScoreSummary;
use crate::failure::{Outcome, usage};
use crate::files::Files;
use crate::input::{ModelAndFiles, Tagged, is_jsonl};
use crate::output::output_file;
use crate::session::Session;

/// Compute the probability of the trees of a file
///
/// Prints a summary, and the sentences with the lowest probability per word. With -o, writes every sentence with the
/// probabilities of its own heads: HeadProb, LabelProb, AltHead and HeadRank in MISC.
///
/// Missing heads (_) are left out. The probability of a tree with arcs that the model prunes is an estimate; the
/// summary counts such trees. A tree outside the tree set has probability zero.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte score -m en.tutte test.conllu
  tutte score -m en.tutte treebank.conllu --worst 50 -o judged.conllu
  tutte score -m en.tutte test.conllu --json | jq .nats_per_word")]
pub(crate) struct Score {
    #[command(flatten)]
    asking: ModelAndFiles,

    /// Write the sentences with probabilities, as CoNLL-U or, if the name ends in .jsonl, as JSON Lines
    #[arg(short, long, value_name = "OUT", value_parser = output_file())]
    output: Option<PathBuf>,

    /// Number of sentences with the lowest probability to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    worst: usize,
}

impl Score {
    /// Returns the files of the run.
    pub(super) fn files(&self) -> Files {
        self.asking.files().writes("-o", &self.output)
    }
}

pub(crate) fn run(arguments: &Score, session: &Session) -> Result<Outcome> {
    if arguments.output.as_deref() == Some(Path::new("-")) {
        return Err(usage("the summary goes to standard output; name a file with -o"));
    }
    session.files(&arguments.asking.files)?;
    let model = arguments.asking.load()?;
    let trees = model.require_parser()?;
    let tree_set = arguments.asking.tree_set(trees);
    let jsonl = arguments.output.as_deref().is_some_and(is_jsonl);
    let writes_conll = arguments.output.is_some() && !jsonl;
    let mut writer = arguments.output.as_ref().map(create).transpose()?;
    let cannot_write = || {
        let output = arguments.output.as_ref().map(|path| path.display().to_string());
        format!("cannot write {}", output.unwrap_or_default())
    };
    let worker = || {
        let mut parser = Parser::new(trees).with_tree_set(tree_set);
        move |_: Tagged<'_, '_>, sentence: &mut Sentence| {
            if sentence.format() == Format::ConllX && writes_conll {
                let file = sentence.place().file;
                return Err(usage(format!(
                    "{file} is CoNLL-X, which has no room for probabilities; name OUT in .jsonl, or make \
                     it CoNLL-U with `tutte convert`"
                )));
            }
            let tree_score = parser.score_tree(sentence)?;
            let mut options = AnnotationOptions::default();
            if !writes_conll {
                // Only CoNLL-U lists alternatives.
                options.alternatives_above = 1.0;
            }
            let annotation = tree_score.annotation(sentence, &options)?;
            let score = SentenceScore::new(sentence, &tree_score, &annotation)?;
            let line = if jsonl { score.line(sentence)? } else { String::new() };
            if writes_conll {
                annotation.write_probabilities(sentence)?;
            }
            Ok((score, line))
        }
    };
    let mut summary = ScoreSummary::new(tree_set, arguments.worst);
    let tail = arguments.asking.each(&model, session, worker, |sentence, (score, line)| {
        if let Some(writer) = &mut writer {
            let written = if jsonl { writer.write_tail(&line) } else { writer.write(sentence) };
            written.with_context(cannot_write)?;
        }
        summary.add(sentence, score);
        Ok(())
    })?;
    if let Some(mut writer) = writer {
        if !jsonl {
            writer.write_tail(&tail).with_context(cannot_write)?;
        }
        writer.finish().with_context(cannot_write)?.commit()?;
    }
    if session.json() {
        session.print_report(&summary.report())?;
    } else {
        session.print(&summary.report().text())?;
    }
    Ok(session.end(Outcome::Good))
}
