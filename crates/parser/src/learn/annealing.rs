//! Annealed minimum risk: the schedule of Smith & Eisner (2006).
//!
//! ```text
//! minimise  R(θ, γ) − T · H(θ, γ)        p(y) ∝ exp(γ θ(y)),  R = Σ E ℓ(y),  H = Σ entropy
//!
//! cooling   T ← start;  while T > end:  minimise at T, γ = 1;  T ← factor · T
//! quench    T ← 0;      γ ← factor · γ; minimise;  until no 1-best decision changes
//! ```
//!
//! R has many local minima. At a high T the optimum is near θ = 0, whatever the start, and each stage starts from the
//! optimum before it. So the schedule needs no restarts. T acts through the entropy; γ alone is the same as the scale of
//! θ. Cooling stops early if the 1-best loss on held-out sentences rises twice in a row.
//!
//! A trained model would be forgotten at a high T. Its cooling can start at the temperature where the model is stationary
//! along its own ray, that is, where scaling its weights does not lower the objective:
//!
//! ```text
//! T₀ = −Cov(ℓ, θ) / Var(θ) = −Σ θ · ∂R/∂θ / Σ θ · (−∂H/∂θ)        at γ = 1, summed over sentences
//! ```
//!
//! - D. A. Smith & J. Eisner (2006). Minimum risk annealing for training log-linear models.

use std::fmt;
use std::io;
use std::str::FromStr;

use tutte_linear::{Checkpointed, Codec, invalid};

use crate::Error;
use crate::learn::objective::{Objective, Term, entropy};

/// Temperature of the first stage without initial weights.
const HIGH: f64 = 1000.0;
/// Largest number of stages of a schedule.
const MOST_STAGES: usize = 1000;
/// Number of rises in a row of the held-out loss that end the cooling.
const RISES: usize = 2;

/// A schedule: temperatures T, then factors γ.
///
/// ```
/// use tutte::learn::{Annealing, Cooling, Quench};
///
/// let paper = Annealing::default().with_cooling("1000:0.5:0.01".parse()?);
/// assert_eq!(paper.to_string(), "1000:0.5:0.01, quench 2:10");
/// assert_eq!(Annealing::default().cooling, Cooling { start: None, factor: 0.5, end: 0.01 });
/// assert_eq!(paper.quench, Quench { factor: 2.0, rounds: 10 });
/// # Ok::<(), tutte::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Annealing {
    /// Temperatures of the first stages.
    pub cooling: Cooling,
    /// Factors of the last stages.
    pub quench: Quench,
}

tutte_linear::setters! {
    Annealing {
        with_cooling => cooling: Cooling,
        with_quench => quench: Quench,
    }
}

/// Temperatures that fall geometrically, written `START:FACTOR:END`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cooling {
    /// First temperature. `None`, written `auto`, is T₀ of the initial weights, or 1000 without any.
    pub start: Option<f64>,
    /// Factor between two temperatures, less than 1.
    pub factor: f64,
    /// Temperature at which cooling ends.
    pub end: f64,
}

/// Factors γ that rise geometrically from 1, written `FACTOR:ROUNDS`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quench {
    /// Factor between two values of γ, more than 1.
    pub factor: f64,
    /// Largest number of stages; 0 for none.
    pub rounds: usize,
}

impl Default for Cooling {
    fn default() -> Self {
        Self { start: None, factor: 0.5, end: 0.01 }
    }
}

impl Default for Quench {
    fn default() -> Self {
        Self { factor: 2.0, rounds: 10 }
    }
}

/// A stage of annealing, when it has ended. Sums are over the training data.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AnnealedStage {
    /// T; `None` for the initial weights, before any stage.
    pub temperature: Option<f64>,
    /// γ.
    pub gamma: f64,
    /// R, the expected number of errors.
    pub risk: f64,
    /// H, the entropy in nats.
    pub entropy: f64,
    /// ‖γθ‖.
    pub norm: f64,
    /// Number of errors of the best trees.
    pub errors: f64,
    /// Number of errors of the best trees of held-out sentences, if there are any.
    pub held_out_errors: Option<f64>,
    /// Number of words whose best head or label is another one than after the stage before.
    pub changed: usize,
}

/// Settings of a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StageSettings {
    pub(crate) temperature: f64,
    pub(crate) gamma: f64,
}

/// A schedule under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    annealing: Annealing,
    /// Settings of the next stage.
    next: StageSettings,
    /// Number of the stage of the quench; 0 while cooling.
    round: usize,
    /// Held-out loss of the last stage.
    held_out: f64,
    rises: usize,
    is_over: bool,
}

impl Annealing {
    /// Returns an error if the schedule is not monotone or does not end.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let Self { cooling: Cooling { start, factor, end }, quench } = *self;
        let refuse = |why: String| Err(Error::Setting(why));
        if !(factor > 0.0 && factor < 1.0) {
            return refuse(format!(
                "the temperature is multiplied by {factor}; choose a number between 0 and 1"
            ));
        }
        if !(end > 0.0 && end.is_finite()) {
            return refuse(format!("cooling ends at {end}; choose a number above 0"));
        }
        if let Some(start) = start.filter(|start| !(start.is_finite() && *start >= end)) {
            return refuse(format!(
                "cooling starts at {start} and ends at {end}; temperatures must fall"
            ));
        }
        if quench.rounds > 0 && !(quench.factor > 1.0 && quench.factor.is_finite()) {
            let factor = quench.factor;
            return refuse(format!(
                "gamma is multiplied by {factor} in each round; choose a number above 1"
            ));
        }
        let greatest = quench.factor.powf(quench.rounds as f64);
        if self.most_stages(HIGH) > MOST_STAGES || (quench.rounds > 0 && greatest > 1e100) {
            return refuse(format!(
                "the schedule {self} has too many stages; choose at most {MOST_STAGES}"
            ));
        }
        Ok(())
    }

    /// Returns the largest number of stages. `start` is the first temperature if the schedule leaves it open.
    fn most_stages(&self, start: f64) -> usize {
        let Cooling { start: first, factor, end } = self.cooling;
        let ratio = end / first.unwrap_or(start);
        // Stages at start, start · factor, … above `end`.
        let cooling = (ratio.ln() / factor.ln()).ceil().max(0.0);
        (cooling as usize).saturating_add(self.quench.rounds)
    }

    /// Returns about how many stages are reported, the initial weights included.
    pub(crate) fn reports(&self, has_initial_weights: bool) -> usize {
        if has_initial_weights { 1 + self.most_stages(1.0) } else { self.most_stages(HIGH) }
    }

    /// Starts the schedule. `own` is T₀ of the initial weights; `None` without any.
    pub(crate) fn walk(&self, own: Option<f64>) -> Walk {
        let own = own.map_or(HIGH, |own| if own > 0.0 && own.is_finite() { own } else { 1.0 });
        let temperature = self.cooling.start.unwrap_or(own);
        let next = StageSettings { temperature, gamma: 1.0 };
        let mut walk = Walk {
            annealing: *self,
            next,
            round: 0,
            held_out: f64::INFINITY,
            rises: 0,
            is_over: false,
        };
        if temperature <= self.cooling.end {
            walk.quench();
        }
        walk
    }
}

impl Walk {
    /// Returns the settings of the next stage; `None` at the end.
    pub(crate) fn next(&self) -> Option<StageSettings> {
        (!self.is_over).then_some(self.next)
    }

    /// Returns γ of the last stage.
    pub(crate) fn last_gamma(&self) -> f64 {
        // The next stage has a greater γ in the quench.
        if self.round == 0 { 1.0 } else { self.next.gamma / self.annealing.quench.factor }
    }

    /// Records the loss of initial weights on held-out sentences.
    pub(crate) fn set_held_out(&mut self, loss: Option<f64>) {
        self.held_out = loss.unwrap_or(f64::INFINITY);
    }

    /// Records the end of a stage.
    pub(crate) fn record(&mut self, stage: &AnnealedStage) {
        let Cooling { factor, end, .. } = self.annealing.cooling;
        if self.round > 0 {
            self.quench();
            self.is_over |= stage.changed == 0;
            return;
        }
        if let Some(loss) = stage.held_out_errors {
            self.rises = if loss > self.held_out { self.rises + 1 } else { 0 };
            self.held_out = loss;
        }
        self.next.temperature *= factor;
        if self.next.temperature <= end || self.rises == RISES {
            self.quench();
        }
    }

    /// Moves to the next stage of the quench.
    fn quench(&mut self) {
        let Quench { factor, rounds } = self.annealing.quench;
        self.next.temperature = 0.0;
        self.next.gamma *= factor;
        self.round += 1;
        self.is_over = self.round > rounds;
    }
}

impl Checkpointed for Walk {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        codec.value(&mut self.next.temperature)?;
        codec.value(&mut self.next.gamma)?;
        codec.value(&mut self.round)?;
        codec.value(&mut self.held_out)?;
        codec.value(&mut self.rises)?;
        codec.flag(&mut self.is_over)?;
        let StageSettings { temperature, gamma } = self.next;
        if temperature >= 0.0 && gamma > 0.0 {
            return Ok(());
        }
        Err(invalid(format!("a stage at T = {temperature} and gamma = {gamma}")))
    }
}

impl Objective {
    /// Refuses an objective that cannot be annealed.
    pub(crate) fn check_annealing(&self) -> Result<(), Error> {
        let refuse = |why: &str| Err(Error::Setting(why.to_owned()));
        let mut risks = self.terms().iter().filter(|(_, term)| matches!(term, Term::Risk { .. }));
        if self.terms().iter().any(|(_, term)| *term == Term::Entropy) {
            return refuse("annealing adds the entropy itself; leave it out of the objective");
        }
        if self.terms().iter().any(|(factor, _)| factor.changes()) {
            return refuse("annealing needs factors that do not change; write FACTOR*TERM");
        }
        match (risks.next(), risks.next()) {
            (Some((_, Term::Risk { gamma })), None) if gamma.from == 1.0 && gamma.to == 1.0 => {
                Ok(())
            }
            (None, _) => refuse(
                "annealing needs an objective with risk, as in `--learner adagrad:objective=risk`",
            ),
            _ => refuse("annealing changes gamma itself; write risk without a number, once"),
        }
    }

    /// Returns the objective of a stage: risk at γ, and −T · entropy.
    pub(crate) fn at_stage(&self, StageSettings { temperature, gamma }: StageSettings) -> Self {
        let mut terms = self.clone();
        terms.set_gamma(gamma);
        if temperature > 0.0 { terms + -temperature * entropy() } else { terms }
    }
}

/// Reads a number of a schedule.
fn number<T: FromStr>(text: &str, wrong: impl Fn() -> Error) -> Result<T, Error> {
    text.trim().parse().map_err(|_| wrong())
}

impl FromStr for Cooling {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || {
            let why = format!(
                "{text:?} is not a schedule; write START:FACTOR:END, for example auto:0.5:0.01"
            );
            Error::Setting(why)
        };
        let parts: Vec<&str> = text.split(':').collect();
        let &[start, factor, end] = &parts[..] else { return Err(wrong()) };
        let start = if start == "auto" { None } else { Some(number(start, wrong)?) };
        let cooling = Self { start, factor: number(factor, wrong)?, end: number(end, wrong)? };
        Annealing { cooling, ..Annealing::default() }.check().map(|()| cooling)
    }
}

impl FromStr for Quench {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || {
            let why = format!(
                "{text:?} is not a quench; write FACTOR:ROUNDS, for example 2:10, or 0 for none"
            );
            Error::Setting(why)
        };
        if text == "0" || text == "none" {
            return Ok(Self { rounds: 0, ..Self::default() });
        }
        let (factor, rounds) = text.split_once(':').ok_or_else(wrong)?;
        let quench = Self { factor: number(factor, wrong)?, rounds: number(rounds, wrong)? };
        Annealing { quench, ..Annealing::default() }.check().map(|()| quench)
    }
}

impl fmt::Display for Annealing {
    /// Writes the schedule as models record it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, quench {}", self.cooling, self.quench)
    }
}

impl fmt::Display for Cooling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { start, factor, end } = self;
        match start {
            Some(start) => write!(f, "{start}:{factor}:{end}"),
            None => write!(f, "auto:{factor}:{end}"),
        }
    }
}

impl fmt::Display for Quench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rounds {
            0 => f.write_str("0"),
            rounds => write!(f, "{}:{rounds}", self.factor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::objective::{likelihood, risk};

    fn stage(changed: usize, held_out_errors: Option<f64>) -> AnnealedStage {
        AnnealedStage {
            temperature: None,
            gamma: 1.0,
            risk: 0.0,
            entropy: 0.0,
            norm: 0.0,
            errors: 0.0,
            held_out_errors,
            changed,
        }
    }

    /// Walks to the end and returns T and γ of each stage.
    fn stages(annealing: Annealing, own: Option<f64>, losses: &[f64]) -> Vec<(f64, f64)> {
        let mut walk = annealing.walk(own);
        let mut all = Vec::new();
        while let Some(StageSettings { temperature, gamma }) = walk.next() {
            walk.record(&stage(1, losses.get(all.len()).copied()));
            all.push((temperature, gamma));
        }
        all
    }

    #[test]
    fn temperatures_fall_and_gamma_rises() {
        let annealing = |cooling: &str, quench: &str| Annealing {
            cooling: cooling.parse().unwrap(),
            quench: quench.parse().unwrap(),
        };
        let short = annealing("1:0.5:0.2", "2:2");
        let all = [(1.0, 1.0), (0.5, 1.0), (0.25, 1.0), (0.0, 2.0), (0.0, 4.0)];
        assert_eq!(stages(short, Some(7.0), &[]), all);
        assert_eq!(short.reports(true), 1 + all.len());
        // The held-out loss rises twice in a row.
        let (first, last) = ([(1.0, 1.0), (0.5, 1.0)], [(0.0, 2.0), (0.0, 4.0)]);
        let mut walk = short.walk(None);
        walk.set_held_out(Some(3.0));
        for _ in 0..2 {
            walk.record(&stage(1, Some(4.0)));
        }
        assert_eq!(walk.next().unwrap().temperature, 0.25, "the second loss did not rise");
        assert_eq!(stages(short, None, &[9.0, 10.0, 11.0]), all, "ends where it ends anyway");
        assert_eq!(stages(annealing("1:0.5:0.1", "2:2"), None, &[3.0, 2.0])[..2], first);
        let early = stages(annealing("1:0.5:0.001", "2:2"), None, &[1.0, 2.0, 3.0]);
        assert_eq!(early[..2], first);
        assert_eq!(early[3..], last);
        let auto = annealing("auto:0.5:0.1", "0");
        assert_eq!(stages(auto, Some(0.3), &[]), [(0.3, 1.0), (0.15, 1.0)]);
        assert_eq!(stages(auto, Some(-2.0), &[])[0], (1.0, 1.0));
        assert_eq!(stages(auto, None, &[])[0], (1000.0, 1.0));
        assert!(stages(auto, Some(0.1), &[]).is_empty());
    }

    #[test]
    fn a_quench_ends_when_nothing_changes() {
        let mut walk = Annealing::default().walk(Some(0.01));
        walk.record(&stage(3, None));
        assert_eq!(walk.next(), Some(StageSettings { temperature: 0.0, gamma: 4.0 }));
        walk.record(&stage(0, None));
        assert_eq!(walk.next(), None);
    }

    #[test]
    fn schedules_that_are_not_monotone_are_refused() {
        for text in
            ["1:2:0.1", "0.1:0.5:1", "1:0.5", "1:0.5:0", "x:0.5:1", "1:0.9999999:0.1", "inf:0.5:1"]
        {
            let error = text.parse::<Cooling>().unwrap_err().to_string();
            assert!(error.len() > 20, "{text}: {error}");
        }
        for text in ["1:3", "2", "2:x", "0.5:2", "1e9:99"] {
            assert!(text.parse::<Quench>().is_err(), "{text}");
        }
        assert_eq!("0".parse::<Quench>().unwrap().to_string(), "0");
    }

    #[test]
    fn only_risk_is_annealed() {
        for refused in [
            "likelihood",
            "risk(2)",
            "risk(1..4)",
            "risk + -0.5*entropy",
            "risk + risk",
            "0..1*risk",
        ] {
            assert!(refused.parse::<Objective>().unwrap().check_annealing().is_err(), "{refused}");
        }
        let sum = risk(1.0) + 0.5 * likelihood();
        sum.check_annealing().unwrap();
        let at = |temperature, gamma| sum.at_stage(StageSettings { temperature, gamma });
        assert_eq!(at(0.25, 1.0), sum.clone() + -0.25 * entropy());
        assert_eq!(at(0.0, 4.0), risk(4.0) + 0.5 * likelihood());
    }
}
