//! Answers of a finished run: beliefs, expectations, the Bethe log Z, trees.

use super::algebra::bounded;
use super::graph::{FAMILIES, FactorGraph, FactorId, Kind};
use super::messages::{Messages, zeros};
use crate::{ArcMatrix, Error, Tree, TreeDistribution, TreeSet, argmax_with};

/// How a tree is chosen from beliefs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Decoder {
    /// Largest Σ b_e: most arcs expected to be right (minimum Bayes risk).
    #[default]
    SumOfBeliefs,
    /// Largest Σ logit b_e, as in Smith & Eisner (2008). It may differ from the sum of beliefs.
    SumOfLogOdds,
    /// Most probable tree of TREE's own distribution.
    TreeMode,
}

impl FactorGraph {
    /// Writes the belief of every arc: its approximate marginal. Forbidden arcs have 0.
    ///
    /// Beliefs of an unfinished run need not sum to 1 over the heads of a word. Probabilities that must
    /// agree with each other come from [`tree_distribution`](Self::tree_distribution).
    ///
    /// # Panics
    /// If the last run was of another graph, as do the other answers.
    pub fn beliefs(&self, messages: &Messages, beliefs: &mut ArcMatrix) {
        self.write_arcs(messages, &messages.beliefs, 0.0, beliefs);
    }

    /// The belief of one arc; 0 if it is forbidden or does not exist.
    pub fn belief(&self, messages: &Messages, head: usize, modifier: usize) -> f64 {
        messages.assert_of(self);
        self.find(head, modifier).map_or(0.0, |cell| messages.beliefs[cell as usize])
    }

    /// Writes the log-odds of every arc's belief. Forbidden arcs have −∞.
    pub fn log_odds(&self, messages: &Messages, log_odds: &mut ArcMatrix) {
        self.write_arcs(messages, &messages.total, f64::NEG_INFINITY, log_odds);
    }

    /// Writes the log-odds that TREE receives: the scores of its own distribution over trees.
    pub fn tree_scores(&self, messages: &Messages, scores: &mut ArcMatrix) {
        self.write_arcs(messages, &messages.local, f64::NEG_INFINITY, scores);
    }

    fn write_arcs(&self, messages: &Messages, values: &[f64], other: f64, out: &mut ArcMatrix) {
        messages.assert_of(self);
        out.reset(self.words(), other);
        for (cell, &value) in values[..self.arcs.len()].iter().enumerate() {
            out[self.arc(cell)] = value;
        }
    }

    /// The labels of an arc, each with its belief: the probability of the arc with this label. None for
    /// arcs without labels.
    pub fn label_beliefs<'a>(
        &'a self,
        messages: &'a Messages,
        head: usize,
        modifier: usize,
    ) -> impl Iterator<Item = (usize, f64)> + 'a {
        messages.assert_of(self);
        let arc = self.find(head, modifier).map(|arc| self.labels_of[arc as usize]);
        let (start, count) = arc.unwrap_or((0, 0));
        (start as usize..(start + count) as usize)
            .map(|cell| (self.label_at[cell - self.arcs.len()] as usize, messages.beliefs[cell]))
    }

    /// The beliefs of a word's tags; empty if there are none.
    pub fn tag_beliefs<'a>(&self, messages: &'a Messages, word: usize) -> &'a [f64] {
        messages.assert_of(self);
        match (self.tags, word.checked_sub(1)) {
            (Some(tags), Some(index)) if index < self.words => {
                &messages.beliefs[tags.start + index * tags.count..][..tags.count]
            }
            _ => &[],
        }
    }

    /// Returns TREE's own distribution: the arc-factored one whose scores are the log-odds that TREE
    /// receives. After convergence its marginals are the beliefs. It answers k-best, samples,
    /// conditioning and entropy.
    ///
    /// # Errors
    /// [`Error::NoTree`], [`Error::BadScore`] as [`TreeDistribution::new`]; neither is expected, because
    /// the graph has a tree.
    pub fn tree_distribution(&self, messages: &Messages) -> Result<TreeDistribution, Error> {
        let mut scores = ArcMatrix::default();
        self.tree_scores(messages, &mut scores);
        TreeDistribution::new(scores, self.tree_set())
    }

    /// Returns a tree of the graph's set.
    ///
    /// The tree satisfies TREE. Other hard factors have shaped the beliefs, and may still be violated:
    /// see [`violations`](Self::violations).
    ///
    /// # Errors
    /// As [`decode_with`](Self::decode_with).
    pub fn decode(&self, messages: &mut Messages, decoder: Decoder) -> Result<Tree, Error> {
        let mut heads = Vec::new();
        self.decode_with(messages, decoder, self.tree_set(), &mut heads)?;
        Ok(Tree::from_decoder(heads))
    }

    /// Writes the heads of a tree of any set, and returns its sum of beliefs or log-odds.
    ///
    /// # Errors
    /// [`Error::NoTree`] if that set has no tree with these arcs.
    pub fn decode_with(
        &self,
        messages: &mut Messages,
        decoder: Decoder,
        tree_set: TreeSet,
        heads: &mut Vec<usize>,
    ) -> Result<f64, Error> {
        messages.assert_of(self);
        let Messages { tree, beliefs, total, local, .. } = messages;
        let values = match decoder {
            Decoder::SumOfBeliefs => beliefs,
            Decoder::SumOfLogOdds => total,
            Decoder::TreeMode => local,
        };
        tree.scores.reset(self.words(), f64::NEG_INFINITY);
        for (cell, &value) in values[..self.arcs.len()].iter().enumerate() {
            tree.scores[self.arc(cell)] = bounded(value);
        }
        argmax_with(&tree.scores, tree_set, &mut tree.workspace, heads)
    }

    /// Returns the Bethe estimate of log Z.
    ///
    /// ```text
    /// Σ_F ln Z_F(q)  +  Σ_V (1 − deg V) · ln Z_V
    /// ```
    ///
    /// Z_F sums the factor's assignments weighted by its incoming messages, Z_V the variable's values.
    /// Exact without higher-order factors, and on any graph without cycles. −∞ if hard factors
    /// contradict each other. After max-product it is the score of the best tree in the same sense.
    pub fn log_partition(&self, messages: &mut Messages) -> f64 {
        messages.assert_of(self);
        let algebra = messages.algebra;
        let arcs = self.arcs.len();
        let mut total = 0.0;
        messages.degrees.clear();
        messages.degrees.resize(self.scores.len(), 0);
        messages.degrees[..arcs].fill(u32::from(self.has_tree_factor));
        for (k, family) in self.families().iter().enumerate() {
            messages.gather(self, k);
            let q = &messages.to_factors[messages.offsets[k]..messages.offsets[k + 1]];
            total += family.log_partition(algebra, q, &mut messages.scratch);
            for &cell in family.cells() {
                messages.degrees[cell as usize] += 1;
            }
        }
        if self.has_tree_factor {
            total += messages.tree.log_partition(self, algebra, &messages.local[..arcs]);
        }
        let tags = self.tags.map_or(0..0, |tags| tags.start..tags.start + self.words * tags.count);
        let mut add = |cell: usize, log_z: f64| {
            let degree = f64::from(messages.degrees[cell]);
            total += if degree == 1.0 { 0.0 } else { (1.0 - degree) * log_z };
        };
        for (cell, &log_odds) in messages.total.iter().enumerate() {
            if !tags.contains(&cell) {
                add(cell, algebra.add_one(algebra.cooled(log_odds)));
            }
        }
        for range in self.tags.into_iter().flat_map(|tags| tags.variables(self.words)) {
            let values = &messages.total[range.clone()];
            add(range.start, algebra.sum_of(values.len(), |tag| algebra.cooled(values[tag])));
        }
        algebra.temperature * total
    }

    /// Writes, for every log-weight of every factor, how often it is expected to be used: the
    /// probability of both arcs of a pair, for example. These are the factor beliefs that the gradient
    /// of the likelihood needs. Places as in [`weight_range`](Self::weight_range).
    pub fn expectations(&self, messages: &mut Messages, expectations: &mut Vec<f64>) {
        messages.assert_of(self);
        zeros(expectations, self.weight_count());
        let mut start = 0;
        for (k, family) in self.families().iter().enumerate().take(FAMILIES) {
            messages.gather(self, k);
            let q = &messages.to_factors[messages.offsets[k]..messages.offsets[k + 1]];
            let out = &mut expectations[start..start + family.weights().len()];
            family.expectations(messages.algebra, q, out, &mut messages.scratch);
            start += out.len();
        }
    }

    /// Returns the hard factors that a tree violates: pairs, sequences and crossings with a log-weight of
    /// −∞. Limits of labels are left out, because a tree has no labels.
    ///
    /// # Errors
    /// [`Error::DifferentLengths`] if the tree is of another sentence length.
    pub fn violations(&self, tree: &Tree) -> Result<Vec<FactorId>, Error> {
        if tree.words() != self.words() {
            return Err(Error::DifferentLengths { left: self.words(), right: tree.words() });
        }
        let holds = |cell: u32| {
            let (head, modifier) = self.arc(cell as usize);
            tree.head(modifier) == Some(head)
        };
        let is_violated = |factor: &FactorId| {
            let index = factor.index as usize;
            match factor.kind {
                Kind::Pair => self.pairs.forbids(index, holds),
                Kind::ChildSequence => self.child_sequences.forbids(index, holds),
                Kind::NoCrossing => self.no_crossings.forbids(index, holds),
                Kind::Trigram | Kind::TagLink | Kind::Label | Kind::Count => false,
            }
        };
        Ok(self.factors().filter(is_violated).collect())
    }

    /// Returns the belief of a PAIR factor: the probabilities that neither arc, only the second, only
    /// the first and both are in the tree. `None` for factors of other families.
    pub fn pair_belief(&self, messages: &Messages, factor: FactorId) -> Option<[f64; 4]> {
        messages.assert_of(self);
        self.pair_joint(messages, factor)
    }
}

impl Messages {
    /// True if the last run was on a graph of this shape.
    pub(super) fn is_of(&self, graph: &FactorGraph) -> bool {
        self.local.len() == graph.scores.len()
            && self.tree_logits.len() == graph.arcs.len()
            && graph
                .families()
                .iter()
                .enumerate()
                .all(|(k, family)| self.offsets[k + 1] - self.offsets[k] == family.cells().len())
    }

    #[track_caller]
    fn assert_of(&self, graph: &FactorGraph) {
        assert!(self.is_of(graph), "the messages are of another graph: run this one first");
    }
}
