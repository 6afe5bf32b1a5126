//! The first finds as a page: each with its tree above the words and what a model would rather have below.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use tutte::audit::Audit;
use tutte_treebank::draw::{Drawing, Style};
use tutte_treebank::{Column, Sentence};

use super::report::{Find, Report, shown};
use crate::report::{HtmlPage, counted, write_whole};
use crate::verbs::draw::figure;

/// Patterns that are listed.
const PATTERNS: usize = 40;

pub(super) fn page(audit: &Audit<'_>, report: &Report, top: usize) -> HtmlPage {
    let mut files: Vec<&str> = report.finds.iter().map(|find| find.file.as_str()).collect();
    files.sort_unstable();
    files.dedup();
    let mut page = HtmlPage::new("Audit", &files.join(", "));
    page.paragraph(
        "Arcs that a model found improbable which had not seen them. A find is a question, not an answer: \
         some are errors of the annotation, others of the model. In drawings the treebank is above the \
         words, and below them the same with the one arc that the model would rather have.",
    );
    page.table(&report.overview());
    if report.finds.is_empty() {
        return page;
    }
    page.heading("What finds have in common");
    page.table(&report.patterns(PATTERNS));
    page.heading("The most suspicious arcs");
    page.table(&report.table(top));
    page.heading("Their trees, by what they have in common");
    let counts = report.counts();
    let mut drawn = false;
    for (pattern, finds) in by_pattern(&report.finds[..top.min(report.finds.len())]) {
        let all = counts.get(pattern).copied().unwrap_or(finds.len());
        page.subheading(&format!("{pattern}, {all}×"));
        for find in finds {
            let first = !std::mem::replace(&mut drawn, true);
            let svg = drawing(&audit.treebank()[find.sentence], find)
                .map(|drawing| figure(&drawing, first))
                .unwrap_or_default();
            page.figure(&svg, &caption(find));
        }
    }
    let more = report.finds.len().saturating_sub(top);
    if more > 0 {
        page.paragraph(&format!(
            "… and {}; --top draws more of them, -o lists them all.",
            counted(more, "find more")
        ));
    }
    page
}

/// The drawings of the first finds as files of a folder, named by their rank.
pub(super) fn pictures(
    audit: &Audit<'_>,
    report: &Report,
    top: usize,
    folder: &Path,
) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for (rank, find) in (1..).zip(report.finds.iter().take(top)) {
        if let Some(drawing) = drawing(&audit.treebank()[find.sentence], find) {
            write_whole(&folder.join(format!("{rank}.svg")), &drawing.svg())?;
        }
    }
    Ok(())
}

/// Finds by their patterns, in the order of the first of each.
fn by_pattern(finds: &[Find]) -> Vec<(&str, Vec<&Find>)> {
    let mut groups: Vec<(&str, Vec<&Find>)> = Vec::new();
    for find in finds {
        match groups.iter_mut().find(|(pattern, _)| *pattern == find.pattern) {
            Some((_, group)) => group.push(find),
            None => groups.push((&find.pattern, vec![find])),
        }
    }
    groups
}

/// The tree, and the tree with the other arc.
fn drawing(sentence: &Sentence, find: &Find) -> Option<Drawing> {
    let mut other = sentence.clone();
    other.set_head(find.word, Some(find.rather_head)).ok()?;
    if find.rather_deprel != "_" {
        other.set_deprel(find.word, &find.rather_deprel).ok()?;
    }
    let columns = [Column::Head, Column::Deprel];
    // What earlier programs thought of other arcs does not belong here.
    let style = Style { probabilities: false, ..Style::default() };
    Some(Drawing::of_two(sentence, &other, &columns, &style))
}

fn caption(find: &Find) -> String {
    format!(
        "{}, {}:{}, word {} {}: {} has probability {}, {} has {}.",
        find.sent_id,
        find.file,
        find.line,
        find.word,
        find.form,
        find.arc(),
        shown(find.prob),
        find.rather(),
        shown(find.rather_prob),
    )
}
