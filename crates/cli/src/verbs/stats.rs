//! `tutte stats`: statistics of treebanks.

mod page;
mod terminal;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use tutte_treebank::stats::{Histogram, Statistics, Summary};

use crate::failure::Outcome;
use crate::files::Files;
use crate::input::TreebankArgs;
use crate::output::output_file;
use crate::report::{Align, Table, count};
use crate::session::Session;

/// Show statistics of treebanks
///
/// Counts sentences, words, vocabulary, labels, tags and features, and describes the trees: projectivity, gap degrees,
/// roots, lengths and directions of arcs, branching and depth. Words are syntactic words. A label is repeated under a word
/// if several modifiers of the word have it.
///
/// Example: tutte stats train.conllu dev.conllu --html stats.html
#[derive(Debug, Args)]
pub(crate) struct Stats {
    /// Treebanks, counted one by one and together; - is standard input
    files: Vec<PathBuf>,

    /// Show the N most frequent labels, tags and pairs of tags
    #[arg(short = 'n', long, value_name = "N", default_value_t = 12)]
    top: usize,

    /// Write an HTML page with charts and complete tables
    #[arg(long, value_name = "FILE", value_parser = output_file())]
    html: Option<PathBuf>,

    #[command(flatten)]
    reading: TreebankArgs,
}

/// A file and its statistics.
#[derive(Serialize)]
struct Named {
    name: String,
    #[serde(flatten)]
    summary: Summary,
}

/// The document of `--json`.
#[derive(Serialize)]
struct Document {
    files: Vec<Named>,
    total: Summary,
}

impl Stats {
    /// Returns the files of the run.
    pub(super) fn files(&self) -> Files {
        Files::default().reads_or_stdin(&self.files).writes("--html", &self.html)
    }
}

pub(crate) fn run(arguments: &Stats, session: &Session) -> Result<Outcome> {
    let mut files = Vec::new();
    let mut total = Statistics::default();
    for path in session.files(&arguments.files)? {
        let mut statistics = Statistics::default();
        for sentence in arguments.reading.sentences(&path, session)? {
            statistics.add(&sentence?);
        }
        total.merge(&statistics);
        let name =
            if path.as_os_str() == "-" { "<stdin>".into() } else { path.display().to_string() };
        files.push(Named { name, summary: statistics.summary() });
    }
    let document = Document { files, total: total.summary() };
    if let Some(path) = &arguments.html {
        page::page(&document).write(path)?;
    }
    if session.json() {
        session.print_report(&document)?;
    } else {
        terminal::print(&document, arguments.top, session)?;
    }
    Ok(session.end(Outcome::Good))
}

/// Number of files above which files are rows instead of columns.
const MOST_COLUMNS: usize = 5;

/// Compares many files, one row per file; `None` if there are few.
fn by_file(document: &Document) -> Option<Table> {
    if document.files.len() <= MOST_COLUMNS {
        return None;
    }
    let names = [
        "sentences",
        "words",
        "median",
        "longest",
        "forms",
        "labels",
        "UPOS",
        "XPOS",
        "np arcs, %",
        "np sent., %",
        "roots, %",
        "head first, %",
    ];
    let first = std::iter::once(("file", Align::Left));
    let mut table = Table::new(first.chain(names.map(|name| (name, Align::Right))));
    for (name, file) in short_names(document).into_iter().zip(&document.files) {
        let s = &file.summary;
        table.row([
            name,
            number(s.sentences),
            number(s.words),
            s.median_length.map_or("–".into(), |median| median.to_string()),
            s.max_length.map_or("–".into(), count),
            number(s.vocabulary.forms),
            number(s.deprels.iter().filter(|label| label.value != "_").count() as u64),
            number(s.upos.len() as u64),
            number(s.xpos.len() as u64),
            percent(s.trees.nonprojective_arc_share, 2),
            percent(s.trees.nonprojective_tree_share, 1),
            percent(s.trees.multi_root_share, 1),
            percent(s.trees.head_initial_share, 1),
        ]);
    }
    Some(table)
}

/// Sums up the statistics, one column per file, unless there are many, and one for all files together.
fn overview(document: &Document) -> Table {
    let has_total = document.files.len() > 1;
    let shown = if document.files.len() > MOST_COLUMNS { 0 } else { document.files.len() };
    let names = short_names(document).into_iter().take(shown);
    let columns = names.chain(has_total.then(|| "total".to_owned()));
    let first = std::iter::once((String::new(), Align::Left));
    let mut table = Table::new(first.chain(columns.map(|name| (name, Align::Right))));
    let all: Vec<&Summary> = document.files[..shown]
        .iter()
        .map(|file| &file.summary)
        .chain(has_total.then_some(&document.total))
        .collect();
    let mut row = |name: &str, value: &dyn Fn(&Summary) -> String| {
        table.row(std::iter::once(name.to_owned()).chain(all.iter().map(|summary| value(summary))));
    };
    let any = |value: &dyn Fn(&Summary) -> u64| value(&document.total) > 0;
    row("sentences", &|s| number(s.sentences));
    row("words", &|s| number(s.words));
    if any(&|s| s.multiword_tokens) {
        row("tokens on paper", &|s| number(s.tokens));
        row("multiword tokens", &|s| number(s.multiword_tokens));
    }
    if any(&|s| s.empty_nodes) {
        row("empty nodes", &|s| number(s.empty_nodes));
    }
    row("characters", &|s| number(s.characters));
    row("words per sentence", &|s| decimal(s.mean_length, 1));
    row("median words per sentence", &|s| {
        s.median_length.map_or("–".into(), |median| median.to_string())
    });
    row("longest sentence", &|s| s.max_length.map_or("–".into(), count));
    row("different forms", &|s| number(s.vocabulary.forms));
    row("forms seen once", &|s| number(s.vocabulary.hapaxes));
    row("different forms per word", &|s| decimal(s.vocabulary.type_token_ratio, 3));
    if any(&|s| s.vocabulary.lemmas) {
        row("different lemmas", &|s| number(s.vocabulary.lemmas));
    }
    row("labels", &|s| number(s.deprels.iter().filter(|l| l.value != "_").count() as u64));
    row("tags (UPOS)", &|s| number(s.upos.len() as u64));
    if any(&|s| s.xpos.len() as u64) {
        row("tags (XPOS)", &|s| number(s.xpos.len() as u64));
    }
    if any(&|s| s.features.len() as u64) {
        row("features", &|s| number(s.features.len() as u64));
    }
    if any(&|s| s.trees.without_tree) {
        row("sentences without a tree", &|s| number(s.trees.without_tree));
    }
    if any(&|s| s.trees.trees) {
        row("non-projective arcs, %", &|s| percent(s.trees.nonprojective_arc_share, 2));
        row("non-projective sentences, %", &|s| percent(s.trees.nonprojective_tree_share, 1));
        row("largest gap degree", &|s| s.trees.gap_degrees.max().map_or("–".into(), count));
        row("several roots, % of sentences", &|s| percent(s.trees.multi_root_share, 1));
        row("head before modifier, % of arcs", &|s| percent(s.trees.head_initial_share, 1));
        row("mean length of arcs", &|s| decimal(s.trees.dependency_length.mean, 2));
        row("mean length, words shuffled", &|s| decimal(s.trees.dependency_length.random, 2));
        row("mean length, shuffled projectively", &|s| {
            decimal(s.trees.dependency_length.random_projective, 2)
        });
        row("mean depth of trees", &|s| decimal(s.trees.mean_depth, 2));
        row("children per head", &|s| decimal(s.trees.branching.mean_children, 2));
    }
    table
}

/// Divides a histogram into at most a dozen bins of equal width, the last one open. Returns names and counts.
fn bins(histogram: &Histogram) -> Vec<(String, u64)> {
    const MOST: usize = 12;
    let Some(largest) = histogram.max() else { return Vec::new() };
    // The largest 2 % go into the open bin.
    let total = histogram.total();
    let mut seen = 0;
    let usual = histogram.iter().find_map(|(value, count)| {
        seen += count;
        (50 * seen >= 49 * total).then_some(value)
    });
    let usual = usual.unwrap_or(largest);
    let mut width = 1;
    for step in [2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000] {
        if usual > width * (MOST - 1) {
            width = step;
        }
    }
    let mut bins = Vec::new();
    let mut from = histogram.min().unwrap_or(1).min(1);
    while from <= largest {
        let open = bins.len() + 1 == MOST && largest > from;
        // Zero has its own bin, so bins are 1–5 and 6–10 rather than 0–4 and 5–9.
        let to = match from {
            _ if open => largest,
            0 => 0,
            _ => (from - 1) / width * width + width,
        };
        let name = match () {
            () if open => format!("{from}+"),
            () if to == from => from.to_string(),
            () => format!("{from}–{to}"),
        };
        bins.push((name, histogram.within(from..=to)));
        from = to + 1;
    }
    bins
}

/// Returns the names of the files without their common folders.
fn short_names(document: &Document) -> Vec<String> {
    let names: Vec<&str> = document.files.iter().map(|file| file.name.as_str()).collect();
    let folder =
        |name: &str, depth: usize| name.match_indices('/').nth(depth).map(|(at, _)| at + 1);
    let mut cut = 0;
    let mut depth = 0;
    while let Some(end) = names.first().and_then(|name| folder(name, depth))
        && names.iter().all(|name| name.get(..end) == names[0].get(..end))
    {
        cut = end;
        depth += 1;
    }
    names.iter().map(|name| name[cut..].to_owned()).collect()
}

fn number(value: u64) -> String {
    count(value as usize)
}

fn decimal(value: Option<f64>, digits: usize) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.digits$}"))
}

fn percent(share: Option<f64>, digits: usize) -> String {
    decimal(share.map(|share| 100.0 * share), digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(names: &[&str]) -> Document {
        let text = "1\tA & <B>\t_\tN\t_\t_\t0\tROOT\t_\t_\n\n";
        let mut statistics = Statistics::default();
        for sentence in tutte_treebank::Reader::new(text.as_bytes()) {
            statistics.add(&sentence.unwrap());
        }
        let named = |name: &&str| Named { name: (*name).to_owned(), summary: statistics.summary() };
        Document { files: names.iter().map(named).collect(), total: statistics.summary() }
    }

    #[test]
    fn names_lose_the_folders_they_share() {
        let short = |names: &[&str]| short_names(&document(names));
        assert_eq!(short(&["ud/da/dev.conllu"]), ["dev.conllu"]);
        assert_eq!(
            short(&["ud/da/dev.conllu", "ud/nl/dev.conllu"]),
            ["da/dev.conllu", "nl/dev.conllu"]
        );
        assert_eq!(short(&["a/x", "b/x", "<stdin>"]), ["a/x", "b/x", "<stdin>"]);
        assert_eq!(short(&["/é/x", "/è/x"]), ["é/x", "è/x"]);
        assert!(short(&[]).is_empty());
    }

    #[test]
    fn pages_are_whole_for_one_file_for_many_and_for_nothing() {
        let nothing = Document { files: Vec::new(), total: Statistics::default().summary() };
        for document in [document(&["a"]), document(&["a"; 9]), nothing] {
            let html = page::page(&document).html();
            assert!(html.ends_with("</html>\n"));
            assert!(!html.contains("NaN") && !html.contains("inf"), "{html}");
            let links = html.replace("http://www.w3.org/2000/svg", "");
            assert!(!links.contains("://"), "a page links to nothing");
        }
    }

    #[test]
    fn bins_hold_everything_once() {
        for largest in [1, 2, 9, 11, 12, 13, 40, 59, 143, 5230] {
            let histogram: Histogram = (1..=largest).chain([1, 1, 2]).collect();
            let bins = bins(&histogram);
            assert!(bins.len() <= 12, "{largest}: {bins:?}");
            let sum: u64 = bins.iter().map(|(_, count)| count).sum();
            assert_eq!(sum, histogram.total(), "{largest}: {bins:?}");
        }
        assert!(bins(&Histogram::default()).is_empty());
        let with_zero: Histogram = [0, 0, 1, 3].into_iter().collect();
        let names: Vec<String> = bins(&with_zero).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["0", "1", "2", "3"]);
    }
}
