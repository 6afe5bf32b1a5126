//! Optimizers: algorithms that move the weights of a model.
//!
//! An optimizer needs two functions of a model: [`ArcModel::score`] turns weights into arc scores, and
//! [`ArcModel::accumulate`] turns one coefficient per arc into a sum of features. Inference on the scores is exact.
//! So every optimizer works in all four tree sets, with and without [labels](crate::Labelling). A word is wrong if
//! its head is wrong, or with labels if its head or its label is wrong.
//!
//! | optimizer | minimises | by |
//! |---|---|---|
//! | [`Perceptron`](Optimizer::Perceptron) | wrong heads of the best tree | w += Φ(gold) − Φ(best) |
//! | [`PassiveAggressive`](Optimizer::PassiveAggressive) | margin violations of the best tree | the shortest step that reaches the margin |
//! | [`Mira`](Optimizer::Mira) | margin violations of the k best trees | the shortest step that reaches all k margins |
//! | [`AdaGrad`](Optimizer::AdaGrad), [`Sgd`](Optimizer::Sgd) | any [`Objective`] | its gradient, sentence by sentence |
//! | [`Lbfgs`](Optimizer::Lbfgs) | any [`Objective`] + prior | its gradient over the treebank |
//! | [`Exponentiated`](Optimizer::Exponentiated) | hinge loss or likelihood + prior | multiplicative steps in the dual |

mod batch;
mod clusters;
mod exponentiated;
mod gradient;
mod joint;
pub(crate) mod lbfgs;
mod mira;
mod mistake;
mod notation;
mod passive_aggressive;
mod scorer;
mod sgd;

use std::io;

use tutte_linear::{AdaGrad, Checkpointed, Codec};

use crate::learn::corpus::Corpus;
use crate::learn::objective::{Objective, distil, likelihood};
use crate::{ArcModel, Error};
use batch::Batch;
use exponentiated::Exponentiated;
pub use exponentiated::{Dual, Rate};
use gradient::{Gradient, StepRule};
pub(crate) use joint::Joint;
use mistake::{MistakeDriven, UpdateRule};
pub use passive_aggressive::{Cost, Update};
pub(crate) use scorer::{Differentiable, PartScorer, PartTable, Scorer, Term};
use sgd::Sgd;

/// Most trees of a sentence that MIRA takes.
const MOST_TREES: usize = 1000;
/// Most past steps that L-BFGS keeps. Each takes two numbers per weight.
const MOST_STEPS: usize = 1000;
/// Most sentences of a batch.
const MOST_SENTENCES: usize = 1_000_000;

/// A training algorithm with its parameters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Optimizer {
    /// The averaged perceptron (Collins 2002).
    Perceptron,
    /// Passive-aggressive updates (Crammer et al. 2006; Nguyen et al. 2007), averaged.
    PassiveAggressive {
        /// PA, PA-I or PA-II.
        update: Update,
        /// Margin by which the gold tree must win.
        cost: Cost,
    },
    /// MIRA (McDonald, Crammer & Pereira 2005), averaged.
    Mira {
        /// Number of best trees that the gold tree must beat.
        k: usize,
        /// C, upper bound on the step towards each tree's margin; infinite in the paper.
        c: f64,
    },
    /// AdaGrad (Duchi, Hazan & Singer 2011). The result is the mean of the weights after each pass of the second
    /// half.
    AdaGrad {
        /// Objective to minimise.
        objective: Objective,
        /// η, the step size.
        rate: f32,
        /// δ, added to the sum of squared gradients of each weight; damps the first steps.
        damping: f32,
        /// Share of templates left out, drawn for each sentence, so that weights do not rely on one template.
        dropout: f64,
        /// Sentences per step.
        batch: usize,
    },
    /// Stochastic gradient descent (Smith & Smith 2007). The result is the mean of the weights after each pass of
    /// the second half.
    Sgd {
        /// Objective to minimise.
        objective: Objective,
        /// η₀, the size of the first steps.
        rate: f64,
        /// C, the variance of a Gaussian prior on weights; `None` for no prior.
        prior: Option<f64>,
        /// Share of templates left out, drawn for each sentence.
        dropout: f64,
        /// Sentences per step.
        batch: usize,
    },
    /// L-BFGS (Liu & Nocedal 1989) on C times the objective of the whole treebank + ½‖w‖². A pass is one step;
    /// fewer passes are a form of early stopping (Koo et al. 2007).
    Lbfgs {
        /// Objective to minimise.
        objective: Objective,
        /// C, the variance of the Gaussian prior on weights.
        c: f64,
        /// Number of past steps kept to estimate the curvature.
        memory: usize,
    },
    /// Exponentiated gradient (Koo et al. 2007) on C times the loss of the whole treebank + ½‖w‖².
    Exponentiated {
        /// Max-margin or log-linear.
        dual: Dual,
        /// C, the variance of the Gaussian prior on weights.
        c: f64,
        /// β, the initial score of gold arcs; 9 in the paper.
        beta: f64,
        /// Choice of step sizes.
        rate: Rate,
        /// Share of the primal objective at which the duality gap ends training. `None` skips the gap, which costs
        /// one more inference per sentence and pass.
        gap: Option<f64>,
    },
}

impl Default for Optimizer {
    /// Likelihood by AdaGrad with template dropout: accurate and well calibrated.
    fn default() -> Self {
        Self::AdaGrad { objective: likelihood(), rate: 0.05, damping: 10.0, dropout: 0.3, batch: 1 }
    }
}

/// Settings of a training run that optimizers need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    pub(crate) passes: usize,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
}

/// Result of a pass, summed over the treebank; see [`Pass`](crate::Pass).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Report {
    pub(crate) loss: f64,
    pub(crate) gap: Option<f64>,
    pub(crate) converged: bool,
}

impl Checkpointed for Report {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        codec.value(&mut self.loss)?;
        let mut has_gap = self.gap.is_some();
        let mut gap = self.gap.unwrap_or_default();
        codec.flag(&mut has_gap)?;
        codec.value(&mut gap)?;
        self.gap = has_gap.then_some(gap);
        codec.flag(&mut self.converged)
    }
}

/// An optimizer at work on a model. Its checkpoint holds its state, without the model's weights.
pub(crate) trait OptimizerRun<S = ArcModel>: Checkpointed {
    /// Makes one pass over the corpus and moves the weights of the model.
    fn pass(&mut self, corpus: &Corpus<'_>, model: &mut S) -> Result<Report, Error>;

    /// Returns the weights to keep after a pass, such as a mean; `None` for those of the model.
    fn weights_to_keep(&self, model: &S) -> Option<Vec<f32>>;
}

impl Optimizer {
    /// Starts a run on a corpus.
    pub(crate) fn start<S: PartScorer + 'static>(
        &self,
        corpus: &Corpus<'_>,
        model: &mut S,
        schedule: Schedule,
    ) -> Result<Box<dyn OptimizerRun<S>>, Error> {
        let cells = model.cells();
        Ok(match self.clone() {
            Optimizer::Perceptron => {
                Box::new(MistakeDriven::new(UpdateRule::Perceptron, cells, schedule.seed))
            }
            Optimizer::PassiveAggressive { update, cost } => {
                let rule = UpdateRule::PassiveAggressive { update, cost };
                Box::new(MistakeDriven::new(rule, cells, schedule.seed))
            }
            Optimizer::Mira { k, c } => {
                Box::new(MistakeDriven::new(UpdateRule::Mira { k, c }, cells, schedule.seed))
            }
            Optimizer::AdaGrad { .. } | Optimizer::Sgd { .. } => {
                Box::new(self.gradient(corpus, model, schedule)?)
            }
            Optimizer::Lbfgs { objective, c, memory } => {
                Box::new(Batch::new(objective, c, memory, schedule.threads, corpus, model)?)
            }
            Optimizer::Exponentiated { dual, c, beta, rate, gap } => {
                Box::new(Exponentiated::new(dual, c, beta, rate, gap, corpus, model)?)
            }
        })
    }

    /// Starts a run of AdaGrad or SGD, on a model of any type.
    pub(crate) fn gradient<S: Scorer>(
        &self,
        corpus: &Corpus<'_>,
        model: &S,
        schedule: Schedule,
    ) -> Result<Gradient<S>, Error> {
        let cells = model.cells();
        let (objective, dropout, batch, step) = match self {
            Optimizer::AdaGrad { objective, rate, damping, dropout, batch } => {
                let step = StepRule::AdaGrad(AdaGrad::new(cells, *rate, *damping));
                (objective, *dropout, *batch, step)
            }
            Optimizer::Sgd { objective, rate, prior, dropout, batch } => {
                let step = StepRule::Sgd(Sgd::new(*rate, *prior, corpus.examples.len()));
                (objective, *dropout, *batch, step)
            }
            other => return Err(other.needs_one_cluster()),
        };
        Ok(Gradient::new(objective.clone(), step, dropout, batch, schedule))
    }

    /// Adds the term [`distil`] to the objective, if there is one. Optimizers without an objective take the best tree of
    /// a teacher as gold.
    pub(crate) fn learning_from_teachers(mut self) -> Self {
        if let Self::AdaGrad { objective, .. }
        | Self::Sgd { objective, .. }
        | Self::Lbfgs { objective, .. } = &mut self
            && !objective.has_distil()
        {
            *objective = objective.clone() + distil();
        }
        self
    }

    /// Returns the objective, if it minimises one.
    pub(crate) fn objective(&self) -> Option<&Objective> {
        match self {
            Self::AdaGrad { objective, .. }
            | Self::Sgd { objective, .. }
            | Self::Lbfgs { objective, .. } => Some(objective),
            _ => None,
        }
    }

    /// Returns the optimizer with another objective, if it minimises one.
    pub(crate) fn with_objective(&self, other: Option<Objective>) -> Self {
        let mut optimizer = self.clone();
        if let Self::AdaGrad { objective, .. }
        | Self::Sgd { objective, .. }
        | Self::Lbfgs { objective, .. } = &mut optimizer
            && let Some(other) = other
        {
            *objective = other;
        }
        optimizer
    }

    /// True if it minimises an [`Objective`]. Only then may gold trees be partial.
    pub(crate) fn follows_gradients(&self) -> bool {
        matches!(self, Self::AdaGrad { .. } | Self::Sgd { .. } | Self::Lbfgs { .. })
    }

    /// Returns the error for latent clusters with an optimizer that cannot train them.
    pub(crate) fn needs_one_cluster(&self) -> Error {
        let name = self.name();
        Error::Setting(format!(
            "{name} cannot train more than one cluster per arc; use adagrad or sgd, or one cluster"
        ))
    }

    /// Checks that every parameter is in its range.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self {
            Optimizer::Perceptron => Ok(()),
            Optimizer::PassiveAggressive { update: Update::Pa, .. } => Ok(()),
            Optimizer::PassiveAggressive {
                update: Update::PaI { c } | Update::PaII { c }, ..
            } => positive("C", *c),
            Optimizer::Mira { k, .. } if !(1..=MOST_TREES).contains(k) => {
                Err(Error::Setting(format!(
                    "k is {k}; MIRA takes the k best trees of each sentence: choose 1 to {MOST_TREES}"
                )))
            }
            Optimizer::Mira { c, .. } if *c == f64::INFINITY => Ok(()),
            Optimizer::Mira { c, .. } => positive("C", *c),
            Optimizer::AdaGrad { objective, rate, damping, dropout, batch } => {
                positive("the rate", f64::from(*rate))?;
                positive("the damping", f64::from(*damping))?;
                online(objective, *dropout, *batch)
            }
            Optimizer::Sgd { objective, rate, prior, dropout, batch } => {
                positive("the rate", *rate)?;
                prior.map_or(Ok(()), |c| positive("C", c))?;
                online(objective, *dropout, *batch)
            }
            Optimizer::Lbfgs { objective, .. } if objective.is_annealed() => Err(Error::Setting(
                "the objective cannot change during L-BFGS; write risk(GAMMA) instead of \
                 risk(FROM..TO), and one factor instead of FROM..TO"
                    .to_owned(),
            )),
            Optimizer::Lbfgs { memory, .. } if *memory > MOST_STEPS => {
                Err(Error::Setting(format!(
                    "memory is {memory}; L-BFGS keeps this many past steps: choose at most {MOST_STEPS}"
                )))
            }
            Optimizer::Lbfgs { objective, c, .. } => {
                positive("C", *c)?;
                online(objective, 0.0, 1)
            }
            Optimizer::Exponentiated { c, beta, gap, .. } => {
                positive("C", *c)?;
                positive("beta", *beta)?;
                gap.map_or(Ok(()), |gap| positive("the gap to stop at", gap))
            }
        }
    }
}

fn positive(name: &str, value: f64) -> Result<(), Error> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::Setting(format!("{name} is {value}; it must be a positive number")))
}

fn online(objective: &Objective, dropout: f64, batch: usize) -> Result<(), Error> {
    if let Some(problem) = objective.problem() {
        return Err(Error::Setting(problem));
    }
    if !(0.0..1.0).contains(&dropout) {
        let why = format!("the dropout is {dropout}; it must be 0 or more and less than 1");
        return Err(Error::Setting(why));
    }
    if !(1..=MOST_SENTENCES).contains(&batch) {
        let why = format!("the batch size is {batch}; choose 1 to {MOST_SENTENCES} sentences");
        return Err(Error::Setting(why));
    }
    Ok(())
}
