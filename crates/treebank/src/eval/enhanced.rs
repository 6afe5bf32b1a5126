//! ELAS and EULAS: scores of the arcs of enhanced graphs.
//!
//! An enhanced graph (column DEPS) may have empty nodes, which have no place in the text and cannot
//! be aligned. They are collapsed first: every path from a word (or the root) over empty nodes to a
//! word becomes one arc, whose label is the path of labels.
//!
//! ```text
//!  3 ──conj──▶ 5.1 ──nsubj──▶ 6      becomes      3 ──conj>nsubj──▶ 6
//! ```
//!
//! An arc is correct if its word is aligned and the aligned word has an equal arc. Two arcs are
//! equal if their heads are aligned, or both are the root, and their paths are equal. ELAS compares
//! the labels of a path as they are, EULAS without subtypes. Precision, recall and F1 are over arcs.
//!
//! The steps are those of the IWPT 2020 and 2021 shared tasks, whose programs are kept in the tools
//! of Universal Dependencies. This includes behaviour that only unusual graphs show. Paths over a
//! cycle of empty nodes are those that their program finds. For EULAS, a gold arc is counted once
//! for each equal arc of the system. For example, a word with both `2:nsubj` and `2:nsubj:xsubj`
//! has two arcs, but four equal pairs, so EULAS may exceed 1.
//!
//! Cost: linear in the arcs; in graphs with empty nodes also in the paths over them.
//!
//! - G. Bouma, D. Seddah, D. Zeman (2020). Overview of the IWPT 2020 shared task on parsing into
//!   enhanced Universal Dependencies.

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::iter;

use super::{Alignment, Score, Subtypes, WordRef};
use crate::{Error, Id, Sentence};

/// An arc to a word, with empty nodes collapsed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arc<'a> {
    /// Number of the head, 0 for the root.
    pub head: usize,
    /// The labels on the path from the head, separated by `>`. There are several only if the path
    /// has empty nodes.
    pub path: Cow<'a, str>,
}

/// Computes ELAS and EULAS. Returns `None` if one of the sides has no enhanced dependencies.
///
/// # Errors
/// The errors of [`collapse`].
pub fn scores(alignment: &Alignment<'_>) -> Result<Option<(Score, Score)>, Error> {
    let graphs =
        |sentences| <[Sentence]>::iter(sentences).map(collapse).collect::<Result<Vec<_>, _>>();
    let gold = graphs(alignment.gold())?;
    let system = graphs(alignment.system())?;
    let arcs = |graphs: &[Vec<Vec<Arc<'_>>>]| graphs.iter().flatten().map(Vec::len).sum();
    let all = Score { gold: arcs(&gold), system: arcs(&system), correct: 0, aligned: None };
    if all.gold == 0 || all.system == 0 {
        return Ok(None);
    }
    let mut elas = all;
    let mut eulas = all;
    for pair in alignment.pairs() {
        let (g, s) = (pair.gold, pair.system);
        let same_head = |gold_head, system_head| {
            let aligned = alignment.gold_of(WordRef { word: system_head, ..s });
            (gold_head == 0 && system_head == 0)
                || aligned.is_some_and(|word| word == WordRef { word: gold_head, ..g })
        };
        for gold_arc in &gold[g.sentence][g.word - 1] {
            for system_arc in &system[s.sentence][s.word - 1] {
                if same_head(gold_arc.head, system_arc.head) {
                    let (a, b) = (&*gold_arc.path, &*system_arc.path);
                    elas.correct += usize::from(a == b);
                    eulas.correct += usize::from(a == b || universal(a).eq(universal(b)));
                }
            }
        }
    }
    Ok(Some((elas, eulas)))
}

/// Returns the labels of a path, without subtypes.
fn universal(path: &str) -> impl Iterator<Item = &str> {
    path.split('>').map(|label| Subtypes::Ignore.compared(label))
}

/// Returns the enhanced arcs of a sentence, with empty nodes collapsed and without duplicates.
/// `arcs[0]` are the arcs to word 1.
///
/// ```
/// use tutte_treebank::{Sentence, eval::enhanced::collapse};
///
/// let sentence: Sentence = "\
/// 1\tTea\ttea\tNOUN\t_\t_\t0\troot\t0:root\t_
/// 2\tand\tand\tCCONJ\t_\t_\t3\tcc\t2.1:cc\t_
/// 2.1\tthen\tthen\tADV\t_\t_\t_\t_\t1:conj:and\t_
/// 3\tcake\tcake\tNOUN\t_\t_\t1\tconj\t1:conj:and|2.1:orphan\t_
///
/// ".parse()?;
/// let arcs = collapse(&sentence)?;
/// assert_eq!((arcs[1][0].head, &*arcs[1][0].path), (1, "conj:and>cc"));
/// let paths: Vec<_> = arcs[2].iter().map(|arc| &*arc.path).collect();
/// assert_eq!(paths, ["conj:and", "conj:and>orphan"]);
/// # Ok::<(), tutte_treebank::Error>(())
/// ```
///
/// # Errors
/// [`Error::Malformed`] for a column DEPS that cannot be read, [`Error::TooManyPaths`] if there are
/// too many paths over empty nodes.
pub fn collapse(sentence: &Sentence) -> Result<Vec<Vec<Arc<'_>>>, Error> {
    let mut arcs: Vec<Vec<Arc<'_>>> = vec![Vec::new(); sentence.len()];
    let mut over_empty_nodes = Vec::new();
    for token in sentence.tokens() {
        for dependency in token.enhanced() {
            match (token.id(), dependency?) {
                (Id::Word(word), (Id::Word(head), label)) => {
                    add(&mut arcs[word - 1], Arc { head, path: Cow::Borrowed(label) });
                }
                (child, (head, label)) => {
                    over_empty_nodes.push(Path { nodes: vec![head, child], labels: vec![label] });
                }
            }
        }
    }
    if !over_empty_nodes.is_empty() {
        let paths = join(over_empty_nodes)
            .ok_or_else(|| Error::TooManyPaths { place: Box::new(sentence.place()) })?;
        for path in paths {
            if let (Id::Word(head), Id::Word(word)) = (path.head(), path.child()) {
                let path = Cow::Owned(path.labels.join(">"));
                add(&mut arcs[word - 1], Arc { head, path });
            }
        }
    }
    Ok(arcs)
}

/// Adds an arc unless it is already there.
fn add<'a>(arcs: &mut Vec<Arc<'a>>, arc: Arc<'a>) {
    if !arcs.contains(&arc) {
        arcs.push(arc);
    }
}

/// A path with empty nodes inside or at an end. `labels[i]` is the label of the arc from `nodes[i]`
/// to `nodes[i + 1]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Path<'a> {
    nodes: Vec<Id>,
    labels: Vec<&'a str>,
}

impl<'a> Path<'a> {
    fn head(&self) -> Id {
        self.nodes[0]
    }

    fn child(&self) -> Id {
        self.nodes[self.nodes.len() - 1]
    }

    /// Concatenates this path and another one, which starts where this one ends.
    fn then(&self, other: &Path<'a>) -> Path<'a> {
        Path {
            nodes: [&self.nodes, &other.nodes[1..]].concat(),
            labels: [&self.labels[..], &other.labels].concat(),
        }
    }

    /// True if a node occurs twice.
    fn has_cycle(&self) -> bool {
        let nodes = iter::zip(1.., &self.nodes);
        nodes.into_iter().any(|(next, node)| self.nodes[next..].contains(node))
    }
}

/// Maximum number of paths. More paths indicate an error in the annotation.
const MAX_PATHS: usize = 20_000;

/// Returns all paths between words that can be joined from arcs to and from empty nodes, or `None`
/// if there are too many.
///
/// Paths that start at an empty node are taken from a queue and joined with all known paths that
/// end there. A joined path that starts and ends at words is a result. Other paths are used for
/// longer paths, unless a node occurs twice in them.
fn join(arcs: Vec<Path<'_>>) -> Option<Vec<Path<'_>>> {
    let is_empty = |node: Id| matches!(node, Id::Empty(..));
    let mut queue: VecDeque<_> = arcs.iter().filter(|p| is_empty(p.head())).cloned().collect();
    let mut into_empty: Vec<_> = arcs.iter().filter(|p| is_empty(p.child())).cloned().collect();
    let mut known: HashSet<_> = arcs.into_iter().collect();
    let mut results = Vec::new();
    while let Some(tail) = queue.pop_front() {
        for number in 0..into_empty.len() {
            if into_empty[number].child() != tail.head() {
                continue;
            }
            let path = into_empty[number].then(&tail);
            let from_empty = is_empty(path.head());
            let to_empty = is_empty(path.child());
            if !from_empty && !to_empty {
                results.push(path);
            } else if !path.has_cycle() && known.insert(path.clone()) {
                if to_empty {
                    into_empty.push(path.clone());
                }
                if from_empty {
                    queue.push_back(path);
                }
            }
            if results.len() + known.len() > MAX_PATHS {
                return None;
            }
        }
    }
    Some(results)
}
