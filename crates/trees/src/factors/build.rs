//! The methods that add factors, family by family.

use super::algebra::FORCED;
use super::count::Rule;
use super::family::Family;
use super::graph::{FactorGraph, FactorId, Kind, NONE, Tags, check_size, check_weight, too_many};
use super::no_crossing::crosses;
use crate::Error;
use crate::matrix::is_number;

/// The cost of several modifiers with the same label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// At most one.
    Hard,
    /// This log-weight once, if there are two or more.
    Once(f64),
    /// This log-weight for each beyond the first.
    PerExtra(f64),
}

impl FactorGraph {
    /// Adds PAIR: `log_weight` joins the score of a tree that has both arcs.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`]; [`Error::FactorOnForbiddenArc`]; [`Error::BadFactorWeight`] if the weight
    /// is NaN, +∞ or beyond 1e300; [`Error::BadParameter`] if both arcs are the same.
    pub fn add_pair(
        &mut self,
        first: (usize, usize),
        second: (usize, usize),
        log_weight: f64,
    ) -> Result<FactorId, Error> {
        self.push_pair("PAIR", first, second, log_weight)
    }

    /// Adds GRAND: a word, its head and its grandparent, in the order from the top.
    ///
    /// # Errors
    /// As [`add_pair`](Self::add_pair); the grandparent and the word must differ.
    pub fn add_grandparent(
        &mut self,
        grandparent: usize,
        head: usize,
        modifier: usize,
        log_weight: f64,
    ) -> Result<FactorId, Error> {
        if grandparent == modifier {
            return Err(Error::BadParameter {
                what: "the grandparent of a GRAND factor",
                expected: "another word than the modifier",
                found: grandparent.to_string(),
            });
        }
        self.push_pair("GRAND", (grandparent, head), (head, modifier), log_weight)
    }

    /// Adds SIB: two words with the same head, adjacent siblings or not.
    ///
    /// # Errors
    /// As [`add_pair`](Self::add_pair).
    pub fn add_sibling(
        &mut self,
        head: usize,
        first: usize,
        second: usize,
        log_weight: f64,
    ) -> Result<FactorId, Error> {
        self.push_pair("SIB", (head, first), (head, second), log_weight)
    }

    /// Adds GRAND for every pair of arcs g → h → m that are not forbidden, with g ≠ m.
    ///
    /// Takes time for the pairs that exist, not n³.
    ///
    /// # Errors
    /// As [`add_pair`](Self::add_pair), for the weights.
    pub fn add_grandparents(
        &mut self,
        mut log_weight: impl FnMut(usize, usize, usize) -> f64,
    ) -> Result<(), Error> {
        let before = self.pairs.len();
        for lower in 0..self.arcs.len() {
            let (head, modifier) = self.arc(lower);
            for upper in self.column(head) {
                let (grandparent, _) = self.arc(upper);
                if grandparent != modifier {
                    let weight = log_weight(grandparent, head, modifier);
                    self.check_or_undo("GRAND", weight, before)?;
                    self.pairs.push(upper as u32, lower as u32, weight);
                }
            }
        }
        self.check_pairs()
    }

    /// Adds SIB for every pair of arcs h → m, h → s with m < s that are not forbidden.
    ///
    /// # Errors
    /// As [`add_pair`](Self::add_pair), for the weights.
    pub fn add_siblings(
        &mut self,
        mut log_weight: impl FnMut(usize, usize, usize) -> f64,
    ) -> Result<(), Error> {
        let before = self.pairs.len();
        for head in 0..=self.words {
            for at in 0..self.row(head).len() {
                for after in at + 1..self.row(head).len() {
                    let (one, other) = (self.row(head)[at], self.row(head)[after]);
                    let (_, first) = self.arc(one as usize);
                    let (_, second) = self.arc(other as usize);
                    let weight = log_weight(head, first, second);
                    self.check_or_undo("SIB", weight, before)?;
                    self.pairs.push(one, other, weight);
                }
            }
        }
        self.check_pairs()
    }

    /// Adds NOT2 for every word: no two of its heads at once. TREE says so already; this is the weaker
    /// constraint of the paper, and loopy.
    ///
    /// # Errors
    /// [`Error::BadParameter`] if there are too many pairs.
    pub fn add_not_two_heads(&mut self) -> Result<(), Error> {
        for modifier in 1..=self.words {
            let column = self.column(modifier);
            for first in column.clone() {
                for second in first + 1..column.end {
                    self.pairs.push(first as u32, second as u32, f64::NEG_INFINITY);
                }
            }
        }
        self.check_pairs()
    }

    /// Adds NO2CYCLE: no two words head each other. TREE says so already.
    ///
    /// # Errors
    /// [`Error::BadParameter`] if there are too many pairs.
    pub fn add_no_two_cycles(&mut self) -> Result<(), Error> {
        for cell in 0..self.arcs.len() {
            let (head, modifier) = self.arc(cell);
            if head < modifier
                && let Some(back) = self.find(modifier, head)
            {
                self.pairs.push(cell as u32, back, f64::NEG_INFINITY);
            }
        }
        self.check_pairs()
    }

    fn push_pair(
        &mut self,
        factor: &'static str,
        first: (usize, usize),
        second: (usize, usize),
        log_weight: f64,
    ) -> Result<FactorId, Error> {
        let one = self.cell(factor, first)?;
        let other = self.cell(factor, second)?;
        if one == other {
            return Err(Error::BadParameter {
                what: "the second arc of a pair",
                expected: "another arc than the first",
                found: format!("{} → {}", second.0, second.1),
            });
        }
        check_weight(factor, log_weight)?;
        let index = self.pairs.push(one, other, log_weight);
        self.check_pairs()?;
        Ok(FactorId { kind: Kind::Pair, index: index as u32 })
    }

    /// Checks a log-weight; if it is refused, removes the pairs after the first `before`.
    fn check_or_undo(
        &mut self,
        factor: &'static str,
        weight: f64,
        before: usize,
    ) -> Result<(), Error> {
        check_weight(factor, weight).inspect_err(|_| self.pairs.truncate(before))
    }

    fn check_pairs(&self) -> Result<(), Error> {
        check_size(self.pairs.cells().len())
    }

    /// Adds EXACTLY1 for every word: it has exactly one head. TREE says so already.
    ///
    /// # Errors
    /// [`Error::BadParameter`] if there are too many factors.
    pub fn add_exactly_one_head(&mut self) -> Result<(), Error> {
        self.add_head_counts(Rule::ExactlyOne)
    }

    /// Adds ATMOST1 for every word: it has at most one head. TREE says so already.
    ///
    /// # Errors
    /// [`Error::BadParameter`] if there are too many factors.
    pub fn add_at_most_one_head(&mut self) -> Result<(), Error> {
        self.add_head_counts(Rule::AtMostOne)
    }

    fn add_head_counts(&mut self, rule: Rule) -> Result<(), Error> {
        for modifier in 1..=self.words {
            let column = self.column(modifier);
            self.counts.push(column.map(|cell| cell as u32), rule, None);
        }
        check_size(self.counts.cells().len())
    }

    /// Adds LABEL: the arc has exactly one of these labels if it is in the tree. Labels have variables
    /// and scores of their own, which join the score of the arc: P(arc) ∝ e^θ Σ_ℓ e^{score of ℓ}.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`], [`Error::FactorOnForbiddenArc`]; [`Error::BadScore`] naming arc and label if
    /// a score is not a number; [`Error::BadParameter`] for no labels, or for an arc that has some.
    pub fn add_labels(
        &mut self,
        head: usize,
        modifier: usize,
        labels: &[(usize, f64)],
    ) -> Result<FactorId, Error> {
        let arc = self.cell("LABEL", (head, modifier))?;
        let refuse = |found: String| {
            let expected = "one list, not empty, for each arc";
            Err(Error::BadParameter { what: "a list of labels", expected, found })
        };
        if labels.is_empty() {
            return refuse("empty".into());
        }
        if self.labels_of[arc as usize].1 > 0 {
            return refuse(format!("a second one for {head} → {modifier}"));
        }
        for &(label, value) in labels {
            if !is_number(value) {
                return Err(Error::BadScore { head, modifier, label: Some(label), value });
            }
            if label >= NONE as usize {
                return Err(too_many("labels", label));
            }
        }
        let start = self.scores.len() as u32;
        check_size(self.scores.len() + labels.len())?;
        for &(label, score) in labels {
            self.scores.push(score);
            self.label_at.push(label as u32);
        }
        self.labels_of[arc as usize] = (start, labels.len() as u32);
        let index = self.labels.push(arc, start..start + labels.len() as u32);
        check_size(self.labels.cells().len())?;
        Ok(FactorId { kind: Kind::Label, index: index as u32 })
    }

    /// Adds a limit to the number of modifiers of a head that have a label, such as one subject per verb.
    /// Modifiers are those whose arc has the label among its labels now. Returns `None` if there are
    /// fewer than two.
    ///
    /// # Errors
    /// [`Error::BadFactorWeight`]; [`Error::BadParameter`] if there are too many factors.
    pub fn add_label_limit(
        &mut self,
        head: usize,
        label: usize,
        limit: Limit,
    ) -> Result<Option<FactorId>, Error> {
        let (rule, weight) = match limit {
            Limit::Hard => (Rule::AtMostOne, None),
            Limit::Once(weight) => (Rule::Once, Some(weight)),
            Limit::PerExtra(weight) => (Rule::PerExtra, Some(weight)),
        };
        weight.map_or(Ok(()), |weight| check_weight("label limit", weight))?;
        let with_label = |&arc: &u32| {
            let (start, count) = self.labels_of[arc as usize];
            (start..start + count)
                .find(|&cell| self.label_at[cell as usize - self.arcs.len()] as usize == label)
        };
        let cells: Vec<u32> = self.row(head).iter().filter_map(with_label).collect();
        if cells.len() < 2 {
            return Ok(None);
        }
        let index = self.counts.push(cells, rule, weight);
        check_size(self.counts.cells().len())?;
        Ok(Some(FactorId { kind: Kind::Count, index: index as u32 }))
    }

    /// Adds CHILDSEQ: `log_weight(a, b)` for each pair of adjacent modifiers of a head on one side, from
    /// the nearest to the farthest. `None` is START as a, and STOP as b. Returns the factor, whose
    /// log-weights are those of a = START, then of the nearest candidate, and so on.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`] if there is no such head; [`Error::BadFactorWeight`];
    /// [`Error::BadParameter`] if there are too many factors.
    pub fn add_child_sequence(
        &mut self,
        head: usize,
        side: Side,
        mut log_weight: impl FnMut(Option<usize>, Option<usize>) -> f64,
    ) -> Result<FactorId, Error> {
        if head > self.words {
            return Err(Error::NoSuchArc { head, modifier: 1, words: self.words });
        }
        let row = self.row(head);
        let split = row.partition_point(|&cell| self.arc(cell as usize).1 < head);
        let cells: Vec<u32> = match side {
            Side::Left => row[..split].iter().rev().copied().collect(),
            Side::Right => row[split..].to_vec(),
        };
        let word = |at: usize| {
            let cell = at.checked_sub(1).and_then(|at| cells.get(at));
            cell.map(|&cell| self.arcs[cell as usize].1 as usize)
        };
        let mut bad = None;
        let index = self.child_sequences.push(cells.iter().copied(), |a, b| {
            let weight = log_weight(word(a), word(b));
            if check_weight("CHILDSEQ", weight).is_err() {
                bad.get_or_insert(weight);
                return 0.0;
            }
            weight
        });
        if let Some(value) = bad {
            self.child_sequences.pop();
            return Err(Error::BadFactorWeight { factor: "CHILDSEQ", value });
        }
        check_size(self.child_sequences.cells().len().max(self.child_sequences.weights().len()))?;
        Ok(FactorId { kind: Kind::ChildSequence, index: index as u32 })
    }

    /// Adds PAIR for every two arcs that cross, with `log_weight(arc, other arc)`. Takes time for all
    /// pairs of arcs, so it is meant for pruned graphs, where it is steadier than NOCROSS.
    ///
    /// # Errors
    /// As [`add_pair`](Self::add_pair), for the weights.
    pub fn add_crossing_pairs(
        &mut self,
        mut log_weight: impl FnMut((usize, usize), (usize, usize)) -> f64,
    ) -> Result<(), Error> {
        let before = self.pairs.len();
        for one in 0..self.arcs.len() {
            for other in one + 1..self.arcs.len() {
                let ((i, j), (k, l)) = (self.arcs[one], self.arcs[other]);
                if j != l && crosses(i, j, k, l) {
                    let weight = log_weight(self.arc(one), self.arc(other));
                    self.check_or_undo("PAIR", weight, before)?;
                    self.pairs.push(one as u32, other as u32, weight);
                }
            }
        }
        self.check_pairs()
    }

    /// Adds NOCROSS: `log_weight` if the arcs into two words cross. A log-weight of −∞ forbids it.
    ///
    /// The factor also says that each word has exactly one head, as TREE does. Where many factors say so
    /// of one word, messages grow from iteration to iteration: run few, with damping, or add
    /// [`add_crossing_pairs`](Self::add_crossing_pairs) instead.
    ///
    /// # Errors
    /// [`Error::BadParameter`] unless both are words of the sentence, and different;
    /// [`Error::BadFactorWeight`].
    pub fn add_no_crossing(
        &mut self,
        first: usize,
        second: usize,
        log_weight: f64,
    ) -> Result<FactorId, Error> {
        let is_word = |word: usize| (1..=self.words).contains(&word);
        if !is_word(first) || !is_word(second) || first == second {
            return Err(Error::BadParameter {
                what: "a pair of words of a NOCROSS factor",
                expected: "two different words of the sentence",
                found: format!("{first} and {second}"),
            });
        }
        check_weight("NOCROSS", log_weight)?;
        let Self { arcs, columns, no_crossings, .. } = self;
        let into = |word: usize| {
            let cells = columns[word - 1]..columns[word];
            (word as u32, cells.map(|cell| (arcs[cell as usize].0, cell)))
        };
        let index = no_crossings.push(into(first), into(second), log_weight);
        check_size(self.no_crossings.cells().len())?;
        Ok(FactorId { kind: Kind::NoCrossing, index: index as u32 })
    }

    /// Adds NOCROSS for every pair of words j < l some of whose arcs cross.
    ///
    /// # Errors
    /// As [`add_no_crossing`](Self::add_no_crossing).
    pub fn add_no_crossings(
        &mut self,
        mut log_weight: impl FnMut(usize, usize) -> f64,
    ) -> Result<(), Error> {
        for j in 1..=self.words {
            for l in j + 1..=self.words {
                if self.may_cross(j, l) {
                    self.add_no_crossing(j, l, log_weight(j, l))?;
                }
            }
        }
        Ok(())
    }

    /// True if some arcs into words j < l cross.
    fn may_cross(&self, j: usize, l: usize) -> bool {
        let head = |cell: usize| self.arcs[cell].0;
        // With many heads, nearly every pair has a crossing: the search ends early.
        self.column(j)
            .any(|i| self.column(l).any(|k| crosses(head(i), j as u32, head(k), l as u32)))
    }

    /// Adds a tag variable for every word, with TAG scores: those of word 1, then those of word 2, and so
    /// on. A score of −∞ excludes a tag, as log-odds of −100,000.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there are `tags` scores for every word; [`Error::BadParameter`] if there
    /// are tags already or `tags` is 0; [`Error::BadFactorWeight`].
    pub fn add_tags(&mut self, tags: usize, scores: &[f64]) -> Result<(), Error> {
        if tags == 0 || self.tags.is_some() {
            return Err(Error::BadParameter {
                what: "the number of tags",
                expected: "at least 1, and given once",
                found: tags.to_string(),
            });
        }
        if Some(scores.len()) != tags.checked_mul(self.words) {
            return Err(Error::Shape {
                expected: format!("{tags} scores of tags for each of {} words", self.words),
                found: format!("{} scores", scores.len()),
            });
        }
        scores.iter().try_for_each(|&score| check_weight("TAG", score))?;
        check_size(self.scores.len() + scores.len())?;
        self.tags = Some(Tags { start: self.scores.len(), count: tags });
        let least = |score: f64| if score == f64::NEG_INFINITY { -FORCED } else { score };
        self.scores.extend(scores.iter().map(|&score| least(score)));
        self.label_at.resize(self.label_at.len() + scores.len(), NONE);
        Ok(())
    }

    /// Adds TAGLINK: a log-weight for the tags of head and modifier of an arc, if it is in the tree. The
    /// log-weights are `[tag of the head][tag of the modifier]`; of an arc from the root, one for each tag
    /// of the modifier.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`], [`Error::FactorOnForbiddenArc`], [`Error::BadFactorWeight`];
    /// [`Error::BadParameter`] before [`add_tags`](Self::add_tags); [`Error::Shape`].
    pub fn add_tag_link(
        &mut self,
        head: usize,
        modifier: usize,
        log_weights: &[f64],
    ) -> Result<FactorId, Error> {
        let arc = self.cell("TAGLINK", (head, modifier))?;
        let tags = self.tags_or_error()?;
        let rows = if head == 0 { 1 } else { tags.count };
        check_table(log_weights, rows * tags.count, "TAGLINK")?;
        let of = |word: usize| {
            let start = (tags.start + (word - 1) * tags.count) as u32;
            start..start + tags.count as u32
        };
        let head_tags = if head == 0 { 0..0 } else { of(head) };
        let index = self.tag_links.push(arc, head_tags, of(modifier), log_weights);
        check_size(self.tag_links.cells().len().max(self.tag_links.weights().len()))?;
        Ok(FactorId { kind: Kind::TagLink, index: index as u32 })
    }

    /// Adds TRIGRAM over the tags of all words. With g tags, the log-weights are `[a][b][c]` for the tags
    /// of three words in a row: (g+1)·(g+1)·g, where a, b = g stand before the first word.
    ///
    /// # Errors
    /// [`Error::BadParameter`] before [`add_tags`](Self::add_tags) or without words; [`Error::Shape`];
    /// [`Error::BadFactorWeight`].
    pub fn add_tag_trigrams(&mut self, log_weights: &[f64]) -> Result<FactorId, Error> {
        let tags = self.tags_or_error()?;
        check_table(log_weights, (tags.count + 1) * (tags.count + 1) * tags.count, "TRIGRAM")?;
        let end = tags.start + self.words * tags.count;
        let cells = tags.start as u32..end as u32;
        let index = self.trigrams.push(cells, tags.count, log_weights);
        check_size(self.trigrams.cells().len().max(self.trigrams.weights().len()))?;
        Ok(FactorId { kind: Kind::Trigram, index: index as u32 })
    }

    fn tags_or_error(&self) -> Result<Tags, Error> {
        self.tags.filter(|_| self.words > 0).ok_or(Error::BadParameter {
            what: "the number of tag variables",
            expected: "at least 1; call `add_tags` first",
            found: "0".into(),
        })
    }
}

/// A side of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Modifiers before the head.
    Left,
    /// Modifiers after the head.
    Right,
}

fn check_table(log_weights: &[f64], expected: usize, factor: &'static str) -> Result<(), Error> {
    if log_weights.len() != expected {
        return Err(Error::Shape {
            expected: format!("{expected} log-weights of a {factor} factor"),
            found: format!("{}", log_weights.len()),
        });
    }
    log_weights.iter().try_for_each(|&weight| check_weight(factor, weight))
}
