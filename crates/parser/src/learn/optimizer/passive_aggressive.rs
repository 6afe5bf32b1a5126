//! Passive-aggressive updates (Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006; for dependency trees Nguyen,
//! Shimazu, Nguyen & Phan 2007). Weights stay if the gold tree wins by its margin; otherwise they move just far enough
//! that it does.
//!
//! ```text
//! l  = cost(wrong heads) − w·d        d = Φ(gold) − Φ(best)
//! PA: a = l / ‖d‖²      PA-I: a = min(C, l / ‖d‖²)      PA-II: a = l / (‖d‖² + 1/(2C))
//! ```
//!
//! a is the solution of min ½‖w′ − w‖² subject to w′·d ≥ cost. PA-I and PA-II allow slack ξ at the price of C·ξ and
//! C·ξ². Cost: one sparse product and one sparse norm.

/// Step size of a passive-aggressive update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Update {
    /// PA: reaches the full margin.
    Pa,
    /// PA-I: reaches the margin with a step of at most C.
    PaI {
        /// C, the aggressiveness.
        c: f64,
    },
    /// PA-II: stops short of the margin, by a quadratic penalty on slack.
    PaII {
        /// C, the aggressiveness.
        c: f64,
    },
}

impl Update {
    /// Returns a, for a loss l and ‖d‖². A tree with the features of the gold tree (d = 0) gets no step.
    pub(super) fn size(self, loss: f64, norm: f64) -> f64 {
        if norm == 0.0 {
            return 0.0;
        }
        let loss = loss.max(0.0);
        match self {
            Update::Pa => loss / norm,
            Update::PaI { c } => (loss / norm).min(c),
            Update::PaII { c } => loss / (norm + 0.5 / c),
        }
    }
}

/// Margin by which a tree with wrong words must lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Square root of the number of wrong words, as in Crammer et al.
    Sqrt,
    /// Number of wrong words, as in MIRA.
    Identity,
}

impl Cost {
    pub(super) fn of(self, wrong: usize) -> f64 {
        match self {
            Cost::Sqrt => (wrong as f64).sqrt(),
            Cost::Identity => wrong as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_the_papers() {
        assert_eq!(Update::Pa.size(3.0, 4.0), 0.75);
        assert_eq!(Update::PaI { c: 0.05 }.size(3.0, 4.0), 0.05);
        assert_eq!(Update::PaI { c: 1.0 }.size(3.0, 4.0), 0.75);
        assert_eq!(Update::PaII { c: 0.25 }.size(3.0, 4.0), 0.5);
        assert_eq!(Update::Pa.size(-1.0, 4.0), 0.0, "passive");
        assert_eq!(Update::Pa.size(1.0, 0.0), 0.0, "equal features");
    }

    /// PA-II is the minimum of ½‖w′ − w‖² + C ξ² over ξ: no other size along d is better.
    #[test]
    fn second_variant_is_optimal() {
        let loss = 1.7;
        let norm = 2.5;
        let c = 0.3;
        let price = |a: f64| 0.5 * a * a * norm + c * (loss - a * norm).max(0.0).powi(2);
        let best = Update::PaII { c }.size(loss, norm);
        for other in (0..200).map(|i| f64::from(i) * 0.01) {
            assert!(price(best) <= price(other) + 1e-12);
        }
    }

    #[test]
    fn costs_count_wrong_words() {
        assert_eq!(Cost::Sqrt.of(9), 3.0);
        assert_eq!(Cost::Identity.of(9), 9.0);
    }
}
