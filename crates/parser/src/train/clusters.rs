//! Models with latent clusters of arcs: training and scores. What they are, see
//! [`signal::latent`](crate::signal::latent).

use tutte_treebank::Sentence;
use tutte_trees::{ArcMatrix, TreeSet};

use super::{Corpus, Options, Pass, Verdict, check};
use crate::features::{Atoms, FeatureSet, Prepared};
use crate::learner::{Learn as _, Schedule, gaussian};
use crate::signal::latent;
use crate::{ArcModel, Error, Index};

/// A model whose arcs are of Z kinds, each with weights of its own.
#[derive(Clone, Debug)]
pub struct ClusterModel {
    /// A model for each kind, all of the same features.
    pub kinds: Vec<ArcModel>,
    /// The trees that are possible.
    pub tree_set: TreeSet,
}

/// What is done with kinds when arcs are scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinds {
    /// They are summed: for the decoders `map` and `mbr`.
    Summed,
    /// The best is taken: for the decoder `max-z`.
    Best,
}

impl ClusterModel {
    /// A model of some kinds whose weights are drawn from a normal distribution around 0, so that
    /// kinds can come to differ.
    ///
    /// # Errors
    /// [`Error::Setting`] if there is to be no kind, or the deviation is no number.
    pub fn new(
        features: &FeatureSet,
        index: &Index,
        kinds: usize,
        deviation: f64,
        tree_set: TreeSet,
        seed: u64,
    ) -> Result<Self, Error> {
        if kinds == 0 || !(0.0..1e3).contains(&deviation) {
            return Err(Error::Setting(format!(
                "{kinds} kinds of arcs with weights of deviation {deviation} were asked for, but at \
                 least one kind and a deviation from 0 to 1000 are needed"
            )));
        }
        let mut draw = gaussian(seed);
        let kinds = (0..kinds)
            .map(|_| {
                let mut model = ArcModel::new(features.clone(), index.clone());
                if deviation > 0.0 {
                    let weights = model.weights.iter_mut();
                    weights.for_each(|weight| *weight = (deviation * draw()) as f32);
                }
                model
            })
            .collect();
        Ok(Self { kinds, tree_set })
    }

    /// The scores of all arcs of a sentence.
    pub fn scores(&self, sentence: &Sentence, kinds: Kinds) -> ArcMatrix {
        let Some(first) = self.kinds.first() else { return ArcMatrix::zeros(sentence.len()) };
        let atoms = Atoms::new(sentence, first.features.columns());
        let mut prepared = Prepared::default();
        prepared.fill(&first.features, &atoms, |_| true);
        let by_kind = |model: &ArcModel| {
            let mut scores = ArcMatrix::zeros(sentence.len());
            model.score(&prepared, |_, _| true, &mut scores);
            scores
        };
        let scores: Vec<ArcMatrix> = self.kinds.iter().map(by_kind).collect();
        match kinds {
            Kinds::Summed => latent::summed(&scores),
            Kinds::Best => latent::best(&scores),
        }
    }

    /// Trains the model by [`AdaGrad`](crate::Learner::AdaGrad) or [`Sgd`](crate::Learner::Sgd);
    /// `watch` sees it after every pass. Labels and the sizes of tables in the options do not
    /// matter. With one kind this is what [`train`](crate::train) does.
    ///
    /// # Errors
    /// As [`train`](crate::train); [`Error::Setting`] for other learners.
    pub fn train<V: Verdict>(
        mut self,
        treebank: &[Sentence],
        options: &Options,
        mut watch: impl FnMut(Pass, &Self) -> V,
    ) -> Result<Self, Error> {
        check(options)?;
        let Some(first) = self.kinds.first() else { return Ok(self) };
        let corpus = Corpus::new(treebank, &first.features, None, self.tree_set)?;
        let threads = options.threads.max(1);
        let schedule = Schedule { passes: options.passes, seed: options.seed, threads };
        let mut learner = options.learner.gradient(&corpus, &self.kinds, schedule)?;
        let mut learnt = self.clone();
        for number in 1..=options.passes {
            let report = learner.pass(&corpus, &mut self.kinds)?;
            let mean = learner.learnt(&self.kinds);
            let mut rest = mean.as_deref();
            for (kept, model) in learnt.kinds.iter_mut().zip(&self.kinds) {
                let mean = rest.and_then(|rest| rest.split_at_checked(model.weights.len()));
                rest = mean.map(|(_, rest)| rest);
                kept.weights.copy_from_slice(mean.map_or(&model.weights, |(mean, _)| mean));
            }
            let loss = report.loss / corpus.words as f64;
            let pass = Pass { number, second: false, loss, gap: None, converged: false };
            if watch(pass, &learnt).stops() {
                break;
            }
        }
        Ok(learnt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::tests::{SMALL, small_model, treebank};
    use crate::train::train_further;
    use crate::{Learner, signal};
    use tutte_trees::{Workspace, argmax_with};

    const SET: TreeSet = TreeSet::NonProjectiveSingleRoot;

    fn options() -> Options {
        let learner = Learner::AdaGrad {
            objective: signal::likelihood(),
            rate: 0.2,
            damping: 1.0,
            dropout: 0.2,
            batch: 2,
        };
        Options { learner, passes: 8, ..Options::default() }
    }

    fn model(kinds: usize, deviation: f64) -> ClusterModel {
        let features = FeatureSet::parse(SMALL).unwrap();
        let index = Index::Hashed { bits: 14 };
        ClusterModel::new(&features, &index, kinds, deviation, SET, 3).unwrap()
    }

    #[test]
    fn one_kind_is_no_kinds() {
        let treebank = treebank();
        let clustered = model(1, 0.0).train(&treebank, &options(), |_, _| {}).unwrap();
        let plain = small_model(&treebank, SMALL, SET);
        let plain = train_further(plain, &treebank, &options(), |_, _| {}).unwrap();
        assert!(clustered.kinds[0].weights == plain.arcs.weights);
    }

    #[test]
    fn kinds_that_are_alike_score_as_one_and_stay_alike() {
        let treebank = treebank();
        let trained = model(4, 0.0).train(&treebank, &options(), |_, _| {}).unwrap();
        assert!(trained.kinds.windows(2).all(|two| two[0].weights == two[1].weights));
        let sentence = &treebank[3];
        let summed = trained.scores(sentence, Kinds::Summed);
        let best = trained.scores(sentence, Kinds::Best);
        for (head, modifier, score) in summed.arcs() {
            assert!((score - best[(head, modifier)] - 4f64.ln()).abs() < 1e-9);
        }
    }

    #[test]
    fn kinds_learn_and_come_to_differ() {
        let treebank = treebank();
        let mut losses = Vec::new();
        let start = model(3, 0.05);
        let trained = start
            .train(&treebank, &Options { passes: 30, ..options() }, |pass, _| {
                losses.push(pass.loss)
            })
            .unwrap();
        assert!(losses[29] < 0.2 * losses[0], "{losses:?}");
        assert!(trained.kinds[0].weights != trained.kinds[1].weights);
        let mut heads = Vec::new();
        for sentence in &treebank {
            let scores = trained.scores(sentence, Kinds::Summed);
            argmax_with(&scores, SET, &mut Workspace::default(), &mut heads).unwrap();
            assert_eq!(Some(&heads), sentence.heads().as_ref());
        }
    }

    #[test]
    fn what_cannot_be_done_is_told() {
        let features = FeatureSet::parse(SMALL).unwrap();
        let index = Index::Hashed { bits: 14 };
        let none = ClusterModel::new(&features, &index, 0, 0.1, SET, 1).unwrap_err();
        assert!(none.to_string().contains("0 kinds"));
        let options = Options { learner: Learner::Perceptron, ..options() };
        let error = model(2, 0.1).train(&treebank(), &options, |_, _| {}).unwrap_err();
        assert!(error.to_string().contains("perceptron"), "{error}");
    }
}
