//! One model of two: the scores of features and of a network, added with weights that held-out trees decide.
//!
//! ```text
//! θ(h → m) = a₁ · θ_features(h → m) + a₂ · s(h, m)        p(y) ∝ exp Σ_{h→m ∈ y} θ(h → m)
//!
//! L(a) = Σ log p(y)        ∂L/∂aᵢ = Σ Fᵢ(y) − E Fᵢ        ∂²L/∂aᵢ∂aⱼ = −Σ Cov(Fᵢ, Fⱼ)
//! ```
//!
//! with F₁ and F₂ the scores of a whole tree by each scorer. Expectations and covariances are those of the exact
//! distribution over trees. L is concave, and Newton's method finds its maximum in a few steps of O(n³) per sentence.
//! The labels of gold arcs have two weights of their own, in a softmax over labels instead of trees. The result is a
//! logarithmic opinion pool (Hinton 2002; Smith, Cohn & Osborne 2005). The sum of its weights is an inverse temperature.
//! A weak prior around the geometric mean, ½ and ½, decides where held-out trees do not: if they are few, or if both
//! scorers are certain of all of them.
//!
//! Arcs are those of the mixed model (`parse/parser/mixing.rs`) and, so that every gold tree has a probability, gold
//! arcs. Tags come from the model, as they will in use: from its tagger or from its network, whichever finds more UPOS of
//! the held-out trees (`mix/tags.rs`). Factors of the features refine the sums, with a weight of their own
//! (`mix/factors.rs`).

mod factors;
mod tags;

use std::sync::Arc;

use tutte_linear::in_parts;
use tutte_treebank::Sentence;
use tutte_trees::{ArcMatrix, TreeDistribution, TreeSet, arcs};

pub use self::factors::FactorWeight;
use self::factors::{Refinable, best_weight};
pub use self::tags::TagAccuracy;
use crate::features::Atoms;
use crate::model::labels::ArcLabels;
use crate::parse::ScoreParts;
use crate::{
    Compact, Error, FactorModel, LabelModel, Model, ParserModel, Pipeline, ScoreWeights,
    ScorerWeights, TagSource,
};

/// Variance of the prior of weights.
const PRIOR_VARIANCE: f64 = 100.0;

/// Largest number of Newton steps.
const STEPS: usize = 50;

/// A model of features and a network, and how well it knows held-out trees.
#[derive(Debug)]
#[non_exhaustive]
pub struct Mixed {
    /// The model. Its temperature is 1, and it has no calibration yet.
    pub model: Model<Compact>,
    /// The weights.
    pub weights: ScoreWeights,
    /// Number of words of the held-out trees.
    pub words: usize,
    /// Log-likelihood per word of the held-out trees: by both scorers, by features alone and by the network alone, each
    /// with its best weights and without factors.
    pub log_likelihoods: [f64; 3],
    /// Weight of factors, if the features have some.
    pub factors: Option<FactorWeight>,
    /// Accuracy of tags, if both models find tags. The model takes the better ones; of equals, those of the network.
    pub tags: Option<TagAccuracy>,
}

/// Joins a model of features and a model with a network. Learns the weights of their scores on held-out trees, which
/// neither was trained on. Tokenizer and tagger are those of the first model, or of the second if it has none. Tags are
/// those of the tagger if it finds more UPOS of the held-out trees than the network.
///
/// # Errors
/// [`Error::Setting`] if a model has no parser of its kind, or if the models differ in labels or tree sets;
/// [`Error::NothingToJudge`] if no held-out sentence has a whole tree of the tree set.
pub fn mix(
    features: &Model<Compact>,
    network: &Model<Compact>,
    held_out: &[Sentence],
    threads: usize,
) -> Result<Mixed, Error> {
    let mut model = joined(features, network)?;
    let tag_accuracy = tags::choose(&mut model, held_out, threads)?;
    let tree_set = model.require_parser()?.tree_set;
    let tags = if model.finds_tags() { TagSource::Model } else { TagSource::Given };
    let pipeline = Pipeline::new(&model).with_tags(tags).with_readings(1);
    let scored = in_parts(held_out, threads, |part| score(&pipeline, part))?;
    let scored: Vec<Held> = scored.into_iter().flatten().collect();
    if scored.is_empty() {
        return Err(Error::NothingToJudge);
    }
    let of_arcs = |weights: [f64; 2]| -> Result<Moments, Error> {
        let parts = in_parts(&scored, threads, |part| {
            part.iter().map(|held| held.arc_moments(weights, tree_set)).collect()
        })?;
        Ok(Moments::sum(&parts))
    };
    let of_labels = |weights: [f64; 2]| -> Result<Moments, Error> {
        let parts = scored.iter().flat_map(|held| &held.labels);
        Ok(Moments::sum(&parts.map(|label| label.moments(weights)).collect::<Vec<_>>()))
    };
    let words: usize = scored.iter().map(|held| held.gold.len()).sum();
    let mut log_likelihoods = [0.0; 3];
    let mut found = [[0.0; 2]; 2];
    let mut of_found_labels = 0.0;
    // Which weights may move: both, or one of them.
    let choices = [[true, true], [true, false], [false, true]];
    for (total, movable) in log_likelihoods.iter_mut().zip(choices) {
        let arcs = maximum(movable, of_arcs)?;
        let labels = maximum(movable, of_labels)?;
        let value_of_labels = of_labels(labels)?.value;
        *total = (of_arcs(arcs)?.value + value_of_labels) / words as f64;
        if movable == [true, true] {
            found = [arcs, labels];
            of_found_labels = value_of_labels;
        }
    }
    let [arcs, labels] = found.map(|[features, network]| ScorerWeights { features, network });
    let weights = ScoreWeights { arcs, labels };
    let factors = match factors_of(&model) {
        None => None,
        Some(factors) => {
            let refinable = scored.into_iter().filter_map(|held| held.refinable(weights));
            let refinable: Vec<Refinable> = refinable.collect();
            let (weight, value) = best_weight(&refinable, factors, tree_set, threads)?;
            let log_likelihood = (value + of_found_labels) / words as f64;
            Some(FactorWeight { weight, log_likelihood })
        }
    };
    if let Some(parser) = &mut model.parser {
        let scorer = parser.network.take().map(Arc::unwrap_or_clone);
        parser.network = scorer.map(|scorer| Arc::new(scorer.with_score_weights(weights)));
        if let Some(second_pass) = &mut parser.second_pass {
            let weight = factors.map_or(0.0, |factors| factors.weight);
            let kept = second_pass.factors.take().filter(|_| weight > 0.0);
            second_pass.factors = kept.map(|factors| factors.scaled_by(weight));
        }
    }
    Ok(Mixed { model, weights, words, log_likelihoods, factors, tags: tag_accuracy })
}

/// Returns the factors of a model.
fn factors_of(model: &Model<Compact>) -> Option<&FactorModel<Compact>> {
    model.parser.as_ref()?.second_pass.as_ref()?.factors.as_ref()
}

/// Joins two models, with weights of 1.
fn joined(features: &Model<Compact>, network: &Model<Compact>) -> Result<Model<Compact>, Error> {
    let wrong = |why: String| Err(Error::Setting(why));
    let [first, second] = [features.require_parser()?, network.require_parser()?];
    if first.network.is_some() || first.arcs.features.templates().is_empty() {
        return wrong(
            "the first model has no features alone; train one without --encoder".to_owned(),
        );
    }
    let scorer = second.network.as_deref().filter(|scorer| scorer.score_weights().is_none());
    let Some(scorer) = scorer else {
        return wrong(
            "the second model is not a network alone; train one with --encoder".to_owned(),
        );
    };
    if first.clusters() > 1 {
        return wrong("features with latent clusters cannot be joined with a network".to_owned());
    }
    if first.tree_set != second.tree_set {
        return wrong(format!(
            "the tree set of the features is {}, that of the network is {}; train both with the same --tree-set",
            first.tree_set, second.tree_set
        ));
    }
    check_labels(&first.labels, &second.labels)?;
    let scorer = scorer.clone().with_score_weights(ScoreWeights::default());
    let parser = ParserModel {
        network: Some(Arc::new(scorer)),
        temperature: 1.0,
        calibration: None,
        text_calibration: None,
        ..first.clone()
    };
    Ok(Model {
        parser: Some(parser),
        tagger: features.tagger.clone().or_else(|| network.tagger.clone()),
        tokenizer: features.tokenizer.clone().or_else(|| network.tokenizer.clone()),
    })
}

/// Refuses two models with different labels.
fn check_labels(
    features: &LabelModel<Compact>,
    network: &LabelModel<Compact>,
) -> Result<(), Error> {
    if features.labels() == network.labels() {
        return Ok(());
    }
    let all = features.labels().iter().chain(network.labels());
    let is_shared =
        |label: &&String| features.labels().contains(label) && network.labels().contains(label);
    let different = all.clone().find(|label| !is_shared(label)).or(all.clone().next());
    let different = different.map_or("none", String::as_str);
    Err(Error::Setting(format!(
        "the models have different labels, such as {different}; train both on the same treebank"
    )))
}

/// A held-out sentence with the scores of both scorers.
#[derive(Debug)]
struct Held {
    /// Scores of features and of the network; 0 for arcs that are not scored.
    scores: [ArcMatrix; 2],
    /// 0 for arcs that are scored, −∞ for all others.
    allowed: ArcMatrix,
    gold: Vec<usize>,
    labels: Vec<HeldLabel>,
    /// All that factors look at, if the model has factors.
    seen: Option<Seen>,
}

/// All that factors look at, besides scores of arcs.
#[derive(Debug)]
struct Seen {
    atoms: Atoms,
    /// Label scores of features and of the network.
    labels: [ArcLabels; 2],
}

/// The label scores of a gold arc: for each label that it may have, those of features and of the network.
#[derive(Debug)]
struct HeldLabel {
    scores: Vec<[f64; 2]>,
    gold: usize,
}

/// Scores the sentences that have a whole tree; `None` for the others.
fn score(
    pipeline: &Pipeline<'_, Compact>,
    sentences: &[Sentence],
) -> Result<Vec<Option<Held>>, Error> {
    let model = pipeline.parser()?;
    let second_pass = model.second_pass.as_ref();
    let has_factors = second_pass.is_some_and(|second_pass| second_pass.factors.is_some());
    let mut annotator = pipeline.annotator();
    let score = |sentence: &Sentence| -> Result<Option<Held>, Error> {
        let Ok(mut tree) = sentence.tree() else { return Ok(None) };
        if model.tree_set.is_projective() {
            tree = tree.projectivise();
        }
        if sentence.is_empty() || tree.check_in(model.tree_set).is_err() {
            return Ok(None);
        }
        let gold = tree.heads().to_vec();
        let heads: Vec<Option<usize>> = gold.iter().copied().map(Some).collect();
        let mut tagged = sentence.clone();
        annotator.tag(&mut tagged)?;
        let parser = annotator.parser()?;
        let Some(parts) = parser.parts_of(&tagged, &heads)? else { return Ok(None) };
        let atoms = has_factors.then(|| parser.atoms().clone());
        let numbers = model.labels.labels();
        let words = (1..).zip(sentence.words()).zip(&gold);
        let labels = words.filter_map(|((modifier, word), &head)| {
            let gold = numbers.iter().position(|label| label == word.deprel())?;
            HeldLabel::new(&parts, (head, modifier), gold)
        });
        let labels = labels.collect();
        let ScoreParts { features, network, feature_labels, network_labels } = parts;
        let seen = atoms.map(|atoms| Seen { atoms, labels: [feature_labels, network_labels] });
        Ok(Some(Held { seen, ..Held::new([features, network], gold, labels) }))
    };
    sentences.iter().map(score).collect()
}

impl Held {
    fn new(mut scores: [ArcMatrix; 2], gold: Vec<usize>, labels: Vec<HeldLabel>) -> Self {
        let mut allowed = ArcMatrix::zeros(gold.len());
        for arc in arcs(gold.len()) {
            if scores.iter().any(|scores| scores[arc] == f64::NEG_INFINITY) {
                allowed[arc] = f64::NEG_INFINITY;
                scores.iter_mut().for_each(|scores| scores[arc] = 0.0);
            }
        }
        Self { scores, allowed, gold, labels, seen: None }
    }

    /// Returns the weighted sums of both scorers; −∞ for arcs that are not scored.
    fn sums(&self, weights: [f64; 2]) -> ArcMatrix {
        let [first, second] = &self.scores;
        let mut sums = self.allowed.clone();
        for arc in arcs(self.gold.len()) {
            sums[arc] += weights[0] * first[arc] + weights[1] * second[arc];
        }
        sums
    }

    /// Returns the sentence as factors see it, with these weights of both scorers.
    fn refinable(self, weights: ScoreWeights) -> Option<Refinable> {
        let scores = self.sums([weights.arcs.features, weights.arcs.network]);
        let Self { gold, seen, .. } = self;
        let Seen { atoms, labels: [features, network] } = seen?;
        let mut labels = ArcLabels::default();
        labels.mix(&features, &network, weights.labels);
        Some(Refinable { atoms, scores, labels, gold })
    }

    /// Returns log p of the gold tree and its derivatives by the weights.
    fn arc_moments(&self, weights: [f64; 2], tree_set: TreeSet) -> Result<Moments, Error> {
        let scores = self.sums(weights);
        let gold = |scores: &ArcMatrix| -> f64 {
            (1..).zip(&self.gold).map(|(modifier, head)| scores[(*head, modifier)]).sum()
        };
        let of_gold = gold(&scores);
        let trees = TreeDistribution::new(scores, tree_set)?;
        let mut gradient = [0.0; 2];
        let mut curvature = [[0.0; 2]; 2];
        for (at, own) in self.scores.iter().enumerate() {
            gradient[at] = gold(own) - trees.expectation(own)?;
            for (other, scores) in self.scores.iter().enumerate() {
                curvature[at][other] = trees.covariance(own, scores)?;
            }
        }
        Ok(Moments { value: of_gold - trees.log_partition(), gradient, curvature })
    }
}

impl HeldLabel {
    /// Takes the label scores of an arc. `None` if it may not have its gold label.
    fn new(parts: &ScoreParts, (head, modifier): (usize, usize), gold: usize) -> Option<Self> {
        let [features, network] = [&parts.feature_labels, &parts.network_labels]
            .map(|labels| labels.of(head, modifier).unwrap_or_default());
        let mut scores = Vec::new();
        let mut place = None;
        for (label, pair) in features.iter().zip(network).enumerate() {
            let pair = [f64::from(*pair.0), f64::from(*pair.1)];
            if pair.contains(&f64::NEG_INFINITY) {
                continue;
            }
            if label == gold {
                place = Some(scores.len());
            }
            scores.push(pair);
        }
        place.map(|gold| Self { scores, gold })
    }

    /// Returns log p of the gold label and its derivatives by the weights.
    fn moments(&self, weights: [f64; 2]) -> Moments {
        let score = |pair: &[f64; 2]| weights[0] * pair[0] + weights[1] * pair[1];
        let highest = self.scores.iter().map(score).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = self.scores.iter().map(|pair| (score(pair) - highest).exp()).sum();
        let mut mean = [0.0; 2];
        let mut products = [[0.0; 2]; 2];
        for pair in &self.scores {
            let prob = (score(pair) - highest).exp() / sum;
            for at in 0..2 {
                mean[at] += prob * pair[at];
                for other in 0..2 {
                    products[at][other] += prob * pair[at] * pair[other];
                }
            }
        }
        let gold = &self.scores[self.gold];
        let mut moments = Moments { value: score(gold) - highest - sum.ln(), ..Moments::default() };
        for at in 0..2 {
            moments.gradient[at] = gold[at] - mean[at];
            for other in 0..2 {
                moments.curvature[at][other] = products[at][other] - mean[at] * mean[other];
            }
        }
        moments
    }
}

/// A log-likelihood, its gradient, and the negative of its matrix of second derivatives.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    value: f64,
    gradient: [f64; 2],
    curvature: [[f64; 2]; 2],
}

impl Moments {
    fn sum(parts: &[Moments]) -> Self {
        let mut sum = Self::default();
        for part in parts {
            sum.value += part.value;
            for at in 0..2 {
                sum.gradient[at] += part.gradient[at];
                for other in 0..2 {
                    sum.curvature[at][other] += part.curvature[at][other];
                }
            }
        }
        sum
    }

    /// Adds the log-density of the prior with these means.
    fn with_prior(mut self, weights: [f64; 2], means: [f64; 2]) -> Self {
        for (at, (weight, mean)) in weights.into_iter().zip(means).enumerate() {
            let distance = weight - mean;
            self.value -= distance * distance / (2.0 * PRIOR_VARIANCE);
            self.gradient[at] -= distance / PRIOR_VARIANCE;
            self.curvature[at][at] += 1.0 / PRIOR_VARIANCE;
        }
        self
    }

    /// Returns the Newton step of the weights that may move.
    fn step(&self, movable: [bool; 2]) -> [f64; 2] {
        let [[a, b], [c, d]] = self.curvature;
        let [g, h] = self.gradient;
        match movable {
            [true, true] => {
                let determinant = a * d - b * c;
                [(d * g - b * h) / determinant, (a * h - c * g) / determinant]
            }
            [true, false] => [g / a, 0.0],
            [false, true] => [0.0, h / d],
            [false, false] => [0.0, 0.0],
        }
    }
}

/// Returns the means of the prior: 0 for a weight that may not move; the others share 1.
fn prior_means(movable: [bool; 2]) -> [f64; 2] {
    let count = movable.iter().filter(|is_movable| **is_movable).count().max(1) as f64;
    movable.map(|is_movable| if is_movable { 1.0 / count } else { 0.0 })
}

/// Returns the weights with the greatest value. The search starts at the means of the prior.
fn maximum(
    movable: [bool; 2],
    evaluate: impl Fn([f64; 2]) -> Result<Moments, Error>,
) -> Result<[f64; 2], Error> {
    /// A step below this ends the search.
    const SMALLEST: f64 = 1e-7;
    let means = prior_means(movable);
    let mut weights = means;
    let mut here = evaluate(weights)?.with_prior(weights, means);
    for _ in 0..STEPS {
        let step = here.step(movable);
        let mut share = 1.0;
        // Far from the maximum, a whole step may overshoot.
        let (next, there) = loop {
            let next = [weights[0] + share * step[0], weights[1] + share * step[1]];
            let there = evaluate(next)?.with_prior(next, means);
            if there.value >= here.value || share < SMALLEST {
                break (next, there);
            }
            share /= 2.0;
        };
        if there.value < here.value {
            break;
        }
        weights = next;
        here = there;
        if step.iter().all(|part| part.abs() < SMALLEST) {
            break;
        }
    }
    Ok(weights)
}

#[cfg(test)]
mod tests;
