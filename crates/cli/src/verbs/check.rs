//! `tutte check`: errors in treebanks.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde::Serialize;
use tutte_treebank::check::{CheckedFile, Checker, Finding, Overlap, Report, SHORT, Severity};
use tutte_treebank::{Encoding, Format, Sentence};

use crate::failure::Outcome;
use crate::input::TreebankArgs;
use crate::report::{Align, Table, count, counted, percent, shorten, visible};
use crate::session::Session;

/// Find errors and suspicious values in treebanks
///
/// Checks the format, the trees, FEATS, DEPS, MISC and `# text` of each file. Across files, it finds repeated
/// sentences, training sentences in the test file, and rare labels and tags. Exit code 1 if there are errors.
///
/// Severity depends on the annotation scheme: several roots are an error in Universal Dependencies and a note in
/// CoNLL-X. Of a sentence that cannot be read, only the first problem is reported.
///
/// Example: tutte check train.conllu dev.conllu test.conllu
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Treebanks, checked together; - is standard input
    files: Vec<PathBuf>,

    /// Number of places to show for each finding
    #[arg(short = 'n', long, value_name = "N", default_value_t = 3)]
    examples: usize,

    /// Exit with code 1 for warnings too
    #[arg(long)]
    strict: bool,

    /// Lowest severity to show
    #[arg(long, value_enum, default_value_t = Level::Note)]
    level: Level,

    /// Format of the input, conllu or conllx [default: recognised from its content]
    #[arg(long, value_name = "FORMAT", help_heading = "Reading", display_order = 800)]
    format: Option<Format>,

    /// Encoding of the input, such as latin1 or iso-8859-2
    #[arg(long, value_name = "NAME", default_value = "utf-8", hide_default_value = true)]
    #[arg(help_heading = "Reading", display_order = 801)]
    encoding: Encoding,
}

/// Severity of findings, as typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Level {
    Note,
    Warning,
    Error,
}

impl From<Level> for Severity {
    fn from(level: Level) -> Self {
        match level {
            Level::Note => Severity::Note,
            Level::Warning => Severity::Warning,
            Level::Error => Severity::Error,
        }
    }
}

/// The document of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    verdict: &'a str,
    failed: bool,
    files: &'a [CheckedFile],
    findings: Vec<Titled<'a>>,
    overlaps: &'a [Overlap],
}

/// A finding with its title.
#[derive(Serialize)]
struct Titled<'a> {
    title: &'static str,
    unit: &'static str,
    #[serde(flatten)]
    finding: &'a Finding,
}

pub(crate) fn run(arguments: &Check, session: &Session) -> Result<Outcome> {
    let mut checker = Checker::new(arguments.examples);
    for file in session.files(&arguments.files)? {
        read(&mut checker, &file, arguments, session)?;
    }
    let mut report = checker.finish();
    let bar = if arguments.strict { Severity::Warning } else { Severity::Error };
    let failed = report.worst().is_some_and(|worst| worst >= bar);
    let verdict = verdict(&report);
    report.findings.retain(|finding| finding.severity >= arguments.level.into());
    if session.json() {
        let findings = report.findings.iter().map(|finding| Titled {
            title: finding.kind.title(),
            unit: finding.kind.unit(),
            finding,
        });
        session.print_json(&Document {
            verdict: &verdict,
            failed,
            files: &report.files,
            findings: findings.collect(),
            overlaps: &report.overlaps,
        })?;
    } else {
        print(&report, &verdict, session)?;
    }
    Ok(session.end(if failed { Outcome::CheckFailed } else { Outcome::Good }))
}

fn read(checker: &mut Checker, path: &Path, check: &Check, session: &Session) -> Result<()> {
    // Nothing is skipped: a sentence that cannot be read is a finding.
    let reading = TreebankArgs { format: check.format, encoding: check.encoding, lenient: false };
    let mut reader = reading.open(path, session)?;
    let mut progress = session.progress("sentences");
    let mut sentence = Sentence::default();
    checker.start(reader.name().to_owned());
    loop {
        progress.step();
        match reader.read(&mut sentence) {
            Ok(true) => checker.sentence(&sentence),
            Ok(false) => return Ok(()),
            Err(error) => checker.unreadable(error)?,
        }
    }
}

fn print(report: &Report, verdict: &str, session: &Session) -> Result<()> {
    let mut out = session.stdout();
    write!(out, "{}", files(report).text(0))?;
    for finding in &report.findings {
        writeln!(out)?;
        print_finding(finding, &mut out)?;
    }
    let shared: Vec<&Overlap> = report.overlaps.iter().filter(|o| o.of_first > 0).collect();
    if !shared.is_empty() {
        write!(out, "\n{}", overlaps(&shared, report).text(0))?;
    }
    writeln!(out, "\n{verdict}")?;
    Ok(out.flush()?)
}

fn files(report: &Report) -> Table {
    let names = ["file", "sentences", "words", "format and scheme"];
    let aligns = [Align::Left, Align::Right, Align::Right, Align::Left];
    let mut table = Table::new(names.into_iter().zip(aligns));
    for file in &report.files {
        let mut scheme = match file.scheme {
            Some(scheme) => format!("{}, {scheme}", scheme.format),
            None => "not recognised".to_owned(),
        };
        if file.unreadable > 0 {
            scheme.push_str(&format!(
                ", {} unreadable",
                counted(file.unreadable as usize, "sentence")
            ));
        }
        let sentences = count(file.sentences as usize);
        let words = count(file.words as usize);
        table.row([file.name.clone(), sentences, words, scheme]);
    }
    table
}

fn print_finding(finding: &Finding, out: &mut impl std::io::Write) -> Result<()> {
    let bold = match finding.severity {
        Severity::Error => AnsiColor::Red,
        Severity::Warning => AnsiColor::Yellow,
        Severity::Note => AnsiColor::Cyan,
    }
    .on_default()
    .bold();
    let dim = Style::new().dimmed();
    let kind = finding.kind;
    let severity = finding.severity;
    let amount = counted(finding.count, kind.unit());
    writeln!(out, "{bold}{severity}:{bold:#} {} ({amount})", kind.title())?;
    let place = |example: &tutte_treebank::check::Example| {
        format!("{}:{}", visible(&example.file), example.position())
    };
    let width = finding.examples.iter().map(|e| place(e).chars().count()).max().unwrap_or(0);
    for example in &finding.examples {
        let found = shorten(&visible(&example.found), 120);
        write!(out, "  {:<width$}  {found}", place(example))?;
        match &example.sent_id {
            Some(id) => writeln!(out, "  {dim}{}{dim:#}", visible(id))?,
            None => writeln!(out)?,
        }
    }
    if let Some(advice) = kind.advice() {
        writeln!(out, "  {dim}{advice}{dim:#}")?;
    }
    Ok(())
}

/// Lists overlaps pair by pair, as shares of the smaller file, usually the test set.
fn overlaps(shared: &[&Overlap], report: &Report) -> Table {
    let size = |name: &str| {
        let file = report.files.iter().find(|file| file.name == name);
        file.map_or(0, |file| file.sentences as usize)
    };
    let long = format!("{SHORT} words or more");
    let columns = ["sentences of", "that are also in", long.as_str(), "%", "shorter"];
    let aligns = [Align::Left, Align::Left, Align::Right, Align::Right, Align::Right];
    let mut table = Table::new(columns.into_iter().zip(aligns));
    for overlap in shared {
        let (file, other, of, short) = if size(&overlap.first) < size(&overlap.second) {
            (&overlap.first, &overlap.second, overlap.of_first, overlap.short_of_first)
        } else {
            (&overlap.second, &overlap.first, overlap.of_second, overlap.short_of_second)
        };
        let share = percent(of, size(file));
        table.row([file.clone(), other.clone(), count(of), share, count(short)]);
    }
    table
}

/// Sums up the report in one sentence.
fn verdict(report: &Report) -> String {
    let sentences: u64 = report.files.iter().map(|file| file.sentences + file.unreadable).sum();
    let sentences = counted(sentences as usize, "sentence");
    let kinds = |severity: Severity| {
        let of = report.findings.iter().filter(|finding| finding.severity == severity);
        let places: usize = of.map(|finding| finding.count).sum();
        let kinds = report.count(severity);
        (kinds > 0).then(|| {
            format!(
                "{} ({} in total)",
                counted(kinds, &format!("kind of {severity}")),
                count(places)
            )
        })
    };
    match (kinds(Severity::Error), kinds(Severity::Warning)) {
        (Some(errors), Some(warnings)) => format!("{errors} and {warnings} in {sentences}."),
        (Some(errors), None) => format!("{errors} in {sentences}."),
        (None, Some(warnings)) => format!("No errors in {sentences}, but {warnings}."),
        (None, None) => format!("No errors and no warnings in {sentences}."),
    }
}
