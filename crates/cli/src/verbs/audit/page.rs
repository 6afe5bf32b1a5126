//! The first finds as a page: each with its tree above the words and the preferred arc below.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use tutte::audit::Audit;
use tutte_treebank::draw::{Drawing, Style};
use tutte_treebank::{Column, Sentence};

use super::report::{AuditReport, Find, shown};
use crate::report::{HtmlPage, counted, write_whole};
use crate::verbs::draw::figure;

/// Number of patterns that are listed.
const PATTERNS: usize = 40;

pub(super) fn page(audit: &Audit<'_>, report: &AuditReport, top: usize) -> HtmlPage {
    let mut files: Vec<&str> = report.finds.iter().map(|find| find.file.as_str()).collect();
    files.sort_unstable();
    files.dedup();
    let mut page = HtmlPage::new("Audit", &files.join(", "));
    page.paragraph(
        "Arcs that a model finds improbable. It was not trained on their sentences. A find is not always an \
         annotation error: some are errors of the model. In drawings, the tree of the treebank is above the words, and \
         the same tree with the preferred arc is below.",
    );
    page.table(&report.overview());
    if report.finds.is_empty() {
        return page;
    }
    page.heading("Patterns of finds");
    page.table(&report.patterns(PATTERNS));
    page.heading("The most suspicious arcs");
    page.table(&report.table(top));
    page.heading("Their trees, by pattern");
    let counts = report.counts();
    let mut drawn = false;
    for (pattern, finds) in by_pattern(&report.finds[..top.min(report.finds.len())]) {
        let all = counts.get(pattern).copied().unwrap_or(finds.len());
        page.subheading(&format!("{pattern}, {all}×"));
        for find in finds {
            let is_first = !std::mem::replace(&mut drawn, true);
            let svg = drawing(&audit.treebank()[find.sentence], find)
                .map(|drawing| figure(&drawing, is_first))
                .unwrap_or_default();
            page.figure(&svg, &caption(find));
        }
    }
    let more = report.finds.len().saturating_sub(top);
    if more > 0 {
        page.paragraph(&format!(
            "… and {}; draw more with --top N, list all with -o FILE.",
            counted(more, "more find")
        ));
    }
    page
}

/// Writes the drawings of the first finds into a folder, named by rank.
pub(super) fn pictures(
    audit: &Audit<'_>,
    report: &AuditReport,
    top: usize,
    folder: &Path,
) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for (rank, find) in (1..).zip(report.finds.iter().take(top)) {
        if let Some(drawing) = drawing(&audit.treebank()[find.sentence], find) {
            write_whole(&folder.join(format!("{rank}.svg")), drawing.svg())?;
        }
    }
    Ok(())
}

/// Groups finds by pattern, in the order of the first find of each.
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

/// Draws the tree, and below it the tree with the preferred arc.
fn drawing(sentence: &Sentence, find: &Find) -> Option<Drawing> {
    let mut other = sentence.clone();
    other.set_head(find.word, Some(find.rather_head)).ok()?;
    if find.rather_deprel != "_" {
        other.set_deprel(find.word, &find.rather_deprel).ok()?;
    }
    let columns = [Column::Head, Column::Deprel];
    // Probabilities in the file are of other programs.
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
