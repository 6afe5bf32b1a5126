//! The content of a drawing, without positions: nodes in the order of the sentence, arcs above and
//! below them, multiword tokens around them.

use std::collections::{HashMap, HashSet};

use super::{ArcProbability, Direction, Style, measure};
use crate::{Column, Id, Sentence, Token};

/// A sentence as a picture shows it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene {
    pub(crate) nodes: Vec<Node>,
    /// Number of lines of tags under every node.
    pub(crate) tag_lines: usize,
    /// The tree, or the first of two analyses.
    pub(crate) above: Vec<Arc>,
    /// Enhanced dependencies, or the second analysis.
    pub(crate) below: Vec<Arc>,
    pub(crate) groups: Vec<Group>,
    pub(crate) right_to_left: bool,
    /// A line above the drawing.
    pub(crate) caption: String,
}

/// A word or an empty node.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) id: Id,
    pub(crate) form: String,
    /// Exactly `Scene::tag_lines` tags, with empty text where there is none.
    pub(crate) tags: Vec<Tag>,
}

impl Node {
    pub(crate) fn is_empty_node(&self) -> bool {
        matches!(self.id, Id::Empty(..))
    }

    /// Returns the name of the node in the margin, where an arc to it is cut.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.id, self.form)
    }
}

/// A line of small print under a word.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tag {
    pub(crate) text: String,
    /// True if two analyses disagree here.
    pub(crate) differs: bool,
}

/// An arc from a head (`None` for the root) to a dependent; both are indices in `Scene::nodes`.
#[derive(Clone, Debug)]
pub(crate) struct Arc {
    pub(crate) head: Option<usize>,
    pub(crate) dependent: usize,
    pub(crate) label: String,
    pub(crate) probability: Option<ArcProbability>,
    pub(crate) kind: Kind,
}

/// The kind of an arc, which determines its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    /// Spans a word that does not descend from its head.
    NonProjective,
    /// In both of two analyses.
    Shared,
    /// Only in the first of two analyses.
    First,
    /// Only in the second of two analyses, or only in the enhanced dependencies.
    Second,
}

/// A multiword token, which covers the nodes from first to last.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) first: usize,
    pub(crate) last: usize,
    pub(crate) form: String,
}

impl Scene {
    /// Returns a copy with probabilities as numbers in the labels.
    pub(crate) fn with_numbers(&self) -> Self {
        let mut scene = self.clone();
        for arc in scene.above.iter_mut().chain(&mut scene.below) {
            arc.label = arc.label_with_probability();
        }
        scene
    }

    /// Sets the probabilities of the arcs above the words, by word. Words are numbered from 1.
    pub(crate) fn set_probabilities(
        &mut self,
        probabilities: &[Option<ArcProbability>],
        style: &Style,
    ) {
        let Self { nodes, above, .. } = self;
        for arc in above {
            let word = nodes[arc.dependent].id.word();
            let probability = word.and_then(|word| *probabilities.get(word - 1)?);
            arc.probability = probability.filter(|_| style.probabilities);
        }
    }

    pub(crate) fn of(sentence: &Sentence, style: &Style) -> Self {
        let lines: Vec<Token<'_>> = sentence.tokens().collect();
        let mut scene = Self::with_nodes(&lines, None, style);
        let places = scene.places();
        scene.above = basic_arcs(sentence, &places, style);
        if style.enhanced {
            scene.below = enhanced_arcs(&lines, &places);
            let known: HashSet<_> = scene.above.iter().map(Arc::key).collect();
            mark_shared(&mut scene.below, |arc| known.contains(&arc.key()), Kind::Second);
        }
        scene
    }

    /// Builds the scene of two analyses of the same words, with the arcs of the second below.
    pub(crate) fn of_two(
        first: &Sentence,
        second: &Sentence,
        columns: &[Column],
        style: &Style,
    ) -> Self {
        let is_word = |token: &Token<'_>| token.id().word().is_some();
        // Empty nodes and multiword tokens of the second might not have a place in the first.
        let lines: Vec<Token<'_>> =
            first.tokens().filter(|t| is_word(t) || matches!(t.id(), Id::Multiword(..))).collect();
        let mut scene = Self::with_nodes(&lines, Some((second, columns)), style);
        let places = scene.places();
        scene.above = basic_arcs(first, &places, style);
        scene.below = basic_arcs(second, &places, style);
        let differ = |column| columns.contains(&column);
        let key = |arc: &Arc| {
            let (head, dependent, label) = arc.key();
            let head_counts = differ(Column::Head);
            let label_counts = differ(Column::Deprel);
            (
                head.filter(|_| head_counts),
                dependent,
                if label_counts { label } else { String::new() },
            )
        };
        let above: HashSet<_> = scene.above.iter().map(key).collect();
        let below: HashSet<_> = scene.below.iter().map(key).collect();
        mark_shared(&mut scene.above, |arc| below.contains(&key(arc)), Kind::First);
        mark_shared(&mut scene.below, |arc| above.contains(&key(arc)), Kind::Second);
        scene
    }

    /// Builds the scene of arbitrary arcs, given by numbers of words, with notes below the tags.
    pub(crate) fn of_arcs(
        sentence: &Sentence,
        arcs: &[(usize, usize, &str)],
        notes: &[(usize, &str)],
        style: &Style,
    ) -> Self {
        let lines: Vec<Token<'_>> = sentence.tokens().collect();
        let mut scene = Self::with_nodes(&lines, None, style);
        let places = scene.places();
        let place = |word: usize| places.get(&Id::Word(word)).copied();
        for &(head, dependent, name) in arcs {
            let Some(end) = place(dependent).filter(|_| head != dependent) else { continue };
            let start = match head {
                0 => None,
                _ => match place(head) {
                    None => continue,
                    start => start,
                },
            };
            scene.above.push(Arc {
                head: start,
                dependent: end,
                label: label(name),
                probability: None,
                kind: Kind::Plain,
            });
        }
        if !notes.is_empty() {
            scene.tag_lines += 1;
            for node in &mut scene.nodes {
                node.tags.push(Tag::default());
            }
            for &(word, note) in notes {
                let tag = place(word).and_then(|place| scene.nodes[place].tags.last_mut());
                if let Some(tag) = tag {
                    tag.text = measure::printable(note).into_owned();
                }
            }
        }
        scene
    }

    fn with_nodes(
        lines: &[Token<'_>],
        second: Option<(&Sentence, &[Column])>,
        style: &Style,
    ) -> Self {
        let mut scene = Scene::default();
        let mut groups = Vec::new();
        let mut columns_of_nodes = Vec::new();
        for &token in lines {
            let form = match (token.form(), token.id()) {
                ("_" | "", Id::Empty(..)) => token.id().to_string(),
                (form, _) => measure::printable(form).into_owned(),
            };
            if let Id::Multiword(first, last) = token.id() {
                groups.push((first, last, form));
                continue;
            }
            let other = |column: Column| {
                let (second, _) = second.filter(|(_, columns)| columns.contains(&column))?;
                second.word(token.id().word()?)
            };
            let columns: Vec<Vec<Tag>> =
                style.tags.iter().map(|&column| tags(token, other(column), column)).collect();
            columns_of_nodes.push(columns);
            scene.nodes.push(Node { id: token.id(), form, tags: Vec::new() });
        }
        // A column takes as many lines as its longest entry (each feature takes one line), and none
        // if there are no entries.
        for column in 0..style.tags.len() {
            let said = |tags: &[Tag]| tags.iter().rposition(|tag| !tag.text.is_empty());
            let lines = |tags: &[Tag]| said(tags).map_or(0, |last| last + 1);
            let tallest = columns_of_nodes.iter().map(|columns| lines(&columns[column])).max();
            for (node, columns) in scene.nodes.iter_mut().zip(&mut columns_of_nodes) {
                columns[column].resize_with(tallest.unwrap_or(0), Tag::default);
                node.tags.append(&mut columns[column]);
            }
            scene.tag_lines += tallest.unwrap_or(0);
        }
        let places = scene.places();
        for (first, last, form) in groups {
            if let (Some(&first), Some(&last)) =
                (places.get(&Id::Word(first)), places.get(&Id::Word(last)))
            {
                scene.groups.push(Group { first, last, form });
            }
        }
        scene.right_to_left = match style.direction {
            Direction::LeftToRight => false,
            Direction::RightToLeft => true,
            Direction::Auto => is_right_to_left(&scene.nodes),
        };
        scene
    }

    fn places(&self) -> HashMap<Id, usize> {
        self.nodes.iter().enumerate().map(|(place, node)| (node.id, place)).collect()
    }
}

impl Arc {
    /// Returns the two ends, or `None` for an arc from the root.
    pub(crate) fn span(&self) -> Option<(usize, usize)> {
        let head = self.head?;
        Some((head.min(self.dependent), head.max(self.dependent)))
    }

    /// Returns the label for outputs without interaction: `nsubj .93`.
    pub(crate) fn label_with_probability(&self) -> String {
        let Some(probability) = self.probability else { return self.label.clone() };
        format!("{} {probability}", self.label).trim_start().to_owned()
    }

    /// Arcs with equal keys are the same arc.
    fn key(&self) -> (Option<usize>, usize, String) {
        (self.head, self.dependent, self.label.clone())
    }
}

/// Returns the direction of most words that have one, or of the first such word if there is a tie.
/// A name in another script at the start therefore does not change the direction.
fn is_right_to_left(nodes: &[Node]) -> bool {
    let directions = || nodes.iter().filter_map(|node| measure::right_to_left(&node.form));
    let surplus: i64 = directions().map(|right_to_left| if right_to_left { 1 } else { -1 }).sum();
    if surplus == 0 { directions().next().unwrap_or(false) } else { surplus > 0 }
}

/// Returns the lines of a column of a word, and where another analysis disagrees.
fn tags(token: Token<'_>, other: Option<Token<'_>>, column: Column) -> Vec<Tag> {
    let value = |token: Token<'_>| match token.column(column) {
        "_" => String::new(),
        value => measure::printable(value).into_owned(),
    };
    let mine = value(token);
    let theirs = other.map(value);
    match theirs {
        Some(theirs) if theirs != mine => {
            let or_none = |text: String| if text.is_empty() { "_".to_owned() } else { text };
            let text = format!("{} ≠ {}", or_none(mine), or_none(theirs));
            vec![Tag { text, differs: true }]
        }
        _ if column == Column::Feats => mine
            .split('|')
            .filter(|feature| !feature.is_empty())
            .map(|feature| Tag { text: feature.to_owned(), differs: false })
            .collect(),
        _ => vec![Tag { text: mine, differs: false }],
    }
}

fn basic_arcs(sentence: &Sentence, places: &HashMap<Id, usize>, style: &Style) -> Vec<Arc> {
    let place = |word: usize| places.get(&Id::Word(word)).copied();
    let mut arcs = Vec::with_capacity(sentence.len());
    for token in sentence.words() {
        let (Some(head), Some(dependent)) = (token.head(), token.id().word().and_then(place))
        else {
            continue;
        };
        let head = if head == 0 { None } else { place(head) };
        arcs.push(Arc {
            head,
            dependent,
            label: label(token.deprel()),
            probability: probability(token).filter(|_| style.probabilities),
            kind: Kind::Plain,
        });
    }
    // Heads that are not a tree have no well-defined descendants.
    if let Ok(tree) = sentence.tree() {
        for (_, dependent) in tree.nonprojective_arcs() {
            if let Some(arc) = arcs.get_mut(dependent - 1) {
                arc.kind = Kind::NonProjective;
            }
        }
    }
    arcs
}

/// Returns the arcs of column DEPS, without loops and malformed entries.
fn enhanced_arcs(lines: &[Token<'_>], places: &HashMap<Id, usize>) -> Vec<Arc> {
    let mut arcs = Vec::new();
    for token in lines {
        let Some(&dependent) = places.get(&token.id()) else { continue };
        for (head, name) in token.enhanced().flatten() {
            let head = match head {
                Id::Word(0) => None,
                id => match places.get(&id) {
                    Some(&place) if place != dependent => Some(place),
                    _ => continue,
                },
            };
            arcs.push(Arc {
                head,
                dependent,
                label: label(name),
                probability: None,
                kind: Kind::Plain,
            });
        }
    }
    arcs
}

/// Marks every arc as shared with the other side or not.
fn mark_shared(arcs: &mut [Arc], is_shared: impl Fn(&Arc) -> bool, unshared: Kind) {
    for arc in arcs {
        arc.kind = if is_shared(arc) { Kind::Shared } else { unshared };
    }
}

fn label(name: &str) -> String {
    if name == "_" { String::new() } else { measure::printable(name).into_owned() }
}

/// Returns `HeadProb` and `LabelProb` of MISC, if they are probabilities.
fn probability(token: Token<'_>) -> Option<ArcProbability> {
    let entry = |key: &str| {
        let probability: f64 = token.misc_entry(key)?.parse().ok()?;
        (0.0..=1.0).contains(&probability).then_some(probability)
    };
    Some(ArcProbability { head: entry("HeadProb")?, label: entry("LabelProb") })
}
