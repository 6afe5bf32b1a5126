//! `tutte audit`: the arcs of a treebank that are likely to be errors.
//!
//! `audit/report.rs` makes text, tables and JSON of the finds, `audit/page.rs` draws them, `audit/files.rs` writes
//! files.

mod files;
mod page;
mod report;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use tutte::Labelling;
use tutte::audit::{self, Settings, Step};
use tutte::learn::{Preset, TreeSetChoice};
use tutte_treebank::{Format, Sentence};

use self::report::AuditReport;
use super::parse::probability;
use super::train::{PresetArg, tree_set_note};
use crate::failure::{Outcome, usage};
use crate::files::Files;
use crate::input::{Seed, Threads, TreebankArgs};
use crate::numbers::{clock, counted};
use crate::output::output_file;
use crate::session::Session;

/// Find the arcs of a treebank that are likely to be annotation errors
///
/// Trains on parts of the treebank, scores the held-out rest, and lists the least plausible arcs with the arc that
/// the model prefers. Input files are not changed.
///
/// Finds that you have reviewed are hidden next time: write fine or error into the third column of OUT, and pass that
/// file with --verdicts. A verdict holds while head, label and form stay the same.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte audit treebank.conllu -o finds.tsv --html finds.html
  tutte audit treebank.conllu --verdicts looked-at.tsv --top 50
  tutte audit *.conllu --conllu judged.conllu.zst --heads-only

Lines of a verdict file (columns separated by tabs; the last two are optional):
  weblog-0042  7  fine   4:nmod  telescope
  weblog-0042  9  error")]
pub(crate) struct Audit {
    /// Files of the treebank; - is standard input
    #[arg(value_name = "TREEBANK")]
    files: Vec<PathBuf>,

    /// Write all finds as a tab-separated table
    #[arg(short, long, value_name = "OUT", value_parser = output_file())]
    output: Option<PathBuf>,

    /// Write an HTML page with the trees of the first finds
    #[arg(long, value_name = "FILE", value_parser = output_file())]
    html: Option<PathBuf>,

    /// Write the trees of the first finds as SVG into a folder, named by rank
    #[arg(long, value_name = "DIR")]
    svg_dir: Option<PathBuf>,

    /// Write the treebank as CoNLL-U with AuditProb=PROBABILITY in MISC, and for finds the preferred arc as
    /// AuditAlt=HEAD:LABEL:PROBABILITY
    #[arg(long, value_name = "FILE", value_parser = output_file())]
    conllu: Option<PathBuf>,

    /// Verdicts on earlier finds, which are then hidden
    #[arg(long, value_name = "FILE")]
    verdicts: Option<PathBuf>,

    /// Number of finds to show, and to draw on the page
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,

    /// List arcs with a probability below P
    #[arg(long, value_name = "P", default_value_t = 0.1, value_parser = probability)]
    below: f64,

    /// Check heads only, not labels
    #[arg(long)]
    heads_only: bool,

    /// Number of folds
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(2..=1000))]
    folds: u16,

    /// Preset of the models, as in `tutte train`: fast, default (slower) or plain
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
    arguments.outputs().try_for_each(files::check)?;
    // Verdicts are an annotator's work and must not be lost.
    arguments.output.as_deref().map_or(Ok(()), files::refuse_verdicts)?;
    let verdicts = arguments.verdicts.as_deref().map(files::verdicts).transpose()?;
    let treebank = arguments.reading.read_trees(&inputs, session)?;
    let choice = TreeSetChoice::of(&treebank);
    if choice.trees > 0 {
        session.note(tree_set_note(&choice));
    }
    if arguments.conllu.is_some() && treebank.iter().any(|s| s.format() == Format::ConllX) {
        return Err(usage(
            "CoNLL-X has no column for probabilities; leave out --conllu, or convert the treebank with \
             `tutte convert IN OUT.conllu`",
        ));
    }
    let words = treebank.iter().map(Sentence::len).sum();
    let usual = Preset::from(arguments.preset).options(words, choice.tree_set);
    let labelling = if arguments.heads_only { Labelling::None } else { usual.labelling };
    let options = usual
        .with_labelling(labelling)
        .with_seed(arguments.seed.number)
        .with_threads(arguments.threads.count());
    let settings = Settings::default().with_folds(arguments.folds.into()).with_options(options);
    let audit = audit_with_progress(&treebank, &settings, session)?;
    let report = AuditReport::new(&audit, verdicts.as_ref(), arguments.below);
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
        session.print(&report.text(arguments.top))?;
        if let Some(next) = report.next(arguments.output.as_deref(), arguments.top) {
            session.note(next);
        }
    }
    Ok(session.end(Outcome::Good))
}

impl Audit {
    /// Returns the files of the run.
    pub(super) fn files(&self) -> Files {
        let files = Files::default().reads_or_stdin(&self.files).reads(&self.verdicts);
        let files = files.writes("-o", &self.output).writes("--html", &self.html);
        files.writes("--conllu", &self.conllu).fills(&self.svg_dir)
    }

    fn outputs(&self) -> impl Iterator<Item = &Path> {
        [&self.output, &self.html, &self.conllu].into_iter().flatten().map(PathBuf::as_path)
    }
}

/// Runs an audit and shows its progress.
fn audit_with_progress<'a>(
    treebank: &'a [Sentence],
    settings: &Settings,
    session: &Session,
) -> Result<audit::Audit<'a>> {
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
    show(0, "training on the other folds");
    let mut watch = |step: Step| match step {
        Step::Trained { fold, pass } => {
            let which = if pass.is_second { "second pass" } else { "pass" };
            show(fold, &format!("{which} {} done", pass.number));
        }
        Step::Scored { fold, temperature } => {
            let time = clock(started.elapsed());
            status.aside(|| {
                session.note(format!(
                    "fold {} of {folds} scored, temperature {temperature:.2}, {time}",
                    fold + 1
                ));
            });
            if fold + 1 < folds {
                show(fold + 1, "training on the other folds");
            }
        }
        _ => {}
    };
    let audit = audit::Audit::run(treebank, settings, &mut watch)?;
    let words: usize = treebank.iter().map(Sentence::len).sum();
    session.note(format!("{} in {}", counted(words, "arc"), clock(started.elapsed())));
    Ok(audit)
}
