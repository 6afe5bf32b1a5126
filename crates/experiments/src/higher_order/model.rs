//! A parser of Smith & Eisner (2008): scores of arcs and factors, trained by stochastic gradients of three kinds.
//!
//! ```text
//! p(y) ∝ exp( Σ_{e∈y} w·f(e) + Σ_{F fires in y} w·f(F) )
//! ```
//!
//! - *Likelihood*: observed features minus those expected under the beliefs of belief propagation, as in the paper. After
//!   a truncated run, that is the gradient of nothing.
//! - *Unrolled*: −log q(y*), where q is TREE's own distribution after the last iteration, and its exact gradient through all
//!   iterations (Stoyanov & Eisner 2012).
//! - *Risk*: the expected number of wrong heads under a second tree distribution with scores b / 0.1, where b are beliefs: a
//!   soft minimum-risk decoder. The loss moves there from the squared error of beliefs, as in that paper.
//!
//! This trainer is not the parser's own because the papers' models have things that a parser does not offer: graphs
//! without TREE, gradients by beliefs, flooding.

use anyhow::Result;
use serde::{Deserialize, Serialize};
use tutte::features::{Atoms, FeatureSet, Prepared};
use tutte::learn::objective::{self, Scored, Scratch};
use tutte::{ArcModel, Index};
use tutte_linear::{AdaGrad, Average, Order, SparseSum};
use tutte_trees::factors::{
    Decoder, Derivatives, FactorGraph, Gradient, Messages, Options, Report, Schedule, Side,
};
use tutte_trees::{ArcMatrix, Candidates, Part, SecondOrderParts, TreeSet, Workspace, arcs};
use tutte_trees::{marginals_with, second_order_marginals_with};

use super::factors::{BITS, Crossings, Factor, Families, Tags, Target, step};

/// Binary logarithm of the number of weights of arcs.
const ARC_BITS: u32 = 21;
/// Rate and damping of AdaGrad. Steps are larger than in the parser's own training, which has more passes over more words.
const RATE: f32 = 0.1;
const DAMPING: f32 = 1.0;
/// Seed of the order of sentences.
const SEED: u64 = 1;
/// Coefficients below this are left out.
const NEGLIGIBLE: f64 = 1e-7;
/// Temperature of the soft decoder.
const DECODER_TEMPERATURE: f64 = 0.1;

/// The hard constraint that keeps the arcs together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Constraint {
    NotTwo,
    AtMostOne,
    ExactlyOne,
    /// EXACTLY1 and NO2CYCLE.
    NoTwoCycles,
    Tree,
    ProjectiveTree,
}

impl Constraint {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::NotTwo => "NOT2",
            Self::AtMostOne => "ATMOST1",
            Self::ExactlyOne => "EXACTLY1",
            Self::NoTwoCycles => "EXACTLY1 + NO2CYCLE",
            Self::Tree => "TREE",
            Self::ProjectiveTree => "PTREE",
        }
    }
}

/// How belief propagation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Inference {
    pub(crate) constraint: Constraint,
    pub(crate) iterations: usize,
    pub(crate) order: MessageOrder,
}

impl Inference {
    /// As in the paper: five iterations, all messages at once.
    pub(crate) const PAPER: Self =
        Self { constraint: Constraint::Tree, iterations: 5, order: MessageOrder::Flooding };

    pub(crate) fn with_constraint(self, constraint: Constraint) -> Self {
        Self { constraint, ..self }
    }

    /// As in the parser: TREE sends first.
    pub(crate) const fn tree_first(iterations: usize) -> Self {
        Self { constraint: Constraint::Tree, iterations, order: MessageOrder::TreeFirst }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum MessageOrder {
    Flooding,
    TreeFirst,
}

/// The gradient that a model is trained by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Loss {
    Likelihood,
    Unrolled,
    /// Risk in the second half of the passes, after `Unrolled` in the first.
    Risk,
    /// Exact likelihood of a projective second-order model.
    Exact,
}

/// Settings of a training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Training {
    pub(crate) families: Families,
    pub(crate) loss: Loss,
    pub(crate) inference: Inference,
    pub(crate) passes: usize,
}

/// A sentence.
#[derive(Clone, Debug)]
pub(crate) struct Example {
    pub(crate) atoms: Atoms,
    pub(crate) tags: Tags,
    pub(crate) gold: Vec<usize>,
    /// The tree of the candidate arcs with the most gold heads.
    pub(crate) target: Target,
    /// The projective one.
    pub(crate) projective_target: Target,
    pub(crate) candidates: Candidates,
}

impl Example {
    pub(crate) fn words(&self) -> usize {
        self.gold.len()
    }

    fn target(&self, tree_set: TreeSet) -> &Target {
        if tree_set.is_projective() { &self.projective_target } else { &self.target }
    }
}

/// Weights of arcs and factors.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    arcs: ArcModel,
    factors: Vec<f32>,
    pub(crate) families: Families,
    /// Trees over which the model was trained, and which it decodes to.
    pub(crate) tree_set: TreeSet,
}

/// Memory of a model: the graph of a sentence, its messages, and gradients.
#[derive(Default)]
pub(crate) struct Memory {
    prepared: Prepared,
    scores: ArcMatrix,
    graph: Option<FactorGraph>,
    messages: Messages,
    /// The factor of each log-weight of the graph; `None` for constraints.
    factors: Vec<Option<Factor>>,
    workspace: Workspace,
    best: Vec<usize>,
    expectations: Vec<f64>,
    gradient: Gradient,
    by_arc: ArcMatrix,
    scratch: Scratch,
    beliefs: ArcMatrix,
    sum: SparseSum,
}

impl Memory {
    /// Returns the beliefs of the last run.
    pub(crate) fn beliefs(&mut self) -> &ArcMatrix {
        if let Some(graph) = &self.graph {
            graph.beliefs(&self.messages, &mut self.beliefs);
        }
        &self.beliefs
    }
}

/// The templates of arcs: those of McDonald et al. (2005).
pub(crate) fn templates() -> FeatureSet {
    FeatureSet::mcdonald()
}

impl Model {
    fn new(families: Families, tree_set: TreeSet) -> Self {
        Self {
            arcs: ArcModel::new(templates(), Index::Hashed { bits: ARC_BITS }),
            factors: vec![0.0; 1 << BITS],
            families,
            tree_set,
        }
    }

    /// Trains a model.
    pub(crate) fn train(
        examples: &[Example],
        tree_set: TreeSet,
        training: &Training,
    ) -> Result<Self> {
        let mut model = Self::new(training.families, tree_set);
        let cells = model.arcs.weights.len() + model.factors.len();
        let mut adagrad = AdaGrad::new(cells, RATE, DAMPING);
        let mut average = Average::of_second_half(training.passes);
        let mut order = Order::new(SEED, 0);
        let mut memory = Memory::default();
        for pass in 0..training.passes {
            let first_half = training.passes / 2;
            let progress = pass.checked_sub(first_half).map(|done| {
                (done + 1) as f64 / training.passes.saturating_sub(first_half).max(1) as f64
            });
            for number in order.shuffled(examples.len()) {
                model.accumulate(&examples[number], training, progress, &mut memory)?;
                let (arcs, factors) = (&mut model.arcs.weights, &mut model.factors);
                memory.sum.drain(|cell, slope| {
                    let first = arcs.len();
                    let weight =
                        if cell < first { &mut arcs[cell] } else { &mut factors[cell - first] };
                    adagrad.descend(weight, cell, slope);
                });
            }
            average.add(model.arcs.weights.iter().chain(&model.factors));
        }
        if let Some(mean) = average.mean() {
            let (arcs, factors) = mean.split_at(model.arcs.weights.len());
            model.arcs.weights.copy_from_slice(arcs);
            model.factors.copy_from_slice(factors);
        }
        Ok(model)
    }

    /// Adds the gradient of a sentence to the sum. `risk` is the share of risk in the loss, if its passes have begun.
    fn accumulate(
        &self,
        example: &Example,
        training: &Training,
        risk: Option<f64>,
        memory: &mut Memory,
    ) -> Result<()> {
        match (training.loss, risk) {
            (Loss::Exact, _) => self.accumulate_exact(example, memory),
            (Loss::Likelihood, _) => self.accumulate_beliefs(example, training, memory),
            (Loss::Unrolled, _) | (Loss::Risk, None) => {
                self.accumulate_unrolled(example, training, None, memory)
            }
            (Loss::Risk, Some(risk)) => {
                self.accumulate_unrolled(example, training, Some(risk), memory)
            }
        }
    }

    fn accumulate_beliefs(
        &self,
        example: &Example,
        training: &Training,
        memory: &mut Memory,
    ) -> Result<()> {
        self.run(example, training.inference, false, memory)?;
        let target = example.target(self.tree_set);
        let Memory { graph, messages, expectations, by_arc, .. } = memory;
        let Some(graph) = graph else { return Ok(()) };
        graph.beliefs(messages, by_arc);
        target.tree.arcs().for_each(|arc| by_arc[arc] -= 1.0);
        graph.expectations(messages, expectations);
        let Memory { factors, expectations, .. } = memory;
        for (factor, expected) in factors.iter().zip(expectations) {
            if factor.is_some_and(|factor| target.has(factor)) {
                *expected -= 1.0;
            }
        }
        self.spread(example, memory);
        Ok(())
    }

    fn accumulate_unrolled(
        &self,
        example: &Example,
        training: &Training,
        risk: Option<f64>,
        memory: &mut Memory,
    ) -> Result<()> {
        self.run(example, training.inference, true, memory)?;
        let target = example.target(self.tree_set);
        let gold: Vec<Option<usize>> = target.tree.heads().iter().copied().map(Some).collect();
        let Memory { graph, messages, gradient, by_arc, scratch, beliefs, expectations, .. } =
            memory;
        let Some(graph) = graph else { return Ok(()) };
        let scored = |scores| Scored { scores, gold: &gold, teacher: &[], tree_set: self.tree_set };
        let derivatives = match risk {
            None => {
                graph.tree_scores(messages, beliefs);
                objective::likelihood().evaluate(scored(beliefs), 0.0, scratch, by_arc)?;
                Derivatives { tree_scores: Some(by_arc), ..Derivatives::default() }
            }
            Some(share) => {
                graph.beliefs(messages, beliefs);
                for arc in arcs(example.words()) {
                    if !example.candidates.allows(arc.0, arc.1) {
                        beliefs[arc] = f64::NEG_INFINITY;
                    }
                }
                let risk = share * objective::risk(1.0 / DECODER_TEMPERATURE);
                risk.evaluate(scored(beliefs), 0.0, scratch, by_arc)?;
                for arc in arcs(example.words()) {
                    if example.candidates.allows(arc.0, arc.1) {
                        let observed = f64::from(u8::from(target.has_arc(arc)));
                        by_arc[arc] += 2.0 * (1.0 - share) * (beliefs[arc] - observed);
                    }
                }
                Derivatives { beliefs: Some(by_arc), ..Derivatives::default() }
            }
        };
        graph.backward(messages, derivatives, gradient)?;
        std::mem::swap(by_arc, &mut gradient.arcs);
        std::mem::swap(expectations, &mut gradient.weights);
        self.spread(example, memory);
        Ok(())
    }

    /// Spreads derivatives by scores of arcs and by log-weights of factors over the sum.
    fn spread(&self, example: &Example, memory: &mut Memory) {
        let Memory { prepared, by_arc, expectations, factors, sum, .. } = memory;
        self.arcs.accumulate(prepared, by_arc, NEGLIGIBLE, |cell, amount| sum.add(cell, amount));
        let first = self.arcs.weights.len();
        for (factor, &amount) in factors.iter().zip(&*expectations) {
            if let Some(factor) = factor
                && amount.abs() > NEGLIGIBLE
            {
                example.tags.cells(*factor, |cell| sum.add(first + cell, amount as f32));
            }
        }
    }

    /// Writes the scores of the candidate arcs of a sentence into memory.
    fn score_arcs(&self, example: &Example, memory: &mut Memory) {
        let Memory { prepared, scores, .. } = memory;
        prepared.fill(&self.arcs.features, &example.atoms, |_| true);
        *scores = ArcMatrix::zeros(example.words());
        self.arcs.score(prepared, |h, m| example.candidates.allows(h, m), scores);
    }

    fn weight(&self, example: &Example, factor: Factor) -> f64 {
        let mut sum = 0.0;
        example.tags.cells(factor, |cell| sum += self.factors[cell]);
        f64::from(sum)
    }

    /// Builds the graph of a sentence and runs belief propagation.
    pub(crate) fn run(
        &self,
        example: &Example,
        inference: Inference,
        is_recorded: bool,
        memory: &mut Memory,
    ) -> Result<Report> {
        self.score_arcs(example, memory);
        let Memory { scores, graph, messages, factors, workspace, best, .. } = memory;
        let tree_set = if inference.constraint == Constraint::ProjectiveTree {
            crate::decoder::projective(self.tree_set)
        } else {
            self.tree_set
        };
        match graph {
            Some(graph) => graph.reset(scores, tree_set, workspace, best)?,
            None => *graph = Some(FactorGraph::new(scores, tree_set)?),
        }
        let Some(graph) = graph else { anyhow::bail!("the graph was made above") };
        factors.clear();
        let mut score = |factor| {
            factors.push(Some(factor));
            self.weight(example, factor)
        };
        if self.families.grandparents {
            graph.add_grandparents(|grandparent, head, modifier| {
                score(Factor::Part(Part::Grandparent { grandparent, head, modifier }))
            })?;
        }
        if self.families.crossings == Crossings::Arcs {
            graph.add_crossing_pairs(|one, other| score(Factor::Crossing(one, other)))?;
        }
        graph.set_tree_factor(matches!(
            inference.constraint,
            Constraint::Tree | Constraint::ProjectiveTree
        ));
        match inference.constraint {
            Constraint::NotTwo => graph.add_not_two_heads()?,
            Constraint::AtMostOne => graph.add_at_most_one_head()?,
            Constraint::ExactlyOne => graph.add_exactly_one_head()?,
            Constraint::NoTwoCycles => {
                graph.add_exactly_one_head()?;
                graph.add_no_two_cycles()?;
            }
            Constraint::Tree | Constraint::ProjectiveTree => {}
        }
        // Constraints of two arcs have log-weights, too.
        factors.resize(graph.weight_count(), None);
        if self.families.sequences {
            for (head, side) in
                (0..=example.words()).flat_map(|head| [(head, Side::Left), (head, Side::Right)])
            {
                let is_left = side == Side::Left;
                if graph.modifiers_of(head).any(|modifier| (modifier < head) == is_left) {
                    graph.add_child_sequence(head, side, |inner, outer| {
                        let factor = Factor::Part(step(head, is_left, inner, outer));
                        factors.push(Some(factor));
                        self.weight(example, factor)
                    })?;
                }
            }
        }
        if self.families.crossings == Crossings::Words {
            graph.add_no_crossings(|one, other| {
                let factor = Factor::CrossingWords(one, other);
                factors.push(Some(factor));
                self.weight(example, factor)
            })?;
        }
        let options = Options {
            iterations: inference.iterations,
            schedule: match inference.order {
                MessageOrder::Flooding => Schedule::Flooding,
                MessageOrder::TreeFirst => Schedule::TreeFirst,
            },
            record: is_recorded,
            ..Options::default()
        };
        Ok(graph.run(&options, messages)?)
    }

    /// Writes the heads of the tree with the largest sum of beliefs, in the given set.
    pub(crate) fn decode(
        &self,
        example: &Example,
        inference: Inference,
        tree_set: TreeSet,
        memory: &mut Memory,
        heads: &mut Vec<usize>,
    ) -> Result<Report> {
        let report = self.run(example, inference, false, memory)?;
        if let Some(graph) = &memory.graph {
            graph.decode_with(&mut memory.messages, Decoder::SumOfBeliefs, tree_set, heads)?;
        }
        Ok(report)
    }

    /// Returns the marginals of arcs of the arc-factored part.
    pub(crate) fn arc_marginals(
        &self,
        example: &Example,
        memory: &mut Memory,
    ) -> Result<ArcMatrix> {
        self.score_arcs(example, memory);
        let mut marginals = ArcMatrix::default();
        marginals_with(&memory.scores, self.tree_set, &mut memory.workspace, &mut marginals)?;
        Ok(marginals)
    }

    /// Returns the scores of all parts for exact inference over projective trees. Crossings have none.
    pub(crate) fn parts(&self, example: &Example, memory: &mut Memory) -> Result<SecondOrderParts> {
        self.score_arcs(example, memory);
        let mut scores = SecondOrderParts::new(memory.scores.clone());
        self.visit_parts(example, |part| {
            Ok(scores.set(part, self.weight(example, Factor::Part(part)))?)
        })?;
        Ok(scores)
    }

    /// Visits the parts of the candidate arcs that have features, except arcs.
    fn visit_parts(
        &self,
        example: &Example,
        mut visit: impl FnMut(Part) -> Result<()>,
    ) -> Result<()> {
        let words = example.words();
        let allows = |head: usize, modifier: usize| example.candidates.allows(head, modifier);
        for head in 0..=words {
            let modifiers: Vec<usize> =
                (1..=words).filter(|&word| word != head && allows(head, word)).collect();
            if self.families.sequences {
                let split = modifiers.partition_point(|&word| word < head);
                let left: Vec<usize> = modifiers[..split].iter().rev().copied().collect();
                for (is_left, side) in [(true, &left[..]), (false, &modifiers[split..])] {
                    if side.is_empty() {
                        continue;
                    }
                    visit(step(head, is_left, None, None))?;
                    for (at, &outer) in side.iter().enumerate() {
                        visit(step(head, is_left, None, Some(outer)))?;
                        visit(step(head, is_left, Some(outer), None))?;
                        for &inner in &side[..at] {
                            visit(step(head, is_left, Some(inner), Some(outer)))?;
                        }
                    }
                }
            }
            if self.families.grandparents && head > 0 {
                for grandparent in (0..=words).filter(|&g| g != head && allows(g, head)) {
                    for &modifier in modifiers.iter().filter(|&&word| word != grandparent) {
                        visit(Part::Grandparent { grandparent, head, modifier })?;
                    }
                }
            }
        }
        Ok(())
    }

    fn accumulate_exact(&self, example: &Example, memory: &mut Memory) -> Result<()> {
        let scores = self.parts(example, memory)?;
        let mut marginals = SecondOrderParts::default();
        let set = crate::decoder::projective(self.tree_set);
        second_order_marginals_with(&scores, set, &mut memory.workspace, &mut marginals)?;
        let target = &example.projective_target;
        let mut by_arc = marginals.arcs().clone();
        target.tree.arcs().for_each(|arc| by_arc[arc] -= 1.0);
        memory.by_arc = by_arc;
        memory.factors.clear();
        memory.expectations.clear();
        let Memory { factors, expectations, .. } = memory;
        self.visit_parts(example, |part| {
            let factor = Factor::Part(part);
            let observed = f64::from(u8::from(target.has(factor)));
            factors.push(Some(factor));
            expectations.push(marginals.get(part).unwrap_or(0.0) - observed);
            Ok(())
        })?;
        self.spread(example, memory);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tutte_trees::{Tree, second_order_log_partition_with};

    use super::*;
    use crate::higher_order::corpus::example;

    const TEXT: &str = "\
1\tOld\told\tADJ\tA\t_\t2\tamod\t_\t_
2\ttea\ttea\tNOUN\tN\t_\t4\tnsubj\t_\t_
3\tnow\tnow\tADV\tR\t_\t4\tadvmod\t_\t_
4\tcools\tcool\tVERB\tV\t_\t0\troot\t_\t_
";

    /// A model with weights that look random.
    fn model(families: Families, tree_set: TreeSet) -> Model {
        let mut model = Model::new(families, tree_set);
        let weight = |at: usize| ((at * 37) % 101) as f32 / 300.0 - 0.16;
        model.arcs.weights.iter_mut().enumerate().for_each(|(at, w)| *w = weight(at) / 4.0);
        model.factors.iter_mut().enumerate().for_each(|(at, w)| *w = weight(at + 5));
        model
    }

    fn training(
        loss: Loss,
        families: Families,
        iterations: usize,
        order: MessageOrder,
    ) -> Training {
        let inference = Inference { constraint: Constraint::Tree, iterations, order };
        Training { families, loss, inference, passes: 1 }
    }

    fn loss(model: &Model, example: &Example, training: &Training, risk: Option<f64>) -> f64 {
        let mut memory = Memory::default();
        let target = example.target(model.tree_set);
        if training.loss == Loss::Exact {
            let scores = model.parts(example, &mut memory).unwrap();
            let set = crate::decoder::projective(model.tree_set);
            let log_z =
                second_order_log_partition_with(&scores, set, &mut Workspace::default()).unwrap();
            return log_z - scores.sum_over(&target.tree).unwrap();
        }
        model.run(example, training.inference, false, &mut memory).unwrap();
        let graph = memory.graph.as_ref().unwrap();
        let mut values = ArcMatrix::default();
        match risk {
            None => {
                graph.tree_scores(&memory.messages, &mut values);
                let d = tutte_trees::TreeDistribution::new(values, model.tree_set).unwrap();
                -d.log_prob(&target.tree).unwrap()
            }
            Some(share) => {
                graph.beliefs(&memory.messages, &mut values);
                let has = |arc| f64::from(u8::from(target.has_arc(arc)));
                let squares = |arc| (values[arc] - has(arc)) * (values[arc] - has(arc));
                let error: f64 = arcs(example.words()).map(squares).sum();
                values.map_in_place(|belief| belief / DECODER_TEMPERATURE);
                let d = tutte_trees::TreeDistribution::new(values, model.tree_set).unwrap();
                let right: f64 = target.tree.arcs().map(|(h, m)| d.marginal(h, m).unwrap()).sum();
                share * (example.words() as f64 - right) + (1.0 - share) * error
            }
        }
    }

    /// Every derivative, of weights of arcs and of factors, is that by finite differences.
    #[test]
    fn gradients_are_derivatives() {
        let sentence = TEXT.parse().unwrap();
        let example = example(&sentence, &templates()).unwrap();
        let projective = Families { crossings: Crossings::None, ..Families::ALL };
        let mut cases = vec![(training(Loss::Exact, projective, 1, MessageOrder::Flooding), None)];
        for (iterations, order) in [(1, MessageOrder::TreeFirst), (3, MessageOrder::Flooding)] {
            cases.push((training(Loss::Unrolled, Families::ALL, iterations, order), None));
            cases.push((training(Loss::Risk, Families::ALL, iterations, order), Some(0.7)));
        }
        for tree_set in [TreeSet::NonProjectiveSingleRoot, TreeSet::NonProjectiveMultiRoot] {
            for (training, risk) in &cases {
                let mut model = model(training.families, tree_set);
                let mut memory = Memory::default();
                model.accumulate(&example, training, *risk, &mut memory).unwrap();
                let mut slopes = Vec::new();
                memory.sum.drain(|cell, slope| slopes.push((cell, slope)));
                let first = model.arcs.weights.len();
                assert!(slopes.iter().any(|(cell, _)| *cell >= first), "{training:?}");
                for (cell, slope) in slopes.into_iter().step_by(17) {
                    let mut at = |by: f32| {
                        let weight = if cell < first {
                            &mut model.arcs.weights[cell]
                        } else {
                            &mut model.factors[cell - first]
                        };
                        *weight += by;
                        loss(&model, &example, training, *risk)
                    };
                    let h = 0.02;
                    let [up, down] = [at(h), at(-2.0 * h)];
                    at(h);
                    let expected = (up - down) / f64::from(2.0 * h);
                    let error = (f64::from(slope) - expected).abs();
                    assert!(
                        error < 2e-3 * (1.0 + expected.abs()),
                        "{slope} {expected} {training:?}"
                    );
                }
            }
        }
    }

    /// Without factors, beliefs are exact after one iteration with TREE, and so is their gradient.
    #[test]
    fn without_factors_beliefs_are_marginals() {
        let sentence = TEXT.parse().unwrap();
        let example = example(&sentence, &templates()).unwrap();
        let tree_set = TreeSet::NonProjectiveSingleRoot;
        let model = model(Families::NONE, tree_set);
        let gradient = |loss, order| {
            let mut memory = Memory::default();
            let training = training(loss, Families::NONE, 1, order);
            model.accumulate(&example, &training, None, &mut memory).unwrap();
            memory.sum.take()
        };
        let beliefs = gradient(Loss::Likelihood, MessageOrder::Flooding);
        let unrolled = gradient(Loss::Unrolled, MessageOrder::TreeFirst);
        assert!(beliefs.iter().count() > 50);
        for ((cell, a), (other, b)) in beliefs.iter().zip(unrolled.iter()) {
            assert!(cell == other && (a - b).abs() < 1e-5, "{a} {b}");
        }
    }

    /// Every constraint keeps the trained tree the best, and the memory carries nothing over.
    #[test]
    fn a_learnt_tree_is_found_under_every_constraint() {
        let sentence = TEXT.parse().unwrap();
        let example = example(&sentence, &templates()).unwrap();
        let tree_set = TreeSet::NonProjectiveSingleRoot;
        for families in [Families::NONE, Families::ALL] {
            let training = Training {
                passes: 12,
                ..training(Loss::Likelihood, families, 5, MessageOrder::Flooding)
            };
            let examples = vec![example.clone(); 4];
            let model = Model::train(&examples, tree_set, &training).unwrap();
            let mut memory = Memory::default();
            for constraint in [
                Constraint::NotTwo,
                Constraint::AtMostOne,
                Constraint::ExactlyOne,
                Constraint::NoTwoCycles,
                Constraint::Tree,
                Constraint::ProjectiveTree,
            ] {
                let inference = Inference::PAPER.with_constraint(constraint);
                let mut heads = Vec::new();
                model.decode(&example, inference, tree_set, &mut memory, &mut heads).unwrap();
                assert_eq!(Tree::new(&heads).unwrap().heads(), example.gold, "{constraint:?}");
            }
        }
    }
}
