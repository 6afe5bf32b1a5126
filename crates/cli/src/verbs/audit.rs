//! `tutte audit`: which arcs of a treebank are likely to be errors.
//!
//! `audit/report.rs` puts what was found into words and tables, `audit/page.rs` draws it, `audit/files.rs`
//! writes it.

mod files;
mod page;
mod report;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use tutte::audit::{Audit as AuditResult, Settings, Step};
use tutte::{Labelling, TrainingOptions};
use tutte_treebank::{Format, Sentence};

use self::report::Report;
use super::parse::probability;
use super::train::{PresetArg, tree_set_note};
use crate::failure::{Outcome, usage};
use crate::input::TreebankArgs;
use crate::input::{Seed, Threads};
use crate::numbers::{clock, counted};
use crate::session::Session;
use tutte::learn::{Preset, TreeSetChoice};

/// Find the arcs of a treebank that are likely to be annotation errors
///
/// The treebank is dealt into folds, whole documents (# newdoc) each, or runs of sentences where there are
/// none; for every fold a model is learnt from the others, and judges the arcs that it has not seen.
/// Sentences with the same words as one to be judged are not learnt from. Arcs are listed by how
/// suspicious they are: by how much surer the model is of another head or label (in nats), above what is
/// usual for arcs of this label; with what the model would rather have, and by what they have in common. No
/// file that is read is changed.
///
/// Finds that you have looked at need not come again: write fine or error into the third column of OUT,
/// and give that file with --verdicts next time. A verdict holds while head, label and form are the same.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte audit treebank.conllu -o finds.tsv --html finds.html
  tutte audit treebank.conllu --verdicts looked-at.tsv --top 50
  tutte audit *.conllu --conllu judged.conllu.zst --heads-only

A file of verdicts has lines like (with tabs; what the verdict is about may be left out)
  weblog-0042  7  fine   4:nmod  telescope
  weblog-0042  9  error")]
pub(crate) struct Audit {
    /// The treebank, all files together; - is standard input
    #[arg(value_name = "TREEBANK")]
    files: Vec<PathBuf>,

    /// Write all finds as a table with tabs
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// Write a page with the trees of the first finds
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write the trees of the first finds as SVG into a folder, named by their rank
    #[arg(long, value_name = "DIR")]
    svg_dir: Option<PathBuf>,

    /// Write the treebank as CoNLL-U with AuditProb, the probability of head and label, in MISC of every
    /// word, and AuditAlt=head:label:probability, what the model would rather have, where the arc is a find
    #[arg(long, value_name = "FILE")]
    conllu: Option<PathBuf>,

    /// What was said of earlier finds; these are not shown again
    #[arg(long, value_name = "FILE")]
    verdicts: Option<PathBuf>,

    /// How many finds to show, and to draw on the page
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,

    /// A find is an arc whose probability is below this
    #[arg(long, value_name = "P", default_value_t = 0.1, value_parser = probability)]
    below: f64,

    /// Judge heads only, not labels
    #[arg(long)]
    heads_only: bool,

    /// Into how many parts to deal the treebank
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(2..=1000))]
    folds: u16,

    /// Which models judge, as in `tutte train`: fast, default (takes several times as long) or plain
    #[arg(
        long,
        value_name = "PRESET",
        value_enum,
        default_value = "fast",
        hide_possible_values = true
    )]
    preset: PresetArg,

    #[command(flatten)]
    seed: Seed,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    reading: TreebankArgs,
}

pub(crate) fn run(arguments: &Audit, session: &Session) -> Result<Outcome> {
    let inputs = session.files(&arguments.files)?;
    let read: Vec<PathBuf> = inputs.iter().chain(&arguments.verdicts).cloned().collect();
    for output in arguments.outputs() {
        files::check(output, &read)?;
    }
    files::apart(arguments.outputs())?;
    // Somebody's work: not to be lost.
    arguments.output.as_deref().map_or(Ok(()), files::refuse_verdicts)?;
    let verdicts = arguments.verdicts.as_deref().map(files::verdicts).transpose()?;
    let treebank = arguments.reading.read_trees(&inputs, session)?;
    let choice = TreeSetChoice::of(&treebank);
    session.note(tree_set_note(&choice));
    if arguments.conllu.is_some() && treebank.iter().any(|s| s.format() == Format::ConllX) {
        return Err(usage(
            "CoNLL-X has no room for probabilities; leave out --conllu, or make it CoNLL-U with `tutte convert`",
        ));
    }
    let words = treebank.iter().map(Sentence::len).sum();
    let usual = Preset::from(arguments.preset).options(words, choice.tree_set);
    let settings = Settings {
        folds: arguments.folds.into(),
        options: TrainingOptions {
            labelling: if arguments.heads_only { Labelling::None } else { usual.labelling },
            seed: arguments.seed.number,
            threads: arguments.threads.count(),
            ..usual
        },
    };
    let audit = watched(&treebank, &settings, session)?;
    let report = Report::new(&audit, verdicts.as_ref(), arguments.below);
    if let Some(path) = &arguments.output {
        files::table(path, &report)?;
    }
    if let Some(path) = &arguments.conllu {
        files::conllu(path, &audit, &report)?;
    }
    if let Some(path) = &arguments.html {
        page::page(&audit, &report, arguments.top).write(path)?;
    }
    if let Some(folder) = &arguments.svg_dir {
        page::pictures(&audit, &report, arguments.top, folder)?;
    }
    if session.json() {
        session.print_report(&report.json(arguments.top))?;
    } else {
        let mut out = session.stdout();
        out.write_all(report.text(arguments.top).as_bytes())?;
        out.flush()?;
        if let Some(next) = report.next(arguments.output.as_deref(), arguments.top) {
            session.note(next);
        }
    }
    Ok(session.end(Outcome::Good))
}

impl Audit {
    fn outputs(&self) -> impl Iterator<Item = &Path> {
        [&self.output, &self.html, &self.conllu].into_iter().flatten().map(PathBuf::as_path)
    }
}

/// Runs an audit and says how far it is.
fn watched<'a>(
    treebank: &'a [Sentence],
    settings: &Settings,
    session: &Session,
) -> Result<AuditResult<'a>> {
    let started = Instant::now();
    let status = session.status();
    let folds = settings.folds.min(treebank.len());
    let show = |fold: usize, what: &str| {
        status.show(|| {
            let elapsed = started.elapsed();
            let left = match fold {
                0 => String::new(),
                _ => {
                    let left = elapsed.mul_f64((folds - fold) as f64 / fold as f64);
                    format!(", about {} left", clock(left))
                }
            };
            format!("fold {} of {folds}: {what}, {}{left}", fold + 1, clock(elapsed))
        });
    };
    show(0, "learning from the others");
    let watch = |step: Step| match step {
        Step::Trained { fold, pass } => {
            let which = if pass.second { "second pass" } else { "pass" };
            show(fold, &format!("{which} {} is over", pass.number));
        }
        Step::Judged { fold, temperature } => {
            let time = clock(started.elapsed());
            status.aside(|| {
                session.note(format!(
                    "fold {} of {folds} judged, temperature {temperature:.2}, {time}",
                    fold + 1
                ));
            });
            if fold + 1 < folds {
                show(fold + 1, "learning from the others");
            }
        }
    };
    let audit = AuditResult::run(treebank, settings, watch)?;
    let words: usize = treebank.iter().map(Sentence::len).sum();
    session.note(format!("{} in {}", counted(words, "arc"), clock(started.elapsed())));
    Ok(audit)
}
