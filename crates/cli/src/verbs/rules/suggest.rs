//! `tutte rules suggest`: rules counted in a treebank.

use std::path::{Path, PathBuf};
use std::slice;

use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
use serde::Serialize;
use tutte::rules::{Draft, RuleSet, suggest};
use tutte_treebank::Sentence;

use super::{bytes, placed, refuse};
use crate::failure::{Outcome, advise};
use crate::files::Files;
use crate::input::TreebankArgs;
use crate::output::output_file;
use crate::report::{count, counted, write_whole};
use crate::session::Session;

/// Count rules in a treebank, or fill the open targets of a draft
///
/// Such rules show what ideal rules can reach, and are a starting point for your own.
///
///   top              head, dependent and direction; shares of pairs
///   nearest          the same; shares of words with such a candidate
///   parents          with the distance; all with enough arcs
///   parents+sequence the same, and 25 more with words between or beside
///   curve            half with the distance, half with words between or beside
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  tutte rules suggest train.conllu --kind nearest --top 20 -o counted.tut
  tutte rules suggest train.conllu --kind parents --max-length 20 --least 10 -o parents.tut
  tutte rules suggest --fill draft.tut train.conllu      where draft.tut has targets ?"
)]
pub(super) struct Suggest {
    /// Treebanks with trees; - is standard input
    #[arg(value_name = "TREEBANK")]
    files: Vec<PathBuf>,

    /// Type of rules
    #[arg(long, value_enum, default_value_t = SuggestKind::Nearest, conflicts_with = "fill")]
    kind: SuggestKind,

    /// Number of rules, or all [default: 20; parents: all]
    #[arg(long, value_name = "K", value_parser = crate::verbs::draw::number, conflicts_with = "fill")]
    top: Option<usize>,

    /// Leave out rare rules: fewer than N pairs (top) or words (nearest) [200], at most N arcs (parents) [100] or
    /// pairs (curve) [50]
    #[arg(long, value_name = "N", conflicts_with = "fill")]
    least: Option<u64>,

    /// Tags to use; xpos falls back to upos
    #[arg(long, value_enum, default_value_t = TagColumn::Upos, conflicts_with = "fill")]
    tags: TagColumn,

    /// Sort by share or by number of arcs (top, nearest)
    #[arg(long, value_enum, default_value_t = Order::Share, conflicts_with = "fill")]
    order: Order,

    /// Write exact targets instead of 0, 0.1, 0.25, 0.5, 0.75 or 1
    #[arg(long)]
    exact: bool,

    /// Count the targets ? of these rules, and keep all others
    #[arg(long, value_name = "RULES")]
    fill: Option<PathBuf>,

    /// Leave out sentences longer than N words
    #[arg(long, value_name = "N")]
    max_length: Option<usize>,

    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE", value_parser = output_file())]
    output: Option<PathBuf>,

    #[command(flatten)]
    reading: TreebankArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SuggestKind {
    Top,
    Nearest,
    Parents,
    #[value(name = "parents+sequence")]
    ParentsSequence,
    Curve,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TagColumn {
    Upos,
    Xpos,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Order {
    Share,
    Arcs,
}

/// The document of `--json`.
#[derive(Serialize)]
struct Document {
    sentences: usize,
    words: usize,
    warnings: Vec<String>,
    rules: Vec<String>,
}

impl Suggest {
    /// Returns the files of the run.
    pub(super) fn files(&self) -> Files {
        Files::default().reads_or_stdin(&self.files).reads(&self.fill).writes("-o", &self.output)
    }
}

pub(super) fn run(arguments: &Suggest, session: &Session) -> Result<Outcome> {
    let draft = match &arguments.fill {
        None => None,
        Some(path) => {
            let (name, bytes) = bytes(path)?;
            match Draft::from_bytes(&name, &bytes) {
                Ok(draft) => Some(draft),
                Err(invalid) => return refuse(&invalid, session),
            }
        }
    };
    let files = session.files(&arguments.files)?;
    let to_file = arguments.output.as_deref().filter(|path| *path != Path::new("-"));
    let mut treebank = Vec::new();
    for file in &files {
        for sentence in arguments.reading.short_sentences(file, "matching of rules", session)? {
            treebank.push(sentence?);
        }
    }
    treebank.retain(|sentence| sentence.len() <= arguments.max_length.unwrap_or(usize::MAX));
    let words = treebank.iter().flat_map(Sentence::partial_heads).flatten().count();
    if words == 0 {
        let error =
            anyhow!("no word of {} has a head, so there is nothing to count", named(&files));
        return Err(advise(error, "name a treebank with trees, whole or partial"));
    }
    let name = arguments.output.as_deref().unwrap_or(Path::new("-")).display().to_string();
    let rules = match &draft {
        Some(draft) => draft.filled(&treebank, !arguments.exact),
        None => arguments.selection().rules(&name, &treebank),
    };
    let rules = match rules {
        Ok(rules) => rules,
        Err(invalid) => return refuse(&invalid, session),
    };
    let mut warnings: Vec<String> =
        rules.warnings().iter().map(|problem| placed(rules.file(), problem)).collect();
    if rules.is_empty() && draft.is_none() {
        warnings.push("no rule is frequent enough: lower --least".to_owned());
    }
    if !session.json() {
        for warning in &warnings {
            session.warn(&anyhow!("{warning}"));
        }
    }
    let counted_in = format!(
        "{}: {}, {} with a head",
        named(&files),
        counted(treebank.len(), "sentence"),
        counted(words, "word")
    );
    let text = format!("{}{rules}", arguments.comment(&counted_in, draft.as_ref(), &rules));
    if let Some(path) = to_file {
        write_whole(path, &text)?;
        session.note(format!("{} written to {}", counted(rules.len(), "rule"), path.display()));
    }
    if session.json() {
        let rules = rules.rules().iter().map(ToString::to_string).collect();
        session.print_report(&Document { sentences: treebank.len(), words, warnings, rules })?;
    } else if to_file.is_none() {
        session.print(&text)?;
    }
    Ok(session.end(Outcome::Good))
}

impl Suggest {
    fn selection(&self) -> suggest::Suggest {
        let all = matches!(self.kind, SuggestKind::Parents | SuggestKind::ParentsSequence);
        suggest::Suggest {
            selection: match self.kind {
                SuggestKind::Top => suggest::Selection::Top,
                SuggestKind::Nearest => suggest::Selection::Nearest,
                SuggestKind::Parents => suggest::Selection::Parents,
                SuggestKind::ParentsSequence => suggest::Selection::ParentsSequence,
                SuggestKind::Curve => suggest::Selection::Curve,
            },
            top: self.top.unwrap_or(if all { usize::MAX } else { 20 }),
            least: self.least,
            tags: match self.tags {
                TagColumn::Upos => suggest::TagColumn::Upos,
                TagColumn::Xpos => suggest::TagColumn::Xpos,
            },
            order: match self.order {
                Order::Share => suggest::Order::Share,
                Order::Arcs => suggest::Order::Arcs,
            },
            binned: !self.exact,
            ..suggest::Suggest::default()
        }
    }

    /// Returns the comment at the top of the file.
    fn comment(&self, counted_in: &str, draft: Option<&Draft>, rules: &RuleSet) -> String {
        let targets = if self.exact { "exact" } else { "rounded" };
        let longest =
            self.max_length.map_or(String::new(), |words| format!(" --max-length {words}"));
        let what = match (draft, &self.fill) {
            (Some(draft), Some(path)) => {
                // Rules with nothing to count are left out.
                let filled = (draft.open() + rules.len()).saturating_sub(draft.len());
                let filled = count(filled);
                let name = named(slice::from_ref(path));
                format!("--fill {name}{longest}: open targets filled: {filled}, {targets}")
            }
            _ => {
                let selection = self.selection();
                let many = match selection.top {
                    usize::MAX => "all".to_owned(),
                    many => many.to_string(),
                };
                let order = match self.kind {
                    SuggestKind::Top | SuggestKind::Nearest => {
                        format!(" --order {}", typed(self.order))
                    }
                    SuggestKind::Parents | SuggestKind::ParentsSequence | SuggestKind::Curve => {
                        String::new()
                    }
                };
                format!(
                    "--kind {} --top {many} --least {} --tags {}{order}{longest}: {} with {targets} targets",
                    typed(self.kind),
                    selection.least(),
                    typed(self.tags),
                    counted(rules.len(), "rule")
                )
            }
        };
        format!("# Counted in {counted_in}.\n# {what}.\n")
    }
}

/// Returns an argument as typed.
fn typed(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
}

/// Joins the names of files.
fn named(files: &[PathBuf]) -> String {
    let name = |file: &PathBuf| {
        if file.as_os_str() == "-" {
            "standard input".to_owned()
        } else {
            file.display().to_string().replace(['\n', '\r'], " ")
        }
    };
    files.iter().map(name).collect::<Vec<_>>().join(", ")
}
