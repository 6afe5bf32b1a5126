//! log Σ exp of short lists of scores, in 32 bits and in vectors.
//!
//! A joint model sums over the labels of every candidate arc: about two hundred exponentials per word. The
//! standard library computes them one by one. The `exp` of this module has no branches, so the compiler
//! vectorises it (Cody & Waite 1980). It writes x = k·ln 2 + r with |r| ≤ ½ ln 2. The series of e^r ends at r⁶;
//! the next term is below 2⁻²³ of the sum. Adding k to the exponent multiplies by 2^k. Sums have a fixed order,
//! so results do not depend on the machine.

/// Number of partial sums of a list.
const LANES: usize = 8;

/// ln 2 in two parts; k times the first is exact for all k that occur.
const LN2_HIGH: f32 = 0.693_359_4;
const LN2_LOW: f32 = -2.121_944_4e-4;
/// Adding 1.5·2²³ rounds to the nearest whole number and leaves it in the low bits.
const ROUND: f32 = 12_582_912.0;
/// Below this, e^x counts as zero: added to 1 it is less than the last bit.
const LOWEST: f32 = -87.0;

/// Returns e^x for x ≤ 0, with a relative error below 3·10⁻⁷; 0 below −87.
#[inline(always)]
fn exp(x: f32) -> f32 {
    let clamped = if x > LOWEST { x } else { LOWEST };
    let shifted = clamped * std::f32::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (clamped - k * LN2_HIGH) - k * LN2_LOW;
    let r2 = r * r;
    let low = 1.0 / 6.0 + r * (1.0 / 24.0);
    let high = 1.0 / 120.0 + r * (1.0 / 720.0);
    let fraction = 1.0 + (r + r2 * (0.5 + r * (low + r2 * high)));
    let value = f32::from_bits(fraction.to_bits().wrapping_add(shifted.to_bits() << 23));
    if x > LOWEST { value } else { 0.0 }
}

/// Returns the highest score; −∞ if there is none.
pub fn highest(scores: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    let (chunks, rest) = scores.as_chunks::<LANES>();
    let mut high = [f32::NEG_INFINITY; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            high[lane] = larger(high[lane], chunk[lane]);
        }
    }
    let rest = rest.iter().copied().fold(f32::NEG_INFINITY, larger);
    high.into_iter().fold(rest, larger)
}

/// Returns log Σ exp(score).
///
/// ```
/// let log_of_two = tutte_linear::log_sum(&[0.0, 0.0]);
/// assert!((log_of_two - 2f32.ln()).abs() < 1e-6);
/// ```
pub fn log_sum(scores: &[f32]) -> f32 {
    let highest = highest(scores);
    let (chunks, rest) = scores.as_chunks::<LANES>();
    let mut sums = [0f32; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            sums[lane] += exp(chunk[lane] - highest);
        }
    }
    let rest: f32 = rest.iter().map(|score| exp(score - highest)).sum();
    highest + (sums.iter().sum::<f32>() + rest).ln()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn exponentials_are_close_and_end_in_zero() {
        for step in 0..870_000 {
            let x = -1e-4 * step as f32;
            let found = f64::from(exp(x));
            let exact = f64::from(x).exp();
            assert!((found / exact - 1.0).abs() < 3e-7, "{x}: {found} {exact}");
        }
        assert_eq!([exp(0.0), exp(-88.0), exp(f32::NEG_INFINITY)], [1.0, 0.0, 0.0]);
    }

    proptest! {
        #[test]
        fn log_sums_are_those_of_all_terms(
            mut scores in prop::collection::vec(-60f32..60.0, 1..120),
            forbidden in 0..3usize,
        ) {
            scores.iter_mut().skip(1).take(forbidden).for_each(|score| *score = f32::NEG_INFINITY);
            let exact = scores.iter().map(|score| f64::from(*score).exp()).sum::<f64>().ln();
            prop_assert!((f64::from(log_sum(&scores)) - exact).abs() < 1e-6 * exact.abs().max(1.0));
            prop_assert_eq!(highest(&scores), scores.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        }
    }
}
