//! Sums over all trees: the forest.

use tutte_linear::in_parts;
use tutte_treebank::Sentence;
use tutte_trees::{LabelledArcMatrix, LabelledTree, LabelledTreeDistribution, TreeSet, arcs};

use super::Data;
use super::lists::{Candidate, ListedTree};
use crate::learn::objective::{
    LabelledScored, Objective, Scratch, entropy, labelled, likelihood, risk,
};
use crate::{Error, Labelling, Parser, ParserModel, Weights};

/// A sentence with the scores of each expert.
#[derive(Clone, Debug)]
pub struct ExpertSentence {
    /// Scores s_k of the labelled arcs. Without labels, there is one label. An arc that one expert forbids is forbidden.
    pub experts: Vec<LabelledArcMatrix>,
    /// Gold head of each word, `None` if unknown.
    pub gold: Vec<Option<usize>>,
    /// Gold label of each word; `None` if it does not matter. A word is wrong if its head or its label is.
    pub labels: Vec<Option<usize>>,
}

impl ExpertSentence {
    /// Scores a treebank by several models, at temperature 1. Labels matter if they are [joint](Labelling::Joint). Leaves
    /// out sentences without words.
    ///
    /// # Errors
    /// [`Error::Setting`] if the models differ in labels or tree sets, or leave out arcs: they need one pass without a
    /// pruner, as with [`TrainingOptions::plain`](crate::TrainingOptions::plain). Fails if a sentence cannot be parsed.
    pub fn of_treebank<W: Weights + Clone>(
        experts: &[ParserModel<W>],
        treebank: &[Sentence],
        threads: usize,
    ) -> Result<Vec<Self>, Error> {
        check(experts)?;
        let experts: Vec<ParserModel<W>> = experts
            .iter()
            .map(|expert| ParserModel { temperature: 1.0, ..expert.clone() })
            .collect();
        in_parts(treebank, threads, |part| {
            let mut parsers: Vec<_> = experts.iter().map(Parser::new).collect();
            let sentences = part.iter().filter(|sentence| !sentence.is_empty());
            sentences.map(|sentence| Self::new(&mut parsers, sentence)).collect()
        })
    }

    fn new<W: Weights>(parsers: &mut [Parser<'_, W>], sentence: &Sentence) -> Result<Self, Error> {
        let mut experts = Vec::with_capacity(parsers.len());
        let words = sentence.len();
        let mut labels = vec![None; words];
        for parser in &mut *parsers {
            let model = parser.model();
            let scores = if model.labels.labelling() == Labelling::Joint {
                let names = model.labels.labels();
                let number = |label: &str| names.iter().position(|name| name == label);
                labels = sentence.words().map(|word| number(word.deprel())).collect();
                parser.distribution(sentence)?.trees().scores().clone()
            } else {
                let scores = parser.scores(sentence)?;
                LabelledArcMatrix::from_fn(words, 1, |head, word, _| scores[(head, word)])
            };
            experts.push(scores);
        }
        let mut gold: Vec<Option<usize>> = sentence.partial_heads().collect();
        if let Ok(tree) = sentence.tree()
            && parsers.first().is_some_and(|parser| parser.tree_set().is_projective())
        {
            gold = tree.projectivise().heads().iter().copied().map(Some).collect();
        }
        for ((word, label), head) in (1..).zip(&mut labels).zip(&gold) {
            let is_possible = |label| {
                experts.iter().all(|expert: &LabelledArcMatrix| {
                    head.is_none_or(|head| expert[(head, word, label)] > f64::NEG_INFINITY)
                })
            };
            // A label that no expert can give is not asked for.
            *label = label.filter(|label| is_possible(*label));
        }
        Ok(Self { experts, gold, labels })
    }

    /// Returns the scores Σ_k θ_k s_k.
    pub(super) fn sum(&self, weights: &[f64]) -> LabelledArcMatrix {
        let Some(first) = self.experts.first() else { return LabelledArcMatrix::default() };
        let words = first.words();
        LabelledArcMatrix::from_fn(words, first.labels(), |head, word, label| {
            let mut sum = 0.0;
            for (expert, weight) in self.experts.iter().zip(weights) {
                let score = expert[(head, word, label)];
                if score == f64::NEG_INFINITY {
                    return f64::NEG_INFINITY;
                }
                sum += weight * score;
            }
            sum
        })
    }

    /// Adds Σ_e s_k(e) g(e) to the k-th number.
    fn spread(&self, gradient: &LabelledArcMatrix, sums: &mut [f64]) {
        for (head, word) in arcs(gradient.words()) {
            for (label, slope) in gradient.labels_of(head, word).into_iter().flatten().enumerate() {
                if *slope != 0.0 {
                    for (sum, expert) in sums.iter_mut().zip(&self.experts) {
                        *sum += slope * expert[(head, word, label)];
                    }
                }
            }
        }
    }

    /// Returns the number of wrong words of a tree.
    fn errors(&self, tree: &LabelledTree) -> f64 {
        tree.arcs()
            .map(|(head, word, label)| labelled::cost(&self.gold, &self.labels, head, word, label))
            .sum()
    }

    /// Returns the number of errors of the best trees of sentences.
    ///
    /// # Errors
    /// [`Error::Trees`] if a sentence has no tree.
    pub fn errors_of_best(
        sentences: &[Self],
        weights: &[f64],
        tree_set: TreeSet,
    ) -> Result<f64, Error> {
        Ok(Forest { sentences, tree_set }.best(weights)?.0)
    }

    /// Returns the `k` best trees as candidates.
    pub(super) fn kbest(
        &self,
        weights: &[f64],
        k: usize,
        tree_set: TreeSet,
    ) -> Result<Vec<ListedTree>, Error> {
        let best = LabelledTreeDistribution::new(self.sum(weights), tree_set)?.kbest(k);
        let candidate = |tree: &LabelledTree| ListedTree {
            tree: tree.arcs().map(|(head, _, label)| (head as u32, label as u32)).collect(),
            candidate: Candidate {
                features: self.experts.iter().map(|expert| score(expert, tree)).collect(),
                loss: self.errors(tree),
            },
        };
        Ok(best.iter().map(|scored| candidate(&scored.tree)).collect())
    }
}

fn score(expert: &LabelledArcMatrix, tree: &LabelledTree) -> f64 {
    tree.arcs().map(|arc| expert[arc]).sum()
}

/// Refuses experts whose product is not defined.
pub(super) fn check<W>(experts: &[ParserModel<W>]) -> Result<(), Error> {
    let refuse = |why: String| Err(Error::Setting(why));
    let Some(first) = experts.first() else {
        return refuse("there is nothing to combine: name two or more models".to_owned());
    };
    for (number, expert) in (1..).zip(experts) {
        if expert.tree_set != first.tree_set {
            return refuse(format!(
                "expert {number} has the tree set {}, the first has {}; train both with the same --tree-set",
                expert.tree_set, first.tree_set
            ));
        }
        if expert.labels.labels() != first.labels.labels()
            || expert.labels.labelling() != first.labels.labelling()
        {
            return refuse(format!(
                "expert {number} has other labels than the first; train both on the same treebank with the same --labels"
            ));
        }
        if expert.pruner.is_some() || expert.second_pass.is_some() {
            return refuse(format!(
                "expert {number} leaves out arcs, so that a product is not defined; train it with --preset plain"
            ));
        }
    }
    Ok(())
}

/// Data in the form of forests.
#[derive(Debug)]
pub(super) struct Forest<'a> {
    pub(super) sentences: &'a [ExpertSentence],
    pub(super) tree_set: TreeSet,
}

impl Forest<'_> {
    /// Adds the derivatives of an objective by the weights, where `gamma` multiplies the scores. Returns its value.
    fn add(
        &self,
        objective: &Objective,
        weights: &[f64],
        gamma: f64,
        slopes: &mut [f64],
    ) -> Result<f64, Error> {
        let scaled: Vec<f64> = weights.iter().map(|weight| gamma * weight).collect();
        let mut scratch = Scratch::default();
        let mut gradient = LabelledArcMatrix::default();
        let mut value = 0.0;
        let mut sums = vec![0.0; slopes.len()];
        for sentence in self.sentences {
            let scores = sentence.sum(&scaled);
            let scored = LabelledScored {
                scores: &scores,
                gold: &sentence.gold,
                labels: &sentence.labels,
                teacher: &[],
                tree_set: self.tree_set,
            };
            value += objective.evaluate_labelled(scored, 1.0, &mut scratch, &mut gradient)?;
            sentence.spread(&gradient, &mut sums);
        }
        slopes.iter_mut().zip(sums).for_each(|(slope, sum)| *slope += gamma * sum);
        Ok(value)
    }
}

impl Data for Forest<'_> {
    fn experts(&self) -> usize {
        self.sentences.first().map_or(0, |sentence| sentence.experts.len())
    }

    fn likelihood(&self, weights: &[f64], gradient: &mut [f64]) -> Result<f64, Error> {
        self.add(&likelihood(), weights, 1.0, gradient)
    }

    fn risk_and_entropy(
        &self,
        weights: &[f64],
        gamma: f64,
        [of_risk, of_entropy]: [&mut [f64]; 2],
    ) -> Result<[f64; 2], Error> {
        of_risk.fill(0.0);
        of_entropy.fill(0.0);
        let risk = self.add(&risk(1.0), weights, gamma, of_risk)?;
        Ok([risk, self.add(&entropy(), weights, gamma, of_entropy)?])
    }

    fn best(&self, weights: &[f64]) -> Result<(f64, Vec<usize>), Error> {
        let mut errors = 0.0;
        let mut trees = Vec::new();
        for sentence in self.sentences {
            let scores = sentence.sum(weights);
            let labels = scores.labels();
            let best = LabelledTreeDistribution::new(scores, self.tree_set)?.argmax();
            errors += sentence.errors(&best.tree);
            trees.extend(best.tree.arcs().map(|(head, _, label)| head * labels + label));
        }
        Ok((errors, trees))
    }
}
