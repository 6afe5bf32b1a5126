//! Isotonic regression: the increasing function of a probability that fits the outcomes best.
//!
//! Arc i has probability xᵢ, and cᵢ ∈ {0, 1} says whether its head is right. The function f is the
//! increasing function that minimises Σᵢ (f(xᵢ) − cᵢ)². Pooling adjacent violators finds it (Ayer,
//! Brunk, Ewing, Reid & Silverman 1955; Zadrozny & Elkan 2002). Each xᵢ starts as a block, whose value
//! is its mean c. Blocks are visited by increasing x. A block is merged with the one before it as long
//! as its value is not higher. Cost: one sort.
//!
//! Three things differ from the textbook. At either end one arc that is half right is added, so that no
//! sample makes a confidence of exactly 0 or 1. Blocks are merged until each has a 64th of all arcs, so
//! the function is a short list of *knots*: the mean x and the mean c of a block. Between two knots f is
//! a straight line, not a step, so arcs with different probabilities keep their order.

use serde::{Deserialize, Serialize};
use tutte_treebank::eval::calibration::Forecast;

use super::rounded;

/// Largest number of knots.
const KNOTS: usize = 64;

/// An increasing function from probabilities to the share of arcs that are right.
///
/// ```
/// use tutte::Isotonic;
/// use tutte_treebank::eval::calibration::{Forecast, Probability};
///
/// // Arcs of probability 0.9 are right seven times out of ten, those of 0.5 four times.
/// let arc = |p, right| Forecast { probability: Probability::new(p).unwrap(), correct: right };
/// let all: Vec<_> = (0..1000).flat_map(|n| [arc(0.9, n % 10 < 7), arc(0.5, n % 10 < 4)]).collect();
/// let map = Isotonic::fit(&all).unwrap();
/// assert!((map.confidence(0.9) - 0.7).abs() < 0.001);
/// assert!((map.confidence(0.7) - 0.55).abs() < 0.001); // between the two
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(f64, f64)>", into = "Vec<(f64, f64)>")]
pub struct Isotonic {
    /// At least one; increasing in x, never decreasing in f(x), all from 0 to 1.
    knots: Vec<(f64, f64)>,
}

impl TryFrom<Vec<(f64, f64)>> for Isotonic {
    type Error = String;

    fn try_from(knots: Vec<(f64, f64)>) -> Result<Self, String> {
        let share = |number: &f64| (0.0..=1.0).contains(number);
        if knots.is_empty() || knots.len() > KNOTS {
            return Err(format!("expected 1 to {KNOTS} knots, found {}", knots.len()));
        }
        if let Some(knot) = knots.iter().find(|(x, y)| !share(x) || !share(y)) {
            return Err(format!("{knot:?} is not a knot: both numbers must be from 0 to 1"));
        }
        match knots.windows(2).find(|pair| pair[0].0 >= pair[1].0 || pair[0].1 > pair[1].1) {
            Some(pair) => Err(format!("knots do not increase: {:?}, {:?}", pair[0], pair[1])),
            None => Ok(Self { knots }),
        }
    }
}

impl From<Isotonic> for Vec<(f64, f64)> {
    fn from(map: Isotonic) -> Self {
        map.knots
    }
}

/// Neighbouring arcs with one value.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// Number of arcs; halves are possible, and exact.
    arcs: f64,
    /// Number of arcs that are right.
    right: f64,
    /// Σ x.
    x: f64,
}

impl Block {
    fn merged(self, other: Self) -> Self {
        Self { arcs: self.arcs + other.arcs, right: self.right + other.right, x: self.x + other.x }
    }

    fn knot(&self) -> (f64, f64) {
        (rounded(self.x / self.arcs), rounded(self.right / self.arcs))
    }
}

impl Isotonic {
    /// Fits the function to forecasts; `None` if there are none.
    pub fn fit(forecasts: &[Forecast]) -> Option<Self> {
        let mut blocks = pooled(&ties(forecasts)).into_iter();
        let enough = forecasts.len() as f64 / KNOTS as f64;
        let mut merged = vec![blocks.next()?];
        for block in blocks {
            // Too few arcs, or the same x after rounding.
            let joins = |last: &mut Block| last.arcs < enough || last.knot().0 >= block.knot().0;
            let joined = merged.pop_if(joins).map_or(block, |last| last.merged(block));
            merged.push(joined);
        }
        // The last block may be too small, too.
        if let [.., before, last] = merged[..]
            && last.arcs < enough
        {
            merged.truncate(merged.len() - 2);
            merged.push(before.merged(last));
        }
        Self::try_from(merged.iter().map(Block::knot).collect::<Vec<_>>()).ok()
    }

    /// Returns f(p), the share of arcs of this probability that are right. Beyond the knots, it is the
    /// value of the nearest knot.
    pub fn confidence(&self, p: f64) -> f64 {
        let above = self.knots.partition_point(|(x, _)| *x <= p);
        let before = above.checked_sub(1).and_then(|at| self.knots.get(at));
        let after = self.knots.get(above);
        match (before, after) {
            (Some(&(x0, y0)), Some(&(x1, y1))) => {
                (y0 + (y1 - y0) * (p - x0) / (x1 - x0)).clamp(y0, y1)
            }
            (Some(&(_, y)), None) | (None, Some(&(_, y))) => y,
            (None, None) => p,
        }
    }

    /// Returns the pairs of x and f(x), in increasing order; the function is linear between them.
    pub fn knots(&self) -> &[(f64, f64)] {
        &self.knots
    }
}

/// Makes one block of all arcs with the same probability, in increasing order, and adds an arc that is
/// half right at either end.
fn ties(forecasts: &[Forecast]) -> Vec<Block> {
    let mut rising: Vec<(f64, bool)> =
        forecasts.iter().map(|forecast| (forecast.probability.get(), forecast.correct)).collect();
    rising.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let ties = rising.chunk_by(|a, b| a.0 == b.0).map(|ties| Block {
        arcs: ties.len() as f64,
        right: ties.iter().filter(|(_, right)| *right).count() as f64,
        x: ties.iter().map(|(x, _)| x).sum(),
    });
    let mut ties: Vec<Block> = ties.collect();
    for end in [0, ties.len().saturating_sub(1)] {
        if let Some(block) = ties.get_mut(end) {
            *block = block.merged(Block { arcs: 1.0, right: 0.5, x: block.x / block.arcs });
        }
    }
    ties
}

/// Pools adjacent violators, so that the means of the remaining blocks increase.
fn pooled(blocks: &[Block]) -> Vec<Block> {
    let mut pooled: Vec<Block> = Vec::new();
    for &block in blocks {
        let mut block = block;
        while let Some(before) = pooled.pop_if(|before| {
            // Compares right/arcs without rounding.
            before.right * block.arcs >= block.right * before.arcs
        }) {
            block = before.merged(block);
        }
        pooled.push(block);
    }
    pooled
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tutte_treebank::eval::calibration::Probability;

    use super::*;

    fn forecasts(list: &[(u8, bool)]) -> Vec<Forecast> {
        let one = |&(p, correct): &(u8, bool)| Forecast {
            probability: Probability::new(f64::from(p) / 20.0).unwrap(),
            correct,
        };
        list.iter().map(one).collect()
    }

    /// The value of each tie, by the formula max_{a ≤ i} min_{b ≥ i} mean(a..=b).
    fn by_formula(ties: &[Block]) -> Vec<f64> {
        let mean = |from: usize, to: usize| {
            let sum = |of: fn(&Block) -> f64| ties[from..=to].iter().map(of).sum::<f64>();
            sum(|block| block.right) / sum(|block| block.arcs)
        };
        let lowest = |from, at| (at..ties.len()).map(|to| mean(from, to)).fold(1.0, f64::min);
        (0..ties.len())
            .map(|at| (0..=at).map(|from| lowest(from, at)).fold(0.0, f64::max))
            .collect()
    }

    proptest! {
        #[test]
        fn pooling_is_the_best_monotone_fit(list in prop::collection::vec((0u8..=20, any::<bool>()), 1..60)) {
            let ties = ties(&forecasts(&list));
            let expected = by_formula(&ties);
            let mut at = 0;
            for block in pooled(&ties) {
                let value = block.right / block.arcs;
                let mut arcs = 0.0;
                while arcs < block.arcs {
                    prop_assert!((expected[at] - value).abs() < 1e-12, "{} {value}", expected[at]);
                    arcs += ties[at].arcs;
                    at += 1;
                }
            }
            prop_assert_eq!(at, ties.len());
        }

        #[test]
        fn it_increases_and_is_never_certain(list in prop::collection::vec((0u8..=20, any::<bool>()), 1..300)) {
            let map = Isotonic::fit(&forecasts(&list)).unwrap();
            let values: Vec<f64> =
                (0..=1000).map(|at| map.confidence(f64::from(at) / 1000.0)).collect();
            prop_assert!(values.windows(2).all(|pair| pair[0] <= pair[1]));
            prop_assert!(values.iter().all(|value| (0.0..1.0).contains(value) && *value > 0.0));
            prop_assert!(map.knots().len() <= KNOTS);
            // It survives being written and read.
            let text = serde_json::to_string(&map).unwrap();
            prop_assert_eq!(serde_json::from_str::<Isotonic>(&text).unwrap(), map);
        }
    }

    #[test]
    fn many_blocks_become_few() {
        // A thousand probabilities p, each right with probability p².
        let all: Vec<Forecast> = (0..100_000u32)
            .map(|n| (f64::from(n % 1000) / 1000.0, f64::from(n / 1000) / 100.0))
            .map(|(p, draw)| Forecast {
                probability: Probability::new(p).unwrap(),
                correct: draw < p * p,
            })
            .collect();
        let map = Isotonic::fit(&all).unwrap();
        assert!((20..=KNOTS).contains(&map.knots().len()), "{}", map.knots().len());
        for p in [0.1, 0.35, 0.5, 0.77, 0.9] {
            assert!((map.confidence(p) - p * p).abs() < 0.02, "{p} {}", map.confidence(p));
        }
    }

    #[test]
    fn no_forecasts_give_no_map_and_invalid_knots_are_refused() {
        assert_eq!(Isotonic::fit(&[]), None);
        let read = |text: &str| serde_json::from_str::<Isotonic>(text);
        assert_eq!(read("[[0.5,0.4]]").unwrap().confidence(0.9), 0.4);
        for (text, message) in [
            ("[]", "1 to 64 knots"),
            ("[[0.2,0.1],[0.2,0.3]]", "do not increase"),
            ("[[0.2,0.4],[0.3,0.3]]", "do not increase"),
            ("[[-0.1,0.4]]", "from 0 to 1"),
            ("[[0.1,1.5]]", "from 0 to 1"),
            ("[[0.1,null]]", "invalid type"),
            ("[[0.1,1e999]]", "out of range"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
        let many: Vec<(f64, f64)> = (0..100).map(|at| (f64::from(at) / 100.0, 0.5)).collect();
        assert!(Isotonic::try_from(many).is_err());
    }
}
