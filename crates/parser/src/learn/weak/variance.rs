//! Choice of the prior's variance without trees, by cross-validation over rules. A variance is good if a parser trained
//! on some of the rules satisfies the others:
//!
//! ```text
//! error(σ²) = 1/|Q| Σ_folds Σ_{q ∈ fold} residual(t_q, E_q | rules outside the fold)²
//! ```
//!
//! Cost: one training per fold and variance.

use tutte_linear::Observer;

use super::{WeakData, WeakOptions, learn};
use crate::Error;

/// Number of folds of the rules.
const FOLDS: usize = 5;

/// Variances that are tried by default.
pub const VARIANCES: [f64; 5] = [10.0, 30.0, 100.0, 300.0, 1000.0];

/// Returns the variance of the prior with the lowest mean squared error on held-out rules, and the error of each
/// variance. Returns `None` if there are fewer than two rules with a weight. `watch` is called after every training,
/// and may stop the search.
///
/// ```
/// use tutte::rules::RuleSet;
/// use tutte::weak::{WeakData, WeakOptions, choose_variance};
/// use tutte_treebank::Sentence;
///
/// let sentence: Sentence = "\
/// 1\tthe\t_\tDET\t_\t_\t_\t_\t_\t_
/// 2\tbirds\t_\tNOUN\t_\t_\t_\t_\t_\t_
/// 3\tsing\t_\tVERB\t_\t_\t_\t_\t_\t_
/// ".parse()?;
/// let raw = vec![sentence; 5];
/// let text = "det: DET <- nearest NOUN 90%\nsubj: NOUN <- nearest VERB 90%\nroot: VERB <- ROOT 90%\n";
/// let rules = RuleSet::parse("three", text)?;
/// let options = WeakOptions::default().with_least(1);
/// let evidence = WeakData::of_rules(&rules, &raw, options.tree_set);
/// let chosen = choose_variance(&evidence, &options, &[0.01, 10.0], &mut ())?;
/// let (best, errors) = chosen.expect("there are three rules");
/// assert!(best == 10.0 && errors[1].1 < errors[0].1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of [`learn`].
pub fn choose_variance(
    evidence: &WeakData<'_>,
    options: &WeakOptions,
    variances: &[f64],
    observer: &mut dyn Observer<TriedVariance>,
) -> Result<Option<Chosen>, Error> {
    let has_weight = |&q: &usize| evidence.constraints[q].wanted.weight > 0.0;
    let rules: Vec<usize> = (0..evidence.constraints.len()).filter(has_weight).collect();
    if rules.len() < 2 {
        return Ok(None);
    }
    let mut errors = Vec::new();
    for &prior_variance in variances {
        let options = WeakOptions { prior_variance, restarts: 0, entropy: None, ..options.clone() };
        let mut error = 0.0;
        for fold in 0..FOLDS.min(rules.len()) {
            let held_out = || rules.iter().skip(fold).step_by(FOLDS);
            let mut others = evidence.clone();
            held_out().for_each(|&q| others.constraints[q].wanted.weight = 0.0);
            let learnt = learn(&others, &options, &mut ())?;
            let residual = |q: &usize| {
                evidence.constraints[*q].wanted.residual(learnt.after.expectations[*q]).powi(2)
            };
            error += held_out().map(residual).sum::<f64>();
            if observer.observe(TriedVariance { variance: prior_variance, fold }).is_break() {
                return Ok(best(errors));
            }
        }
        errors.push((prior_variance, error / rules.len() as f64));
    }
    Ok(best(errors))
}

/// A fold that was learnt with a variance.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TriedVariance {
    /// The variance.
    pub variance: f64,
    /// Number of the fold, from 0.
    pub fold: usize,
}

/// The best variance, and each variance with its error.
pub type Chosen = (f64, Vec<(f64, f64)>);

fn best(errors: Vec<(f64, f64)>) -> Option<Chosen> {
    let best = errors.iter().min_by(|a, b| a.1.total_cmp(&b.1))?.0;
    Some((best, errors))
}
