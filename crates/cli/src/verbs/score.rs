//! `tutte score`: how probable a model finds the trees that are already there.
//!
//! `score/judgement.rs` judges a sentence, `score/summary.rs` all of them.

mod judgement;
mod summary;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use tutte::{Notes, Parser};
use tutte_treebank::{Format, Sentence, create};

use self::judgement::TreeScore;
use self::summary::Summary;
use crate::failure::{Outcome, usage};
use crate::input::{ModelAndFiles, is_jsonl};
use crate::interrupt;
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
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// Number of sentences with the lowest probability to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    worst: usize,
}

pub(crate) fn run(arguments: &Score, session: &Session) -> Result<Outcome> {
    if arguments.output.as_deref() == Some(Path::new("-")) {
        return Err(usage("the summary goes to standard output; name a file with -o"));
    }
    session.files(&arguments.asking.files)?;
    let model = arguments.asking.load()?;
    let trees = model.trees()?;
    let tree_set = arguments.asking.tree_set(trees);
    let jsonl = arguments.output.as_deref().is_some_and(is_jsonl);
    let writes_conll = arguments.output.is_some() && !jsonl;
    interrupt::remove_temporary_files(arguments.output.iter().cloned().collect());
    let mut writer = arguments.output.as_ref().map(create).transpose()?;
    let cannot_write = || {
        let output = arguments.output.as_ref().map(|path| path.display().to_string());
        format!("cannot write {}", output.unwrap_or_default())
    };
    let worker = || {
        let mut parser = Parser::new(trees).with_tree_set(tree_set);
        move |_, sentence: &mut Sentence| {
            if sentence.format() == Format::ConllX && writes_conll {
                let file = sentence.place().file;
                return Err(usage(format!(
                    "{file} is CoNLL-X, which has no room for probabilities; call OUT .jsonl, or make \
                     it CoNLL-U with `tutte convert`"
                )));
            }
            let judged = parser.judge(sentence)?;
            let judgement = TreeScore::new(sentence, &judged)?;
            let line = if jsonl { judgement.line(sentence)? } else { String::new() };
            if writes_conll {
                let head_probs = judged.head_probs.iter().map(|prob| prob.unwrap_or(0.0)).collect();
                let left_out = judgement.words.iter().filter(|word| word.left_out);
                let label_probs = left_out.filter_map(|word| Some((word.id, word.label_prob?)));
                let notes = Notes {
                    ranks: true,
                    label_probs: label_probs.collect(),
                    head_probs: Some(head_probs),
                    log_prob: Some(judged.log_prob),
                    ..Notes::default()
                };
                judged.distribution.annotate(sentence, &notes)?;
            }
            Ok((judgement, line))
        }
    };
    let mut summary = Summary::new(tree_set, arguments.worst);
    let tail = arguments.asking.each(&model, session, worker, |sentence, (judgement, line)| {
        if let Some(writer) = &mut writer {
            let written = match jsonl {
                true => writer.write_tail(&line),
                false => writer.write(sentence),
            };
            written.with_context(cannot_write)?;
        }
        summary.add(sentence, judgement);
        Ok(())
    })?;
    if let Some(mut writer) = writer {
        if !jsonl {
            writer.write_tail(&tail).with_context(cannot_write)?;
        }
        writer.finish().with_context(cannot_write)?.commit()?;
    }
    match session.json() {
        true => session.print_report(&summary.report())?,
        false => session.stdout().write_all(summary.report().text().as_bytes())?,
    }
    Ok(session.end(Outcome::Good))
}
