//! Progress of learning.

use std::ops::ControlFlow;
use std::time::Instant;

use anyhow::{Result, anyhow};
use tutte::rules::RuleSet;
use tutte::weak::{
    TriedVariance, VARIANCES, WeakData, WeakOptions, WeakOutcome, WeakStep, choose_variance, learn,
};
use tutte::{Decoding, Error, ParserModel};
use tutte_treebank::Sentence;

use super::summary::wanted;
use crate::failure::advise;
use crate::interrupt::Interrupt;
use crate::numbers::clock;
use crate::report::counted;
use crate::session::Session;

/// Chooses the variance of the prior on held-out rules.
pub(super) fn choose_variance_with_progress(
    evidence: &WeakData<'_>,
    options: &WeakOptions,
    session: &Session,
) -> Result<f64> {
    let status = session.status();
    let mut runs = 0;
    let tried = options.clone().with_prior_variance(1.0);
    let found = choose_variance(evidence, &tried, &VARIANCES, &mut |_: TriedVariance| {
        runs += 1;
        status.show(|| format!("choosing the prior's variance, run {runs}"));
    })?;
    drop(status);
    let usual = WeakOptions::default().prior_variance;
    let Some((best, errors)) = found else {
        session.note(format!("too few rules to hold some out; the prior's variance is {usual}"));
        return Ok(usual);
    };
    let each = errors.iter().map(|(variance, error)| format!("{variance}: {:.3}", error.sqrt()));
    session.note(format!(
        "the prior's variance is {best}; root mean square error of held-out rules: {}",
        each.collect::<Vec<_>>().join(", ")
    ));
    Ok(best)
}

/// Learns, shows the progress, and returns the best model so far when interrupted.
pub(super) fn learn_with_progress(
    rules: &RuleSet,
    evidence: &WeakData<'_>,
    options: &WeakOptions,
    dev: &[Sentence],
    interrupt: Interrupt,
    session: &Session,
) -> Result<WeakOutcome> {
    /// Number of steps between two reports.
    const OFTEN: usize = 10;
    /// Number of dev sentences that are parsed for a report.
    const MOST_DEV: usize = 500;
    let dev = &dev[..dev.len().min(MOST_DEV)];
    let mut last_uas = String::new();
    let started = Instant::now();
    let status = session.status();
    let learnt = learn(evidence, options, &mut |step: WeakStep<'_>| {
        let progress = step.progress;
        if progress.step.is_multiple_of(OFTEN) {
            last_uas = uas(&step.model(), dev, options.threads);
            let shares = evidence.constraints.iter().zip(&progress.expectations);
            let each = rules.rules().iter().zip(shares).map(|(rule, (constraint, now))| {
                format!("{} {} now {now:.2}", rule.name, wanted(constraint.wanted))
            });
            session.note(format!(
                "step {}: objective {:.4}{last_uas}; {}",
                progress.step,
                progress.objective,
                each.collect::<Vec<_>>().join(", ")
            ));
        }
        status.show(|| {
            let off: f64 = evidence
                .constraints
                .iter()
                .zip(&progress.expectations)
                .map(|(constraint, e)| {
                    constraint.wanted.weight.min(1.0) * constraint.wanted.residual(*e)
                })
                .sum();
            format!(
                "step {}, objective {:.4}, rules off by {:.3} on average{last_uas}, {}",
                progress.step,
                progress.objective,
                off / evidence.constraints.len().max(1) as f64,
                clock(started.elapsed())
            )
        });
        if interrupt.is_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match learnt {
        Err(Error::NoWords) if !evidence.raw.is_empty() => Err(advise(
            anyhow!(
                "there is nothing to learn from: rules with `always` or `never` leave none of {} with a tree",
                counted(evidence.raw.len(), "sentence")
            ),
            "give one of these rules a share instead, for example <= 2%",
        )),
        learnt => Ok(learnt?),
    }
}

/// Formats the accuracy of a model on dev for the progress line.
fn uas(model: &ParserModel, dev: &[Sentence], threads: usize) -> String {
    if dev.is_empty() {
        return String::new();
    }
    // An error here is reported by the final evaluation.
    model.evaluate(dev, Decoding::Mbr, threads).map_or_else(
        |_| String::new(),
        |found| format!(", dev UAS {:.2}", 100.0 * found.heads as f64 / found.words.max(1) as f64),
    )
}
