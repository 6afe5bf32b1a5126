//! Statistics as an HTML page.

use tutte_treebank::stats::{Histogram, Share, Summary};

use super::{Document, bins, by_file, decimal, number, overview, percent};
use crate::report::chart::{self, Bar};
use crate::report::{Align, HtmlPage, Table};

/// Number of rows of a long table; JSON has all.
const MOST: usize = 60;

pub(super) fn page(document: &Document) -> HtmlPage {
    let names: Vec<&str> = document.files.iter().map(|file| file.name.as_str()).collect();
    let total = &document.total;
    let mut page = HtmlPage::new("Treebank statistics", &names.join(", "));
    if let Some(files) = by_file(document) {
        page.table(&files);
        page.paragraph("np: non-projective; roots: sentences with several roots.");
    }
    page.table(&overview(document));
    if document.files.len() > 1 {
        page.paragraph("Charts and tables below are of all files together.");
    }

    page.heading("Lengths");
    page.side_by_side(|page| {
        page.figure(
            &histogram(&total.lengths, "words per sentence", "sentences"),
            "Words per sentence.",
        );
        if total.trees.arcs > 0 {
            let lengths = total.trees.arc_lengths.bins();
            let lengths = lengths.map(|(name, count)| (name.to_owned(), count));
            let svg = chart::bars(&with_shares(&lengths, "arcs"), "length", "arcs");
            page.figure(&svg, "Distance of head and modifier.");
        }
    });

    if total.trees.trees > 0 {
        trees(&mut page, total);
    }

    page.heading("Labels and tags");
    page.side_by_side(|page| {
        let labels = total.deprels.iter().map(|l| (l.value.as_str(), l.count, l.share));
        page.figure(&ranking(labels), "Labels, % of words.");
        let tags = total.upos.iter().map(|t| (t.value.as_str(), t.count, t.share));
        page.figure(&ranking(tags), "Tags (UPOS), % of words.");
    });
    page.heading("All values");
    page.side_by_side(|page| {
        let mut list = |title: &str, table: &Table, all: usize| {
            page.block(|page| {
                page.subheading(title);
                page.table(table);
                if all > MOST {
                    page.paragraph(&format!("… and {} more; --json has them all.", all - MOST));
                }
            });
        };
        list("Labels", &labels(total), total.deprels.len());
        if !total.tag_pairs.is_empty() {
            list("Pairs of tags", &pairs(total), total.tag_pairs.len());
        }
        if !total.xpos.is_empty() {
            list("Tags (XPOS)", &shares("XPOS", &total.xpos), total.xpos.len());
        }
        if !total.features.is_empty() {
            list("Features", &shares("feature", &total.features), total.features.len());
        }
    });
    page
}

fn trees(page: &mut HtmlPage, total: &Summary) {
    let trees = &total.trees;
    page.heading("Trees");
    let length = &trees.dependency_length;
    page.paragraph(&format!(
        "{} of {} sentences ({} %) have a non-projective arc, {} of {} arcs ({} %) are one. \
         The mean length of an arc is {} words. With the words of every sentence shuffled it is {}, and {} if the \
         trees stay projective.",
        number(trees.nonprojective_trees),
        number(trees.trees),
        percent(trees.nonprojective_tree_share, 1),
        number(trees.nonprojective_arcs),
        number(trees.arcs),
        percent(trees.nonprojective_arc_share, 2),
        decimal(length.mean, 2),
        decimal(length.random, 2),
        decimal(length.random_projective, 2),
    ));
    page.side_by_side(|page| {
        let depth = "arcs from the root to the deepest word";
        page.figure(&histogram(&trees.depths, depth, "sentences"), "Depth of trees.");
        page.figure(
            &histogram(&trees.branching.children, "children", "words"),
            "Children per word.",
        );
        page.figure(&histogram(&trees.gap_degrees, "gap degree", "sentences"), "Gap degree.");
        let branching = &trees.branching;
        let sides = [
            ("none".to_owned(), branching.leaves),
            ("left".to_owned(), branching.left_only),
            ("right".to_owned(), branching.right_only),
            ("both".to_owned(), branching.both_sides),
        ];
        let svg = chart::bars(&with_shares(&sides, "words"), "side of the children", "words");
        page.figure(&svg, "Side of the children of words.");
    });
}

fn histogram(histogram: &Histogram, x_name: &str, y_name: &str) -> String {
    chart::bars(&with_shares(&bins(histogram), y_name), x_name, y_name)
}

fn with_shares(bins: &[(String, u64)], unit: &str) -> Vec<Bar> {
    let total: u64 = bins.iter().map(|(_, count)| count).sum();
    let bar = |(name, count): &(String, u64)| Bar {
        label: name.clone(),
        value: *count as f64,
        hover: format!(
            "{name}: {} {unit} ({:.1} %)",
            number(*count),
            100.0 * *count as f64 / total.max(1) as f64
        ),
    };
    bins.iter().map(bar).collect()
}

fn ranking<'a>(values: impl Iterator<Item = (&'a str, u64, f64)>) -> String {
    let bar = |(value, _, share): (&str, u64, f64)| Bar {
        label: value.to_owned(),
        value: share,
        hover: percent(Some(share), 1),
    };
    chart::ranking(&values.take(20).map(bar).collect::<Vec<_>>())
}

fn labels(total: &Summary) -> Table {
    let mut table = Table::new([
        ("DEPREL", Align::Left),
        ("words", Align::Right),
        ("%", Align::Right),
        ("head first, %", Align::Right),
        ("repeated, %", Align::Right),
    ]);
    for label in total.deprels.iter().take(MOST) {
        table.row([
            label.value.clone(),
            number(label.count),
            percent(Some(label.share), 2),
            percent(label.head_initial_share, 1),
            percent(label.repeating_share(), 1),
        ]);
    }
    table
}

fn shares(name: &str, shares: &[Share]) -> Table {
    let mut table = Table::new([(name, Align::Left), ("words", Align::Right), ("%", Align::Right)]);
    for share in shares.iter().take(MOST) {
        table.row([share.value.clone(), number(share.count), percent(Some(share.share), 2)]);
    }
    table
}

fn pairs(total: &Summary) -> Table {
    let mut table = Table::new([
        ("head", Align::Left),
        ("modifier", Align::Left),
        ("arcs", Align::Right),
        ("head first, %", Align::Right),
    ]);
    for pair in total.tag_pairs.iter().take(MOST) {
        table.row([
            pair.head.clone(),
            pair.modifier.clone(),
            number(pair.count),
            percent(Some(pair.head_initial_share), 1),
        ]);
    }
    table
}
