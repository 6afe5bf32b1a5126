//! Factors of terms.

/// Factor of a term: the same in all passes, or a line through values at equal distances from the first pass to the
/// last. Text has `..` between the values.
///
/// ```
/// use tutte::learn::objective::{Objective, Ramp, Term};
///
/// let fading = Ramp::new(1.0, &[1.0, 0.0]);
/// assert_eq!([0.0, 0.5, 0.75, 1.0].map(|progress| fading.at(progress)), [1.0, 1.0, 0.5, 0.0]);
/// let objective: Objective = "1..1..0*likelihood + 0..0..1*decoded-risk(0.1)".parse()?;
/// assert_eq!(objective.terms()[0], (fading, Term::Likelihood));
/// # Ok::<(), tutte::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Ramp {
    first: f64,
    then: Vec<f64>,
}

impl Ramp {
    /// Makes a factor of its values: one, or the first and all others.
    pub fn new(first: f64, then: &[f64]) -> Self {
        Self { first, then: then.to_vec() }
    }

    /// Returns the values.
    pub fn values(&self) -> impl Iterator<Item = f64> {
        std::iter::once(self.first).chain(self.then.iter().copied())
    }

    /// Returns the factor at a share of the passes: 0 is the first pass, 1 the last.
    pub fn at(&self, progress: f64) -> f64 {
        let lines = self.then.len();
        let place = progress.clamp(0.0, 1.0) * lines as f64;
        // Rounding must not leave a small rest of a term that has ended.
        let place = if (place - place.round()).abs() < 1e-9 { place.round() } else { place };
        let value = |at: usize| if at == 0 { self.first } else { self.then[at - 1] };
        let before = place as usize;
        let (start, end) = (value(before), value((before + 1).min(lines)));
        start + (place - before as f64) * (end - start)
    }

    /// True if the values differ.
    pub(crate) fn changes(&self) -> bool {
        self.then.iter().any(|value| *value != self.first)
    }

    /// Multiplies all values.
    pub(super) fn scale(&mut self, factor: f64) {
        self.first *= factor;
        self.then.iter_mut().for_each(|value| *value *= factor);
    }
}

impl From<f64> for Ramp {
    fn from(value: f64) -> Self {
        Self { first: value, then: Vec::new() }
    }
}
