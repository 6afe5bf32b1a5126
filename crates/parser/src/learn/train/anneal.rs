//! Annealed training of the last pass: one run of the optimizer per stage of the [schedule](crate::learn::annealing),
//! each from the weights of the stage before.
//!
//! A stage minimises the objective of the optimizer, with risk at γ and −T · entropy. Batch methods make as many steps
//! as the training has passes, stochastic ones as many passes. Weights of the model are θ and its temperature is 1/γ, so
//! that its distribution is p_θγ. After each stage the training data is parsed, which gives R, H, the 1-best loss and the
//! changed decisions. That costs one inference per sentence more.
//!
//! With factors, θ are the scores that belief propagation has refined. γ multiplies these, in training as in parsing.
//!
//! Staged labels do not depend on the schedule: they are those of the initial weights, or are learnt before the first
//! stage.

use std::io;
use std::sync::Arc;

use tutte_linear::{Checkpointed, Codec, in_parts, invalid};
use tutte_trees::Workspace;

use super::labels::LabelTrainer;
use super::{Corpus, Example, Pass, TrainingOptions, TrainingSession, joint};
use crate::learn::annealing::{AnnealedStage, Annealing, Walk};
use crate::learn::objective::{Objective, Scratch, entropy, risk};
use crate::learn::optimizer::{
    Differentiable, Joint, Optimizer, PartScorer, PartTable, Report, Schedule, Scorer, Term,
};
use crate::{ArcModel, Decoding, Error, Labelling, ParserModel};

/// Trains the last pass of a model, with its labels if they are joint.
pub(super) fn fit(
    mut model: ParserModel,
    corpus: &Corpus<'_>,
    annealing: Annealing,
    options: &TrainingOptions,
    schedule: Schedule,
    session: &mut TrainingSession<'_>,
) -> Result<ParserModel, Error> {
    if model.labels.labelling() == Labelling::Joint {
        let joint = joint::scorer(&mut model);
        let set = |joint: &Joint, model: &mut ParserModel| {
            joint::copy_weights(joint, None, model);
        };
        let annealer = Annealer::new(joint, annealing, options, schedule);
        return annealer.run(model, corpus, set, session);
    }
    let has_labels = model.labels.weights.iter().any(|weight| *weight != 0.0);
    if model.labels.labelling() == Labelling::Staged && !has_labels {
        let passes = options.labels.passes.unwrap_or(options.passes);
        let labels = &mut model.labels;
        let mut trainer = LabelTrainer::new(labels, &options.labels, passes, options.seed);
        (0..passes).for_each(|_| trainer.pass(corpus, labels));
        if let Some(weights) = trainer.averaged() {
            labels.weights = weights;
        }
    }
    let arcs = model.last_pass().clone();
    let annealer = Annealer::new(arcs, annealing, options, schedule);
    let set = |arcs: &ArcModel, model: &mut ParserModel| {
        model.last_pass().weights.copy_from_slice(&arcs.weights);
    };
    annealer.run(model, corpus, set, session)
}

/// A model that is being annealed.
struct Annealer<'o, S> {
    scorer: S,
    walk: Option<Walk>,
    /// Temperature of the model at γ = 1.
    temperature: f64,
    annealing: Annealing,
    optimizer: &'o Optimizer,
    has_initial_weights: bool,
    schedule: Schedule,
    /// Number of reports so far.
    number: usize,
}

/// A part of an analysis by a scorer.
type PartOf<S> = <<S as Scorer>::Scores as PartTable>::Part;

impl<'o, S: PartScorer + 'static> Annealer<'o, S> {
    fn new(
        scorer: S,
        annealing: Annealing,
        options: &'o TrainingOptions,
        schedule: Schedule,
    ) -> Self {
        let optimizer = &options.optimizer;
        let has_initial_weights = scorer.weights().any(|weight| *weight != 0.0);
        Self {
            scorer,
            walk: None,
            temperature: 1.0,
            annealing,
            optimizer,
            has_initial_weights,
            schedule,
            number: 0,
        }
    }

    /// Runs all stages that are left.
    fn run(
        mut self,
        mut model: ParserModel,
        corpus: &Corpus<'_>,
        set: impl Fn(&S, &mut ParserModel),
        session: &mut TrainingSession<'_>,
    ) -> Result<ParserModel, Error> {
        self.temperature = model.temperature;
        self.number = session.resume(&mut self)?;
        let gamma = |annealer: &Self| annealer.walk.map_or(1.0, |walk| walk.last_gamma());
        let mut before = self.survey(corpus, gamma(&self))?;
        set(&self.scorer, &mut model);
        model.temperature = self.temperature / gamma(&self);
        let mut walk = match self.walk {
            Some(walk) => walk,
            None => {
                let own = self.has_initial_weights.then(|| before.stationary_temperature());
                let mut walk = self.annealing.walk(own);
                if self.has_initial_weights {
                    let held_out_errors = held_out_errors(&model, session, self.schedule.threads)?;
                    walk.set_held_out(held_out_errors);
                    let stage =
                        AnnealedStage { held_out_errors, ..self.stage(None, 1.0, &before, 0) };
                    if self.end_stage(stage, walk, &mut model, corpus, session)? {
                        return Ok(model);
                    }
                }
                walk
            }
        };
        while let Some(settings) = walk.next() {
            let objective =
                self.optimizer.objective().map(|objective| objective.at_stage(settings));
            let optimizer = self.optimizer.with_objective(objective);
            let seed = self.schedule.seed.wrapping_add(self.number as u64);
            let schedule = Schedule { seed, ..self.schedule };
            let mut run = optimizer.start(corpus, &mut self.scorer, schedule)?;
            for _ in 0..schedule.passes {
                if run.pass(corpus, &mut self.scorer)?.converged {
                    break;
                }
            }
            if let Some(weights) = run.weights_to_keep(&self.scorer) {
                let own = self.scorer.weights_mut().zip(weights);
                own.for_each(|(own, weight)| *own = weight);
            }
            drop(run);
            set(&self.scorer, &mut model);
            model.temperature = self.temperature / settings.gamma;
            let survey = self.survey(corpus, settings.gamma)?;
            let changed = survey.changed_words(&before);
            let held_out_errors = held_out_errors(&model, session, self.schedule.threads)?;
            let temperature = Some(settings.temperature);
            let stage = self.stage(temperature, settings.gamma, &survey, changed);
            let stage = AnnealedStage { held_out_errors, ..stage };
            walk.record(&stage);
            before = survey;
            if self.end_stage(stage, walk, &mut model, corpus, session)? {
                break;
            }
        }
        Ok(model)
    }

    /// Reports a stage. Returns `true` to stop.
    fn end_stage(
        &mut self,
        stage: AnnealedStage,
        walk: Walk,
        model: &mut ParserModel,
        corpus: &Corpus<'_>,
        session: &mut TrainingSession<'_>,
    ) -> Result<bool, Error> {
        self.number += 1;
        self.walk = Some(walk);
        let loss = stage.risk - stage.temperature.unwrap_or(0.0) * stage.entropy;
        let report = Report { loss, gap: None, converged: walk.next().is_none() };
        let pass = Pass::new(self.number, report, model, corpus).with_stage(stage);
        session.end_pass(pass, walk.next().is_none(), model, self)
    }

    fn stage(
        &self,
        temperature: Option<f64>,
        gamma: f64,
        survey: &Survey<PartOf<S>>,
        changed: usize,
    ) -> AnnealedStage {
        let squares = self.scorer.weights().map(|&weight| f64::from(weight) * f64::from(weight));
        AnnealedStage {
            temperature,
            gamma,
            risk: survey.risk,
            entropy: survey.entropy,
            norm: gamma * squares.sum::<f64>().sqrt(),
            errors: survey.errors,
            held_out_errors: None,
            changed,
        }
    }

    /// Parses the corpus with scores γθ.
    fn survey(&self, corpus: &Corpus<'_>, gamma: f64) -> Result<Survey<PartOf<S>>, Error> {
        let work = |examples: &[Arc<Example>]| {
            let mut memory = Surveying::<S>::default();
            let one = |example: &Arc<Example>| {
                let failed = |source| corpus.diverged(example, source);
                memory.parse(&self.scorer, example, corpus, gamma).map_err(failed)
            };
            examples.iter().map(one).collect()
        };
        let sentences = in_parts(&corpus.examples, self.schedule.threads, work)?;
        let mut sum = Survey::default();
        for sentence in sentences {
            let Survey { risk, entropy, errors, ray, trees } = sentence;
            sum.risk += risk;
            sum.entropy += entropy;
            sum.errors += errors;
            sum.ray[0] += ray[0];
            sum.ray[1] += ray[1];
            sum.trees.extend(trees);
        }
        Ok(sum)
    }
}

impl<S: PartScorer> Checkpointed for Annealer<'_, S> {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        let mut weights: Vec<f32> = self.scorer.weights().copied().collect();
        codec.table(&mut weights)?;
        self.scorer.weights_mut().zip(weights).for_each(|(own, weight)| *own = weight);
        codec.value(&mut self.temperature)?;
        if !(self.temperature > 0.0 && self.temperature.is_finite()) {
            return Err(invalid(format!("a temperature of {}", self.temperature)));
        }
        self.walk.get_or_insert_with(|| self.annealing.walk(None)).checkpoint(codec)
    }
}

/// Returns the number of errors of the best trees of held-out sentences, if there are any.
fn held_out_errors(
    model: &ParserModel,
    session: &TrainingSession<'_>,
    threads: usize,
) -> Result<Option<f64>, Error> {
    let dev = session.dev();
    if dev.is_empty() {
        return Ok(None);
    }
    let found = model.evaluate(dev, Decoding::Map, threads)?;
    let right = if model.labels.labelling() == Labelling::Joint { found.both } else { found.heads };
    Ok(Some((found.words - right) as f64))
}

/// Sums over sentences, and their best trees.
struct Survey<P> {
    risk: f64,
    entropy: f64,
    errors: f64,
    /// Σ θ · ∂R/∂θ and Σ θ · ∂H/∂θ.
    ray: [f64; 2],
    /// Parts of the best trees, word by word.
    trees: Vec<P>,
}

impl<P> Default for Survey<P> {
    fn default() -> Self {
        Self { risk: 0.0, entropy: 0.0, errors: 0.0, ray: [0.0; 2], trees: Vec::new() }
    }
}

impl<P: PartialEq> Survey<P> {
    /// Returns T₀, at which scaling the weights does not change R − T₀ H.
    fn stationary_temperature(&self) -> f64 {
        self.ray[0] / self.ray[1]
    }

    fn changed_words(&self, before: &Self) -> usize {
        self.trees.iter().zip(&before.trees).filter(|(new, old)| new != old).count()
    }
}

/// Memory of a thread that parses the corpus.
struct Surveying<S: PartScorer> {
    memory: S::Memory,
    scratch: Scratch,
    workspace: Workspace,
    gradient: S::Scores,
}

impl<S: PartScorer> Default for Surveying<S> {
    fn default() -> Self {
        Self {
            memory: S::Memory::default(),
            scratch: Scratch::default(),
            workspace: Workspace::default(),
            gradient: S::Scores::default(),
        }
    }
}

impl<S: PartScorer> Surveying<S> {
    fn parse(
        &mut self,
        scorer: &S,
        example: &Example,
        corpus: &Corpus<'_>,
        gamma: f64,
    ) -> Result<Survey<PartOf<S>>, tutte_trees::Error> {
        let Self { memory, scratch, workspace, gradient } = self;
        let tree_set = corpus.tree_set;
        scorer.prepare(example, |_| true, memory);
        let mut scores = scorer.score(example, 1.0, memory);
        if gamma != 1.0 {
            scores.parts().for_each(|part| scores[part] *= gamma);
        }
        let mut of = |objective: &Objective| -> Result<_, tutte_trees::Error> {
            let term = Term { objective, example, tree_set, progress: 1.0 };
            let value = scores.evaluate(term, scratch, gradient)?;
            let possible = scores.parts().filter(|part| scores[*part].is_finite());
            Ok((value, possible.map(|part| scores[part] * gradient[part]).sum::<f64>()))
        };
        let (risk, risk_along_ray) = of(&risk(1.0))?;
        let (entropy, entropy_along_ray) = of(&entropy())?;
        let (_, trees) = scores.argmax(tree_set, workspace)?;
        let errors = trees.iter().map(|part| S::Scores::cost(example, *part)).sum();
        Ok(Survey { risk, entropy, errors, ray: [risk_along_ray, entropy_along_ray], trees })
    }
}

#[cfg(test)]
mod tests;
