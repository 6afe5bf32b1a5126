//! `tutte diff`: differences between two analyses of the same sentences.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use tutte_treebank::diff::{self, DifferenceKind, Differences, PairedBy, SentenceDifference};
use tutte_treebank::draw::{Drawing, Style};
use tutte_treebank::{Column, Format, Sentence};

use super::draw::{Columns, DestinationArgs, Kind, Look, columns, figure, number};
use crate::failure::Outcome;
use crate::files::Files;
use crate::input::TreebankArgs;
use crate::report::{Align, HtmlPage, Table, count, counted, percent, visible};
use crate::session::Session;

/// Show where two analyses of the same sentences differ
///
/// Sentences are paired by position, or by sent_id if both files have them in different order.
/// As SVG or TikZ, arcs of A are above the words and arcs of B below. Exit code 1 if anything
/// differs.
///
///   tutte diff gold.conllu system.conllu
///   tutte diff gold.conllu system.conllu --columns upos,feats
///   tutte diff gold.conllu system.conllu -o differences.html
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Diff {
    /// First treebank, for example the gold standard
    #[arg(value_name = "A")]
    first: PathBuf,

    /// Second treebank, for example the output of a parser
    #[arg(value_name = "B")]
    second: PathBuf,

    /// Columns to compare: lemma, upos, xpos, feats, head, deprel, deps, misc
    #[arg(long, value_name = "COLUMNS", default_value = "head,deprel", value_parser = columns)]
    columns: Columns,

    /// Show at most N sentences, or all; all are counted [default: all]
    #[arg(short = 'n', value_name = "N", value_parser = number)]
    number: Option<usize>,

    #[command(flatten)]
    destination: DestinationArgs,

    #[command(flatten)]
    look: Look,

    #[command(flatten)]
    reading: TreebankArgs,
}

/// Both files and their differences.
struct Comparison {
    names: [String; 2],
    sentences: [Vec<Sentence>; 2],
    columns: Vec<Column>,
    differences: Differences,
    style: Style,
}

/// The document of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    first: &'a str,
    second: &'a str,
    #[serde(flatten)]
    differences: &'a Differences,
}

impl Diff {
    /// Returns the files of the run.
    pub(super) fn files(&self) -> Files {
        self.destination.add_to(Files::default().reads([&self.first, &self.second]))
    }
}

pub(crate) fn run(arguments: &Diff, session: &Session) -> Result<Outcome> {
    let destination = arguments.destination.destination(Kind::Text)?;
    let kind = destination.kind;
    let first = arguments.reading.read_all(&arguments.first, session)?;
    let second = arguments.reading.read_all(&arguments.second, session)?;
    let comparison = Comparison {
        names: [&arguments.first, &arguments.second].map(|path| path.display().to_string()),
        differences: diff::sentences(&first, &second, &arguments.columns),
        sentences: [first, second],
        columns: arguments.columns.to_vec(),
        style: arguments.look.style(kind, destination.page.is_some(), session),
    };
    let differences = &comparison.differences;
    let shown = arguments.number.unwrap_or(usize::MAX).min(differences.differences.len());
    let shown = &differences.differences[..shown];
    if let Some(path) = &destination.page {
        comparison.page(shown).write(path)?;
        session.note(format!("{} written", path.display()));
    }
    if session.json() {
        let [first, second] = &comparison.names;
        session.print_report(&Document { first, second, differences })?;
    }
    let is_drawn = destination.file.is_some() || !session.json();
    if is_drawn && destination.page.is_none() {
        if kind == Kind::Text {
            destination.write(comparison.text(shown).as_bytes(), session)?;
        } else {
            let drawings: Vec<Drawing> =
                shown.iter().filter_map(|difference| comparison.drawing(difference)).collect();
            destination.write(&kind.draw_all(&drawings)?, session)?;
            comparison.undrawn(shown, session);
        }
    }
    let outcome = if differences.is_empty() { Outcome::Good } else { Outcome::CheckFailed };
    Ok(session.end(outcome))
}

impl Comparison {
    /// Returns both sentences if they have the same words.
    fn pair(&self, difference: &SentenceDifference) -> Option<(&Sentence, &Sentence)> {
        let [first, second] = &self.sentences;
        let pair = (first.get(difference.first? - 1)?, second.get(difference.second? - 1)?);
        matches!(difference.kind, DifferenceKind::Words(_)).then_some(pair)
    }

    fn drawing(&self, difference: &SentenceDifference) -> Option<Drawing> {
        let (first, second) = self.pair(difference)?;
        let [above, below] = &self.names;
        let caption = format!("{}: {above} above, {below} below", name(difference));
        Some(Drawing::of_two(first, second, &self.columns, &self.style).with_caption(&caption))
    }

    /// Prints the differences that are not drawn to standard error.
    fn undrawn(&self, shown: &[SentenceDifference], session: &Session) {
        for difference in shown {
            if let Some(text) = self.without_words(difference) {
                session.note(format!("{}: {text}", name(difference)));
            }
        }
        session.note(self.summary().trim_end());
    }

    /// Explains why a sentence was not compared word by word.
    fn without_words(&self, difference: &SentenceDifference) -> Option<String> {
        let [first_name, second_name] = &self.names;
        match &difference.kind {
            DifferenceKind::Words(_) => None,
            DifferenceKind::Missing => {
                let only = if difference.first.is_some() { first_name } else { second_name };
                Some(format!("only in {only}"))
            }
            DifferenceKind::Tokens { word, first, second } => {
                let form = |form: &Option<String>| match form {
                    Some(form) => format!("{form:?}"),
                    None => "nothing".to_owned(),
                };
                let (first, second) = (form(first), form(second));
                Some(format!(
                    "different words: word {word} is {first} in {first_name}, {second} in {second_name}"
                ))
            }
        }
    }

    fn text(&self, shown: &[SentenceDifference]) -> String {
        const INDENT: &str = "  ";
        let width = self.style.width_columns.saturating_sub(INDENT.len());
        let style = Style { width_columns: width, ..self.style.clone() };
        let mut text = String::new();
        for difference in shown {
            text.push_str(&name(difference));
            match (&difference.kind, self.pair(difference)) {
                (DifferenceKind::Words(_), Some((first, second))) => {
                    text.push('\n');
                    let drawing = Drawing::of_two(first, second, &self.columns, &style);
                    for line in drawing.text().lines() {
                        text.push_str(&format!("{INDENT}{line}\n"));
                    }
                }
                _ => {
                    let why = self.without_words(difference).unwrap_or_default();
                    text.push_str(&format!(": {why}\n"));
                }
            }
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text + &self.summary()
    }

    fn summary(&self) -> String {
        let Differences { compared, words, differing_sentences, differing_words, .. } =
            self.differences;
        let mut text = String::new();
        let by = match self.differences.paired_by {
            PairedBy::Position => "position",
            PairedBy::SentId => "sent_id",
        };
        let mut line = |what: String| {
            text.push_str(&what);
            text.push('\n');
        };
        line(format!(
            "{} of {} sentences differ, paired by {by}",
            count(differing_sentences),
            count(compared)
        ));
        line(format!("{} of {} words differ", count(differing_words), count(words)));
        for column in &self.differences.by_column {
            let same = words - column.words;
            line(format!(
                "  {:<7} {} differ, {} % agree",
                column.column.name(Format::ConllU),
                count(column.words),
                percent(same, words)
            ));
        }
        let missing = |side: fn(&SentenceDifference) -> Option<usize>| {
            let differences = self.differences.differences.iter();
            differences.filter(|d| d.kind == DifferenceKind::Missing && side(d).is_some()).count()
        };
        let [first, second] = &self.names;
        for (only, name) in [(missing(|d| d.first), first), (missing(|d| d.second), second)] {
            if only > 0 {
                line(format!("{} only in {name}", counted(only, "sentence")));
            }
        }
        let tokens = self.differences.differences.iter();
        let tokens = tokens.filter(|d| matches!(d.kind, DifferenceKind::Tokens { .. })).count();
        if tokens > 0 {
            line(format!("{} with different words, not compared", counted(tokens, "sentence")));
        }
        text
    }

    fn page(&self, shown: &[SentenceDifference]) -> HtmlPage {
        let [first, second] = &self.names;
        let mut page = HtmlPage::new(
            "Differences",
            &format!("{first} (above, blue) and {second} (below, orange)"),
        );
        page.paragraph(self.summary().lines().next().unwrap_or_default());
        let mut table = Table::new([
            ("column", Align::Left),
            ("differ", Align::Right),
            ("% agree", Align::Right),
        ]);
        let words = self.differences.words;
        for column in &self.differences.by_column {
            table.row([
                column.column.name(Format::ConllU).to_owned(),
                count(column.words),
                percent(words - column.words, words),
            ]);
        }
        page.table(&table);
        let mut has_drawing = false;
        for difference in shown {
            page.subheading(&name(difference));
            match self.pair(difference) {
                Some((a, b)) => {
                    let drawing = Drawing::of_two(a, b, &self.columns, &self.style);
                    page.figure(&figure(&drawing, !std::mem::replace(&mut has_drawing, true)), "");
                }
                None => page.paragraph(&self.without_words(difference).unwrap_or_default()),
            }
        }
        page
    }
}

fn name(difference: &SentenceDifference) -> String {
    let place = difference.first.or(difference.second).unwrap_or(0);
    match &difference.sent_id {
        Some(id) => visible(id).into_owned(),
        None => format!("sentence {place}"),
    }
}
