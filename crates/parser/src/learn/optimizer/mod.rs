//! Learners: what moves the weights of arcs.
//!
//! All of them need two calls of a model, [`ArcModel::score`] (weights to arc scores) and
//! [`ArcModel::accumulate`] (a coefficient an arc to a sum of features), and exact inference on the
//! scores; so all of them work in all four tree sets, and on arcs with [labels](crate::Labelling)
//! as on bare ones. "Wrong" is a head, or with labels a head or label.
//!
//! | learner | what it makes small | how |
//! |---|---|---|
//! | [`Perceptron`](Optimizer::Perceptron) | wrong heads of the best tree | w += Φ(gold) − Φ(best) |
//! | [`PassiveAggressive`](Optimizer::PassiveAggressive) | the same, with a margin | the smallest step that gains it |
//! | [`Mira`](Optimizer::Mira) | the same against the k best | the smallest step that gains all k |
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
use crate::learn::objective::{Objective, likelihood};
use crate::{ArcModel, Error};
use batch::Batch;
pub use batch::SHARDS;
use exponentiated::Exponentiated;
pub use exponentiated::{Dual, Rate};
use gradient::{Gradient, Step};
pub(crate) use joint::Joint;
use mistake::{MistakeDriven, Rule};
pub use passive_aggressive::{Cost, Update};
use scorer::{PartScorer, Scorer};
use sgd::Sgd;

/// A way to learn, with its parameters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Optimizer {
    /// The averaged perceptron (Collins 2002).
    Perceptron,
    /// Passive-aggressive learning (Crammer et al. 2006; Nguyen et al. 2007), averaged.
    PassiveAggressive {
        /// PA, PA-I or PA-II.
        update: Update,
        /// The margin by which trees must lose.
        cost: Cost,
    },
    /// MIRA (McDonald, Crammer & Pereira 2005), averaged.
    Mira {
        /// How many of the best trees must lose.
        k: usize,
        /// C, the most by which a step may follow one tree; infinite in the paper.
        c: f64,
    },
    /// AdaGrad (Duchi, Hazan & Singer 2011); the mean of the weights after each pass of the second
    /// half.
    AdaGrad {
        /// What is made small.
        objective: Objective,
        /// η, the size of steps.
        rate: f32,
        /// δ, how much each weight counts as moved before it has.
        damping: f32,
        /// The share of templates left out, sentence by sentence, so that none is relied on alone.
        dropout: f64,
        /// Sentences a step.
        batch: usize,
    },
    /// Stochastic gradient descent (Smith & Smith 2007); the mean of the weights after each pass of
    /// the second half.
    Sgd {
        /// What is made small.
        objective: Objective,
        /// η₀, the size of the first steps.
        rate: f64,
        /// C, the variance of a Gaussian prior on weights, if there is to be one.
        prior: Option<f64>,
        /// The share of templates left out, sentence by sentence.
        dropout: f64,
        /// Sentences a step.
        batch: usize,
    },
    /// L-BFGS (Liu & Nocedal 1989) on C times the objective of the whole treebank + ½‖w‖². Passes
    /// are its steps; fewer are a way to keep from fitting too closely (Koo et al. 2007).
    Lbfgs {
        /// What is made small.
        objective: Objective,
        /// C, the variance of the Gaussian prior on weights.
        c: f64,
        /// How many steps back it remembers.
        memory: usize,
    },
    /// Exponentiated gradient (Koo et al. 2007) on C times the loss of the whole treebank + ½‖w‖².
    Exponentiated {
        /// Max-margin or log-linear.
        dual: Dual,
        /// C, the variance of the Gaussian prior on weights.
        c: f64,
        /// β, how sure of the gold trees it starts; 9 in the paper.
        beta: f64,
        /// How the size of steps is found.
        rate: Rate,
        /// Whether to compute the duality gap after each pass, which nearly doubles its time, and
        /// at what share of the objective to stop.
        gap: Option<f64>,
    },
}

impl Default for Optimizer {
    /// Likelihood by AdaGrad with template dropout: accurate, and its probabilities are calibrated.
    fn default() -> Self {
        Self::AdaGrad { objective: likelihood(), rate: 0.05, damping: 10.0, dropout: 0.3, batch: 1 }
    }
}

/// What a learner wants to know of the run it is part of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    pub(crate) passes: usize,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
}

/// What a pass was like, summed over the treebank; see [`Pass`](crate::Pass).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Report {
    pub(crate) loss: f64,
    pub(crate) gap: Option<f64>,
    pub(crate) converged: bool,
}

impl Checkpointed for Report {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        codec.value(&mut self.loss)?;
        let (mut known, mut gap) = (self.gap.is_some(), self.gap.unwrap_or_default());
        codec.flag(&mut known)?;
        codec.value(&mut gap)?;
        self.gap = known.then_some(gap);
        codec.flag(&mut self.converged)
    }
}

/// A learner at work on a model. Its state is what it knows besides the model's weights.
pub(crate) trait Learn<S = ArcModel>: Checkpointed {
    /// Goes once through the corpus and moves weights.
    fn pass(&mut self, corpus: &Corpus<'_>, model: &mut S) -> Result<Report, Error>;

    /// The weights to keep after a pass, if not just those that were moved.
    fn learnt(&self, model: &S) -> Option<Vec<f32>>;
}

impl Optimizer {
    /// Gets ready for a corpus.
    pub(crate) fn start<S: PartScorer + 'static>(
        &self,
        corpus: &Corpus<'_>,
        model: &mut S,
        schedule: Schedule,
    ) -> Result<Box<dyn Learn<S>>, Error> {
        let cells = model.cells();
        Ok(match self.clone() {
            Optimizer::Perceptron => {
                Box::new(MistakeDriven::new(Rule::Perceptron, cells, schedule.seed))
            }
            Optimizer::PassiveAggressive { update, cost } => {
                let rule = Rule::PassiveAggressive { update, cost };
                Box::new(MistakeDriven::new(rule, cells, schedule.seed))
            }
            Optimizer::Mira { k, c } => {
                Box::new(MistakeDriven::new(Rule::Mira { k, c }, cells, schedule.seed))
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

    /// Gets ready for any model, if this follows gradients.
    pub(crate) fn gradient<S: Scorer>(
        &self,
        corpus: &Corpus<'_>,
        model: &S,
        schedule: Schedule,
    ) -> Result<Gradient<S>, Error> {
        let cells = model.cells();
        let (objective, dropout, batch, step) = match self {
            Optimizer::AdaGrad { objective, rate, damping, dropout, batch } => {
                let step = Step::AdaGrad(AdaGrad::new(cells, *rate, *damping));
                (objective, *dropout, *batch, step)
            }
            Optimizer::Sgd { objective, rate, prior, dropout, batch } => {
                let step = Step::Sgd(Sgd::new(*rate, *prior, corpus.examples.len()));
                (objective, *dropout, *batch, step)
            }
            other => return Err(other.needs_one_cluster()),
        };
        Ok(Gradient::new(objective.clone(), step, dropout, batch, schedule))
    }

    /// Whether it makes an [`Objective`] small, which need not know all of a tree.
    pub(crate) fn follows_gradients(&self) -> bool {
        matches!(self, Self::AdaGrad { .. } | Self::Sgd { .. } | Self::Lbfgs { .. })
    }

    /// What to say to those who want more of a learner that follows no gradients.
    pub(crate) fn needs_one_cluster(&self) -> Error {
        let name = self.name();
        Error::Setting(format!("{name} cannot learn arcs of several clusters; adagrad and sgd can"))
    }

    /// Refuses parameters that make no sense.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self {
            Optimizer::Perceptron => Ok(()),
            Optimizer::PassiveAggressive { update: Update::Pa, .. } => Ok(()),
            Optimizer::PassiveAggressive {
                update: Update::PaI { c } | Update::PaII { c }, ..
            } => positive("C", *c),
            Optimizer::Mira { k: 0, .. } => {
                Err(Error::Setting("MIRA needs at least one tree: k is 0".to_owned()))
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
                "L-BFGS needs one objective for all steps: gamma cannot change".to_owned(),
            )),
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
    Err(Error::Setting(format!("{name} is {value}, but must be a positive number")))
}

fn online(objective: &Objective, dropout: f64, batch: usize) -> Result<(), Error> {
    if let Some(problem) = objective.problem() {
        return Err(Error::Setting(problem));
    }
    if !(0.0..1.0).contains(&dropout) {
        let why = format!("the dropout is {dropout}, but must be from 0 to below 1");
        return Err(Error::Setting(why));
    }
    if batch == 0 {
        return Err(Error::Setting("a batch needs at least one sentence".to_owned()));
    }
    Ok(())
}
