//! `tutte eval`: scores of analyses against a gold standard.
//!
//! ```text
//! scores.rs        tables of the shared tasks
//! analyses.rs      further analyses, each in a file of its own:
//! significance.rs  tests of the difference between systems
//! breakdown.rs     scores by class
//! errors.rs        confusions, frequent errors, tables of Druck et al.
//! ```

pub(super) mod analyses;
mod breakdown;
mod errors;
mod scores;
mod significance;

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
use tutte_treebank::Sentence;
use tutte_treebank::eval::conllx::Punctuation;
use tutte_treebank::eval::{Alignment, GraphConflicts, Irregular, Subtypes, copied_graphs};

use crate::failure::{Outcome, advise};
use crate::input::TreebankArgs;
use crate::report::{Results, count, counted, hundredths};
use crate::session::Session;

/// Score analyses against a gold standard
///
/// Computes the metrics of the CoNLL 2018 shared task, exactly as its official script does, and ELAS and EULAS if both
/// files have enhanced dependencies. Words are aligned by their characters, so tokens and sentences may differ.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte eval gold.conllu system.conllu
  tutte eval gold.conllu baseline.conllu better.conllu
  tutte eval gold.conllu system.conllu --by deprel,length --errors
  tutte eval gold.conllu system.conllu --html report.html
  tutte eval --conllx --punct keep gold.conll system.conll")]
pub(crate) struct Eval {
    /// Gold standard
    gold: PathBuf,

    /// Analyses of the same text; several are compared with the first
    #[arg(value_name = "SYSTEM", required = true)]
    systems: Vec<PathBuf>,

    /// Score as CoNLL-X (2006) and CoNLL 2007 did; files must have the same words
    #[arg(long)]
    conllx: bool,

    /// Punctuation with --conllx: drop as in 2006 (default) or keep as in 2007
    #[arg(long, value_name = "drop|keep", requires = "conllx", hide_possible_values = true)]
    punct: Option<Punct>,

    /// Compare labels with their subtypes: nsubj:pass is not nsubj
    #[arg(long, conflicts_with = "conllx")]
    subtypes: bool,

    /// Show counts instead of percentages
    #[arg(long, conflicts_with = "conllx")]
    counts: bool,

    /// Write an HTML page with all analyses and charts
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    #[command(flatten)]
    analyses: analyses::Analyses,

    #[command(flatten)]
    reading: TreebankArgs,
}

/// Treatment of punctuation, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Punct {
    Drop,
    Keep,
}

impl Eval {
    /// Returns the treatment of punctuation. Without `--conllx` all words count.
    fn punctuation(&self) -> Punctuation {
        match self.punct {
            None if self.conllx => Punctuation::Drop,
            Some(Punct::Drop) => Punctuation::Drop,
            None | Some(Punct::Keep) => Punctuation::Keep,
        }
    }
}

/// An analysis aligned with the gold standard.
struct System<'a> {
    /// Name in tables.
    name: String,
    alignment: Alignment<'a>,
}

pub(crate) fn run(arguments: &Eval, session: &Session) -> Result<Outcome> {
    let read = |path: &Path| arguments.reading.read_all(path, session);
    let gold = read(&arguments.gold)?;
    let analyses: Vec<Vec<Sentence>> =
        arguments.systems.iter().map(|path| read(path)).collect::<Result<_>>()?;
    let names = names(&arguments.systems);
    let systems: Vec<System<'_>> = std::iter::zip(names, &analyses)
        .map(|(name, analysis)| {
            let alignment = if arguments.conllx {
                Alignment::by_position(&gold, analysis)?
            } else if arguments.subtypes {
                Alignment::new(&gold, analysis)?.with_subtypes(Subtypes::Keep)
            } else {
                Alignment::new(&gold, analysis)?
            };
            Ok(System { name, alignment })
        })
        .collect::<Result<_>>()?;
    if gold.is_empty() {
        session.note(format!("note: {} has no sentences", arguments.gold.display()));
    }
    note_swapped(arguments, &gold, &analyses, session);
    if !arguments.conllx {
        note_irregular(&arguments.gold, &gold, session);
        for (path, analysis) in std::iter::zip(&arguments.systems, &analyses) {
            note_irregular(path, analysis, session);
        }
        warn_of_graphs(arguments, &gold, &systems, session);
    }

    let gold_name = arguments.gold.display().to_string();
    let files: Vec<String> =
        arguments.systems.iter().map(|path| path.display().to_string()).collect();
    let subtitle = format!("{} against {gold_name}", files.join(", "));
    let files = files.into_iter().map(|file| ("file", file)).collect();
    let mut results = Results::new("Evaluation", &subtitle, ("systems", files));
    results.record("gold", &gold_name)?;
    let outcome = if arguments.conllx {
        scores::conllx(&systems, arguments, &mut results)?;
        Outcome::Good
    } else {
        scores::conll2018(&systems, arguments, session, &mut results)?
    };
    analyses::sections(&systems, arguments, session, &mut results)?;

    results.publish(session, arguments.html.as_deref())?;
    Ok(session.end(outcome))
}

/// Returns short names of files: without folders if those are distinct, else as typed.
fn names(paths: &[PathBuf]) -> Vec<String> {
    let short = |path: &PathBuf| {
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = paths.iter().map(short).collect();
    let mut distinct = names.clone();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() < names.len() {
        names = paths.iter().map(|path| path.display().to_string()).collect();
    }
    names
}

/// Prints a note if gold standard and system seem swapped, by their probabilities or names.
fn note_swapped(
    arguments: &Eval,
    gold: &[Sentence],
    analyses: &[Vec<Sentence>],
    session: &Session,
) {
    let has_probs = |sentences: &[Sentence]| {
        let mut words = sentences.iter().flat_map(Sentence::words);
        words.any(|word| word.misc_entry("HeadProb").is_some())
    };
    let is_gold = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        name.contains("gold")
    };
    let path = arguments.gold.as_path();
    let system = arguments.systems[0].as_path();
    let why = if has_probs(gold) && !analyses.iter().any(|analysis| has_probs(analysis)) {
        format!("{} has probabilities of a parser, {} has none", path.display(), system.display())
    } else if is_gold(system) && !is_gold(path) {
        format!("{} has gold in its name, {} does not", system.display(), path.display())
    } else {
        return;
    };
    session.note(format!("note: {why}: are they swapped? Name the gold standard first"));
}

/// Warns of systems whose enhanced graphs contradict their trees: ELAS and EULAS do not score what was parsed.
fn warn_of_graphs(arguments: &Eval, gold: &[Sentence], systems: &[System<'_>], session: &Session) {
    let in_gold = GraphConflicts::find(gold);
    for (path, system) in std::iter::zip(&arguments.systems, systems) {
        let path = path.display();
        let gold = arguments.gold.display();
        let found = GraphConflicts::find(system.alignment.system());
        let error = if let Some(other) = copied_graphs(&system.alignment) {
            let words = counted(other, "word");
            anyhow!(
                "{path} has the enhanced graphs of {gold}, but other heads for {words}: ELAS and EULAS are those of \
                 the gold standard, not of the system"
            )
        } else if found.exceeds(&in_gold) {
            let place = found.first.map(|place| format!(", first at {place}")).unwrap_or_default();
            anyhow!(
                "in {path}, DEPS contradicts HEAD: the heads of {} of {} are not among their enhanced heads \
                 ({} % in {gold}){place}; ELAS and EULAS may be those of other trees",
                count(found.conflicts),
                counted(found.words, "word"),
                hundredths(in_gold.share())
            )
        } else {
            continue;
        };
        let hint = "leave DEPS empty unless it was made for these trees; `tutte parse` clears it without --keep-deps";
        session.warn(&advise(error, hint));
    }
}

/// Prints a note about trees that the official evaluation refuses.
fn note_irregular(path: &Path, sentences: &[Sentence], session: &Session) {
    let irregular = Irregular::find(sentences);
    let Some(first) = &irregular.first else { return };
    let kinds = [
        (irregular.unknown_heads, "with unknown heads"),
        (irregular.cycles, "with cycles"),
        (irregular.several_roots, "with several roots"),
    ];
    let found: Vec<String> = kinds
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", counted(*count, "sentence")))
        .collect();
    session.note(format!(
        "note: {} has {}, the first at line {}; the official evaluation refuses such files",
        path.display(),
        found.join(", "),
        first.line
    ));
}
