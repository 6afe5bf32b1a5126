//! The factor graph of one sentence: its variables, and the factors that connect them.

use super::algebra::{Algebra, bounded, share};
use super::child_sequence::ChildSequences;
use super::count::Counts;
use super::family::Family;
use super::label::Labels;
use super::messages::Messages;
use super::no_crossing::NoCrossings;
use super::pair::Pairs;
use super::tag_link::TagLinks;
use super::trigram::Trigrams;
use crate::matrix::{cells, check_arc, is_score};
use crate::{ArcMatrix, Error, TreeSet, Workspace, argmax_with};

/// No variable: the arc is forbidden.
pub(super) const NONE: u32 = u32::MAX;

/// The families, in the order in which a serial iteration visits them. TREE comes after all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    Trigram,
    TagLink,
    Label,
    Count,
    Pair,
    ChildSequence,
    NoCrossing,
}

/// Number of families beside TREE.
pub(super) const FAMILIES: usize = 7;

/// The tag variables: one for each word, all with the same tags.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tags {
    /// First cell; word m has the cells from `start + (m−1)·count`.
    pub(super) start: usize,
    /// Number of tags.
    pub(super) count: usize,
}

impl Tags {
    /// The cells of each word's tags.
    pub(super) fn variables(self, words: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
        let first = move |word: usize| self.start + word * self.count;
        (0..words).map(move |word| first(word)..first(word + 1))
    }
}

/// Names one factor of a [`FactorGraph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FactorId {
    pub(super) kind: Kind,
    pub(super) index: u32,
}

/// A distribution over trees with any number of factors that look at several arcs.
///
/// ```text
/// p(y) ∝ [y is a tree of the set] · exp( Σ_{e∈y} θ_e + Σ_F log F(y) )
/// ```
///
/// There is one variable for each arc that is not forbidden. All arcs together are tied by one global
/// factor, TREE or PTREE by the [`TreeSet`]. Further factors are added by the `add_…` methods, in any
/// order and number. [`run`](Self::run) computes approximate marginals by belief propagation.
///
/// Log-weights are in nats. A log-weight of −∞ forbids what the factor describes.
#[derive(Clone, Debug)]
pub struct FactorGraph {
    pub(super) tree_set: TreeSet,
    pub(super) words: usize,
    /// Head and modifier of each arc variable, by modifier and then head. Arc variables are cells 0….
    pub(super) arcs: Vec<(u32, u32)>,
    /// Start of each modifier's arcs, then their number; entry 0 is word 1's.
    pub(super) columns: Vec<u32>,
    /// Start of each head's arcs in `by_head`, then their number; entry 0 is the root's.
    rows: Vec<u32>,
    /// The cells of all arcs, by head and then modifier.
    by_head: Vec<u32>,
    /// The cell of an arc at head·(n+1) + modifier, or [`NONE`].
    cell_at: Vec<u32>,
    /// Score of each cell.
    pub(super) scores: Vec<f64>,
    /// First cell of each arc's labels, and their number.
    pub(super) labels_of: Vec<(u32, u32)>,
    /// Label of each cell after those of the arcs; [`NONE`] for tags.
    pub(super) label_at: Vec<u32>,
    pub(super) tags: Option<Tags>,
    pub(super) has_tree_factor: bool,
    pub(super) trigrams: Trigrams,
    pub(super) tag_links: TagLinks,
    pub(super) labels: Labels,
    pub(super) counts: Counts,
    pub(super) pairs: Pairs,
    pub(super) child_sequences: ChildSequences,
    pub(super) no_crossings: NoCrossings,
}

impl FactorGraph {
    /// Makes the graph of a sentence with these arc scores (LINK) and no factor but TREE.
    ///
    /// # Errors
    /// [`Error::BadScore`] naming the arc that is NaN, +∞ or beyond 1e300; [`Error::NoTree`] naming the
    /// words that cannot be attached.
    pub fn new(scores: &ArcMatrix, tree_set: TreeSet) -> Result<Self, Error> {
        let mut graph = Self::empty(tree_set);
        graph.reset(scores, tree_set, &mut Workspace::default(), &mut Vec::new())?;
        Ok(graph)
    }

    fn empty(tree_set: TreeSet) -> Self {
        Self {
            tree_set,
            words: 0,
            arcs: Vec::new(),
            columns: vec![0],
            rows: vec![0, 0],
            by_head: Vec::new(),
            cell_at: Vec::new(),
            scores: Vec::new(),
            labels_of: Vec::new(),
            label_at: Vec::new(),
            tags: None,
            has_tree_factor: true,
            trigrams: Trigrams::default(),
            tag_links: TagLinks::default(),
            labels: Labels::default(),
            counts: Counts::default(),
            pairs: Pairs::default(),
            child_sequences: ChildSequences::default(),
            no_crossings: NoCrossings::default(),
        }
    }

    /// Makes this the graph of another sentence, without factors, and keeps the memory. Writes the heads
    /// of the best arc-factored tree into `best`.
    ///
    /// # Errors
    /// As [`new`](Self::new). The graph is then unchanged.
    pub fn reset(
        &mut self,
        scores: &ArcMatrix,
        tree_set: TreeSet,
        workspace: &mut Workspace,
        best: &mut Vec<usize>,
    ) -> Result<(), Error> {
        argmax_with(scores, tree_set, workspace, best)?;
        let words = scores.words();
        let side = words + 1;
        if u32::try_from(cells(words)).is_err() {
            return Err(too_many("words of a sentence with factors", words));
        }
        self.tree_set = tree_set;
        self.words = words;
        self.clear_factors();
        self.arcs.clear();
        self.scores.clear();
        self.columns.clear();
        self.columns.push(0);
        self.cell_at.clear();
        self.cell_at.resize(cells(words), NONE);
        for modifier in 1..=words {
            for head in (0..=words).filter(|&head| head != modifier) {
                let score = scores[(head, modifier)];
                if score > f64::NEG_INFINITY {
                    self.cell_at[head * side + modifier] = self.arcs.len() as u32;
                    self.arcs.push((head as u32, modifier as u32));
                    self.scores.push(score);
                }
            }
            self.columns.push(self.arcs.len() as u32);
        }
        self.rows.clear();
        self.rows.push(0);
        self.by_head.clear();
        for row in self.cell_at.chunks_exact(side) {
            self.by_head.extend(row.iter().filter(|&&cell| cell != NONE));
            self.rows.push(self.by_head.len() as u32);
        }
        self.labels_of.resize(self.arcs.len(), (0, 0));
        Ok(())
    }

    fn clear_factors(&mut self) {
        self.labels_of.clear();
        self.label_at.clear();
        self.tags = None;
        self.has_tree_factor = true;
        self.trigrams.clear();
        self.tag_links.clear();
        self.labels.clear();
        self.counts.clear();
        self.pairs.clear();
        self.child_sequences.clear();
        self.no_crossings.clear();
    }

    /// The number of words.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The set of trees that TREE allows.
    pub fn tree_set(&self) -> TreeSet {
        self.tree_set
    }

    /// The arcs that are variables, by modifier and then head.
    pub fn arcs(&self) -> impl ExactSizeIterator<Item = (usize, usize)> + '_ {
        self.arcs.iter().map(|&(head, modifier)| (head as usize, modifier as usize))
    }

    /// True if an arc is a variable: it exists and is not forbidden.
    pub fn has_arc(&self, head: usize, modifier: usize) -> bool {
        self.find(head, modifier).is_some()
    }

    /// Heads that a word may take, in increasing order. None if there is no such word.
    pub fn heads_of(&self, modifier: usize) -> impl Iterator<Item = usize> + '_ {
        self.column(modifier).map(|cell| self.arcs[cell].0 as usize)
    }

    /// Words that a head may take as modifiers, in increasing order.
    pub fn modifiers_of(&self, head: usize) -> impl Iterator<Item = usize> + '_ {
        self.row(head).iter().map(|&cell| self.arcs[cell as usize].1 as usize)
    }

    /// Replaces the score of an arc.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`], [`Error::FactorOnForbiddenArc`]; [`Error::BadScore`] unless the score is a
    /// number.
    pub fn set_score(&mut self, head: usize, modifier: usize, score: f64) -> Result<(), Error> {
        let cell = self.cell("LINK", (head, modifier))?;
        if !is_score(score) || score == f64::NEG_INFINITY {
            return Err(Error::BadScore { head, modifier, label: None, value: score });
        }
        self.scores[cell as usize] = score;
        Ok(())
    }

    /// Adds or removes TREE. Without it, other factors have to keep the arcs together, as in the weaker
    /// models of the paper (NOT2, ATMOST1, EXACTLY1, NO2CYCLE). Decoders still return trees.
    pub fn set_tree_factor(&mut self, is_present: bool) {
        self.has_tree_factor = is_present;
    }

    /// All factors but TREE, family by family and in the order in which they were added.
    pub fn factors(&self) -> impl Iterator<Item = FactorId> + '_ {
        let counts = [
            (Kind::Trigram, self.trigrams.len()),
            (Kind::TagLink, self.tag_links.len()),
            (Kind::Label, self.labels.len()),
            (Kind::Count, self.counts.len()),
            (Kind::Pair, self.pairs.weights().len()),
            (Kind::ChildSequence, self.child_sequences.len()),
            (Kind::NoCrossing, self.no_crossings.weights().len()),
        ];
        let id = |kind, index: usize| FactorId { kind, index: index as u32 };
        counts.into_iter().flat_map(move |(kind, count)| (0..count).map(move |at| id(kind, at)))
    }

    /// Number of log-weights of all factors.
    pub fn weight_count(&self) -> usize {
        self.families().iter().map(|family| family.weights().len()).sum()
    }

    /// Places of a factor's log-weights among those of all factors, as in
    /// [`Gradient::weights`](super::Gradient::weights). They change when factors are added.
    ///
    /// # Panics
    /// If the factor is of another graph.
    pub fn weight_range(&self, factor: FactorId) -> std::ops::Range<usize> {
        let before: usize = self.families()[..factor.kind as usize]
            .iter()
            .map(|family| family.weights().len())
            .sum();
        let own = self.own_weights(factor);
        before + own.start..before + own.end
    }

    /// The log-weights of a factor.
    ///
    /// # Panics
    /// If the factor is of another graph.
    pub fn weights(&self, factor: FactorId) -> &[f64] {
        &self.families()[factor.kind as usize].weights()[self.own_weights(factor)]
    }

    /// Replaces the log-weights of a factor.
    ///
    /// # Errors
    /// [`Error::BadFactorWeight`] if one is NaN, +∞ or beyond 1e300; [`Error::Shape`] if their number is
    /// another.
    ///
    /// # Panics
    /// If the factor is of another graph.
    pub fn set_weights(&mut self, factor: FactorId, log_weights: &[f64]) -> Result<(), Error> {
        let range = self.own_weights(factor);
        if range.len() != log_weights.len() {
            return Err(Error::Shape {
                expected: format!("{} log-weights of this factor", range.len()),
                found: format!("{}", log_weights.len()),
            });
        }
        log_weights.iter().try_for_each(|&weight| check_weight("set_weights", weight))?;
        let weights = match factor.kind {
            Kind::Trigram => self.trigrams.weights_mut(),
            Kind::TagLink => self.tag_links.weights_mut(),
            Kind::Label => &mut [],
            Kind::Count => self.counts.weights_mut(),
            Kind::Pair => self.pairs.weights_mut(),
            Kind::ChildSequence => self.child_sequences.weights_mut(),
            Kind::NoCrossing => self.no_crossings.weights_mut(),
        };
        weights[range].copy_from_slice(log_weights);
        Ok(())
    }

    fn own_weights(&self, factor: FactorId) -> std::ops::Range<usize> {
        let index = factor.index as usize;
        match factor.kind {
            Kind::Trigram => self.trigrams.weight_range(index),
            Kind::TagLink => self.tag_links.weight_range(index),
            Kind::Label => 0..0,
            Kind::Count => self.counts.weight_range(index),
            Kind::Pair | Kind::NoCrossing => index..index + 1,
            Kind::ChildSequence => self.child_sequences.weight_range(index),
        }
    }

    /// All families but TREE, in the order of [`Kind`].
    pub(super) fn families(&self) -> [&dyn Family; FAMILIES] {
        [
            &self.trigrams,
            &self.tag_links,
            &self.labels,
            &self.counts,
            &self.pairs,
            &self.child_sequences,
            &self.no_crossings,
        ]
    }

    /// The cells of the arcs into a word.
    pub(super) fn column(&self, modifier: usize) -> std::ops::Range<usize> {
        match modifier {
            0 => 0..0,
            _ if modifier > self.words => 0..0,
            _ => self.columns[modifier - 1] as usize..self.columns[modifier] as usize,
        }
    }

    /// The cells of the arcs from a head, by modifier.
    pub(super) fn row(&self, head: usize) -> &[u32] {
        if head > self.words {
            return &[];
        }
        &self.by_head[self.rows[head] as usize..self.rows[head + 1] as usize]
    }

    pub(super) fn find(&self, head: usize, modifier: usize) -> Option<u32> {
        check_arc(self.words, head, modifier).ok()?;
        let cell = self.cell_at[head * (self.words + 1) + modifier];
        (cell != NONE).then_some(cell)
    }

    /// Returns the cell of an arc that a factor refers to.
    pub(super) fn cell(
        &self,
        factor: &'static str,
        (head, modifier): (usize, usize),
    ) -> Result<u32, Error> {
        check_arc(self.words, head, modifier)?;
        self.find(head, modifier).ok_or(Error::FactorOnForbiddenArc { factor, head, modifier })
    }

    pub(super) fn arc(&self, cell: usize) -> (usize, usize) {
        let (head, modifier) = self.arcs[cell];
        (head as usize, modifier as usize)
    }

    /// The probabilities of the four assignments of a pair: neither, second, first, both.
    pub(super) fn pair_joint(&self, messages: &Messages, factor: FactorId) -> Option<[f64; 4]> {
        if factor.kind != Kind::Pair {
            return None;
        }
        let slot = 2 * factor.index as usize;
        let cells = &self.pairs.cells()[slot..slot + 2];
        let offset = messages.offsets[Kind::Pair as usize] + slot;
        let algebra = messages.algebra;
        let [first, second] = [0, 1].map(|side| {
            let total = messages.total[cells[side] as usize];
            algebra.cooled(bounded(total - messages.to_cells[offset + side]))
        });
        let weight = algebra.cooled(self.pairs.weights()[factor.index as usize]);
        let terms = [0.0, second, first, weight + first + second];
        let log_z = Algebra::PLAIN.sum_of(4, |term| terms[term]);
        Some(terms.map(|term| share(term, log_z)))
    }
}

/// Checks that slots can be numbered by 32 bits.
pub(super) fn check_size(slots: usize) -> Result<(), Error> {
    if slots < NONE as usize { Ok(()) } else { Err(too_many("slots of factors", slots)) }
}

pub(super) fn too_many(what: &'static str, found: usize) -> Error {
    Error::BadParameter { what, expected: "fewer than 2³² in all", found: found.to_string() }
}

/// Checks a log-weight: a number, or −∞ to forbid.
pub(super) fn check_weight(factor: &'static str, value: f64) -> Result<(), Error> {
    if is_score(value) { Ok(()) } else { Err(Error::BadFactorWeight { factor, value }) }
}
