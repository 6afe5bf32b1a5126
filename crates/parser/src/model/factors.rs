//! Factors of a parser: scores of two arcs at once, and belief propagation that turns them into scores of arcs.
//!
//! ```text
//! p(y) ∝ exp( Σ_{e∈y} θ(e) + Σ_{e,e′∈y} φ(e, e′) )        φ(e, e′) = w · f(x, e, e′)
//! ```
//!
//! Exact inference in this model is NP-hard without projectivity. Belief propagation ([`FactorGraph`]) starts with the
//! exact marginals of θ. A few iterations later, TREE receives log-odds θ′ of every arc: θ and what all factors say of
//! the arc, given all other arcs. These are scores of an arc-factored distribution (Smith & Eisner 2008, §4;
//! its marginals are the beliefs at convergence):
//!
//! ```text
//! q(y) ∝ exp Σ_{e∈y} θ′(e)
//! ```
//!
//! The parser answers from q: the best tree, k-best trees, samples, conditioning and entropy stay exact, of q. Training
//! minimises its objective under the same q, and follows its gradient back through the iterations (Stoyanov &
//! Eisner 2012; Gormley, Dredze & Eisner 2015). So what is trained is what is used, for any number of iterations.
//!
//! Only arcs that the first pass left are variables, some 2.6 heads per word. Cost per sentence: O(n³) per iteration for
//! TREE, and time linear in the pairs of arcs that are left.

use tutte_linear::{Cell, Rounding};
use tutte_trees::factors::{Derivatives, FactorGraph, Gradient, Messages, Options, Schedule, Side};
use tutte_trees::{ArcMatrix, Error, TreeSet, Workspace, arcs};

use crate::features::{Atoms, FACTOR_BLOCK, FactorFamily, FactorPart, FactorSet, PreparedFactors};
use crate::{Compact, Weights};

/// Templates of factors and the weights of their features.
#[derive(Clone, Debug)]
pub struct FactorModel<W = Vec<f32>> {
    /// Feature templates.
    pub features: FactorSet,
    /// Number of iterations of belief propagation, in training and in parsing.
    pub iterations: usize,
    /// Binary logarithm of the number of weights.
    bits: u32,
    pub(crate) weights: W,
}

/// Memory of [`FactorModel`]: the factors of a sentence and their messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct FactorMemory {
    /// Candidate arcs with the number of their best label.
    candidates: Vec<(usize, usize, usize)>,
    prepared: PreparedFactors,
    /// The pairs of arcs whose weights are those of the graph, in the same order.
    parts: Vec<FactorPart>,
    graph: Option<FactorGraph>,
    messages: Messages,
    workspace: Workspace,
    best: Vec<usize>,
    gradient: Gradient,
}

impl FactorMemory {
    /// Forgets the factors of the last sentence.
    pub(crate) fn clear(&mut self) {
        self.parts.clear();
    }
}

impl FactorModel {
    /// Makes a model of 2^bits weights that are all zero. With them, θ′ = θ.
    pub fn new(features: FactorSet, bits: u32, iterations: usize) -> Self {
        Self::with_weights(features, bits, iterations, vec![0.0; 1 << bits])
    }

    /// Rounds all weights to 8 bits.
    pub(crate) fn rounded(&self, rounding: Rounding) -> FactorModel<Compact> {
        let Self { features, iterations, bits, weights } = self;
        let weights = Compact::rounded(weights, rounding);
        FactorModel::with_weights(features.clone(), *bits, *iterations, weights)
    }

    /// Follows derivatives by θ′ back to derivatives by θ, which it returns, and by weights, which it passes to
    /// `add(cell, amount)`. `memory` is that of the last [`refine`](Self::refine), which must have been recorded.
    pub(crate) fn accumulate<'m>(
        &self,
        memory: &'m mut FactorMemory,
        by_refined: &ArcMatrix,
        negligible: f64,
        mut add: impl FnMut(usize, f32),
    ) -> Option<&'m ArcMatrix> {
        let FactorMemory { graph, messages, parts, prepared, gradient, .. } = memory;
        let graph = graph.as_ref().filter(|_| !parts.is_empty())?;
        let derivatives = Derivatives { tree_scores: Some(by_refined), ..Derivatives::default() };
        graph.backward(messages, derivatives, gradient).ok()?;
        for (&part, &amount) in parts.iter().zip(&gradient.weights) {
            if amount.abs() > negligible {
                prepared.blocks(part, self.bits, |block, order| {
                    add(block, amount as f32);
                    add(block + order, amount as f32);
                });
            }
        }
        Some(&gradient.arcs)
    }
}

impl<W> FactorModel<W> {
    /// Makes a model with given weights, 2^bits of them.
    pub(crate) fn with_weights(
        features: FactorSet,
        bits: u32,
        iterations: usize,
        weights: W,
    ) -> Self {
        Self { features, iterations, bits, weights }
    }

    /// Returns the weights: 2^bits of them.
    pub fn weights(&self) -> &W {
        &self.weights
    }

    /// Binary logarithm of the number of weights.
    pub fn bits(&self) -> u32 {
        self.bits
    }
}

impl FactorModel<Compact> {
    /// Multiplies the scores of all factors by a positive factor.
    #[cfg(all(feature = "train", feature = "neural"))]
    pub(crate) fn scaled_by(self, factor: f64) -> Self {
        Self { weights: self.weights.scaled_by(factor as f32), ..self }
    }
}

/// How [`FactorModel::refine`] runs.
pub(crate) struct Refinement<K> {
    /// The set of trees.
    pub(crate) tree_set: TreeSet,
    /// Factor of all weights.
    pub(crate) scale: f64,
    /// Selects templates by their number.
    pub(crate) keep: K,
    /// True if the iterations are recorded, for [`FactorModel::accumulate`].
    pub(crate) is_recorded: bool,
}

impl Refinement<fn(usize) -> bool> {
    /// Returns the refinement of a parser, with all templates.
    pub(crate) fn of_parser(tree_set: TreeSet) -> Self {
        Self { tree_set, scale: 1.0, keep: |_| true, is_recorded: false }
    }
}

impl<W: Weights> FactorModel<W> {
    /// Replaces the scores θ of the candidate arcs of a sentence by θ′. Other arcs are −∞. `best_label` gives the number
    /// of the best label of an arc.
    ///
    /// # Errors
    /// [`Error::NoTree`] if the candidates contain no tree; [`Error::BadScore`].
    pub(crate) fn refine<K: Fn(usize) -> bool>(
        &self,
        atoms: &Atoms,
        best_label: impl Fn(usize, usize) -> usize,
        scores: &mut ArcMatrix,
        refinement: Refinement<K>,
        memory: &mut FactorMemory,
    ) -> Result<(), Error> {
        let Refinement { tree_set, scale, keep, is_recorded } = refinement;
        let FactorMemory { candidates, prepared, parts, graph, messages, workspace, best, .. } =
            memory;
        candidates.clear();
        parts.clear();
        candidates.extend(
            arcs(scores.words())
                .filter(|arc| scores[*arc] != f64::NEG_INFINITY)
                .map(|(head, modifier)| (head, modifier, best_label(head, modifier))),
        );
        if candidates.len() <= scores.words() {
            // There is one tree at most.
            return Ok(());
        }
        prepared.fill(&self.features, atoms, candidates, keep);
        match graph {
            Some(graph) => graph.reset(scores, tree_set, workspace, best)?,
            None => *graph = Some(FactorGraph::new(scores, tree_set)?),
        }
        let Some(graph) = graph else { return Ok(()) };
        let prepared = &*prepared;
        let mut score = |part: FactorPart| {
            parts.push(part);
            scale * self.score(prepared, part)
        };
        if self.features.has(FactorFamily::Grandparent) {
            graph.add_grandparents(|above, head, modifier| {
                score(prepared.grandparent(above, head, modifier))
            })?;
        }
        if self.features.has(FactorFamily::Siblings) {
            graph.add_siblings(|head, first, second| {
                score(prepared.siblings(head, first, second))
            })?;
        }
        // A pair of arcs, not NOCROSS of all arcs into two words: that would also say that each word has one head, which
        // TREE says. Said twice, it counts twice, and weights of zero would change scores. Pairs see their labels, too.
        if self.features.has(FactorFamily::Crossing) && !tree_set.is_projective() {
            graph.add_crossing_pairs(|first, second| score(prepared.crossing(first, second)))?;
        }
        if self.features.has(FactorFamily::Sequence) {
            // Candidates are in the order of their heads.
            let start = |head| candidates.partition_point(|arc| arc.0 < head);
            let starts: Vec<usize> = (0..=scores.words() + 1).map(start).collect();
            for head in 0..=scores.words() {
                for side in [Side::Left, Side::Right] {
                    let is_left = side == Side::Left;
                    let of_head = &candidates[starts[head]..starts[head + 1]];
                    if of_head.iter().any(|arc| (arc.1 < head) == is_left) {
                        graph.add_child_sequence(head, side, |first, second| {
                            score(prepared.sequence(head, is_left, first, second))
                        })?;
                    }
                }
            }
        }
        if parts.is_empty() {
            return Ok(());
        }
        let options = Options {
            iterations: self.iterations,
            schedule: Schedule::TreeFirst,
            record: is_recorded,
            ..Options::default()
        };
        graph.run(&options, messages)?;
        graph.tree_scores(messages, scores);
        Ok(())
    }

    /// Returns the score of a pair of arcs.
    fn score(&self, prepared: &PreparedFactors, part: FactorPart) -> f64 {
        let cells = self.weights.cells();
        let mut sum = <W::Cell as Cell>::Sum::default();
        prepared.blocks(part, self.bits, |block, order| {
            let block = &cells[block..block + FACTOR_BLOCK];
            sum = block[0].add_to(sum);
            sum = block[order % FACTOR_BLOCK].add_to(sum);
        });
        f64::from(W::Cell::value(sum) * self.weights.scale())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tutte_trees::{Tree, TreeDistribution, arcs, oracle};

    use super::*;
    use crate::features::FirstPassOutput;

    const TEXT: &str = "\
1\tOld\told\tADJ\t_\t_\t2\tamod\t_\t_
2\ttea\ttea\tNOUN\t_\t_\t3\tnsubj\t_\t_
3\tcools\tcool\tVERB\t_\t_\t0\troot\t_\t_
4\tfast\tfast\tADV\t_\t_\t3\tadvmod\t_\t_
";

    fn atoms(set: &FactorSet) -> Atoms {
        let sentence: tutte_treebank::Sentence = TEXT.parse().unwrap();
        let output = FirstPassOutput::new(vec![2, 3, 0, 3], ArcMatrix::zeros(4));
        Atoms::with_first_pass(&sentence, set.columns(), Arc::new(output))
    }

    fn any_scores() -> ArcMatrix {
        ArcMatrix::from_fn(4, |head, modifier| ((7 * head + 3 * modifier) % 5) as f64 - 2.0)
    }

    /// Returns the default templates, which have all families.
    fn all_families() -> FactorSet {
        FactorSet::standard()
    }

    fn refined(model: &FactorModel, scores: &ArcMatrix, tree_set: TreeSet) -> ArcMatrix {
        let mut refined = scores.clone();
        let mut memory = FactorMemory::default();
        let refinement = Refinement::of_parser(tree_set);
        let atoms = atoms(&model.features);
        model.refine(&atoms, |_, _| 0, &mut refined, refinement, &mut memory).unwrap();
        refined
    }

    #[test]
    fn weights_of_zero_change_nothing() {
        for tree_set in TreeSet::ALL {
            let model = FactorModel::new(all_families(), 10, 3);
            let found = refined(&model, &any_scores(), tree_set);
            for (arc, expected) in arcs(4).zip(any_scores().arcs()) {
                assert!((found[arc] - expected.2).abs() < 1e-12, "{tree_set}: {arc:?}");
            }
        }
    }

    /// A constant for all heads of a word changes no probability, with factors and without.
    #[test]
    fn constants_of_a_word_do_not_matter() {
        for tree_set in TreeSet::ALL {
            let weights = (0..1 << 10).map(|at| ((at * 37) % 17) as f32 / 40.0 - 0.2).collect();
            let model = FactorModel::with_weights(all_families(), 10, 2, weights);
            let mut shifted = any_scores();
            arcs(4).for_each(|arc| shifted[arc] += [3.0, -7.0, 0.5, 40.0][arc.1 - 1]);
            let [one, other] = [any_scores(), shifted].map(|scores| {
                TreeDistribution::new(refined(&model, &scores, tree_set), tree_set).unwrap()
            });
            let plain = TreeDistribution::new(any_scores(), tree_set).unwrap();
            let mut largest = 0.0f64;
            for (head, modifier) in arcs(4) {
                let [p, q] = [&one, &other].map(|d| d.marginal(head, modifier).unwrap());
                assert!((p - q).abs() < 1e-9, "{tree_set}: {p} {q}");
                largest = largest.max((p - plain.marginal(head, modifier).unwrap()).abs());
            }
            assert!(largest > 0.01, "{tree_set}: factors changed nothing");
        }
    }

    /// A cost of crossing arcs moves the marginals most of the way to the exact ones, and changes nothing where no tree
    /// has any.
    #[test]
    fn crossing_arcs_can_cost() {
        let set = FactorSet::parse("crossing m.label").unwrap();
        // Each crossing costs 1: the bare feature and the one with its order.
        let model = FactorModel::with_weights(set, 4, 3, vec![-0.5; 1 << 4]);
        for tree_set in TreeSet::ALL {
            let plain = TreeDistribution::new(any_scores(), tree_set).unwrap();
            let refined = refined(&model, &any_scores(), tree_set);
            if tree_set.is_projective() {
                assert_eq!(plain.scores().as_slice(), refined.as_slice());
                continue;
            }
            let refined = TreeDistribution::new(refined, tree_set).unwrap();
            let weight = |tree: &Tree| {
                let spans: Vec<_> = tree.arcs().map(|(h, m)| (h.min(m), h.max(m))).collect();
                let crosses = |(a, b): (usize, usize), (c, d)| a < c && c < b && b < d;
                let pairs = spans.iter().flat_map(|one| spans.iter().map(move |two| (*one, *two)));
                let crossings = pairs.filter(|&(one, two)| crosses(one, two)).count();
                (plain.log_prob(tree).unwrap() - crossings as f64).exp()
            };
            let trees = oracle::all_trees(4, tree_set);
            let total: f64 = trees.iter().map(weight).sum();
            let (mut error, mut ignored) = (0.0, 0.0);
            for (head, modifier) in arcs(4) {
                let has_arc = |tree: &&Tree| tree.head(modifier) == Some(head);
                let exact = trees.iter().filter(has_arc).map(weight).sum::<f64>() / total;
                error += (refined.marginal(head, modifier).unwrap() - exact).abs();
                ignored += (plain.marginal(head, modifier).unwrap() - exact).abs();
            }
            assert!(ignored > 0.3 && error < 0.5 * ignored, "{tree_set}: {error} {ignored}");
        }
    }

    /// Forbidden arcs stay forbidden, extreme scores stay numbers, and memory carries nothing over.
    #[test]
    fn masks_and_extreme_scores() {
        let weights = (0..1 << 10).map(|at| ((at * 37) % 17) as f32 - 8.0).collect();
        let model = FactorModel::with_weights(all_families(), 10, 4, weights);
        let atoms = atoms(&model.features);
        let mut memory = FactorMemory::default();
        for tree_set in TreeSet::ALL {
            for scale in [1.0, 1e3, 1e12] {
                let mut scores = any_scores();
                scores.map_in_place(|score| scale * score);
                for arc in [(1, 2), (4, 2), (1, 3), (0, 4)] {
                    scores.forbid(arc.0, arc.1);
                }
                let mut found = scores.clone();
                let refinement = Refinement::of_parser(tree_set);
                model.refine(&atoms, |_, _| 0, &mut found, refinement, &mut memory).unwrap();
                assert_eq!(found.as_slice(), refined(&model, &scores, tree_set).as_slice());
                for arc in arcs(4) {
                    assert_eq!(
                        found[arc].is_finite(),
                        scores[arc].is_finite(),
                        "{tree_set}: {arc:?}"
                    );
                }
            }
        }
    }
}
