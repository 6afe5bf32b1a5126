//! Exponential in single precision that vectorises.
//!
//! x = k·ln 2 + r with |r| ≤ ½ ln 2; e^r by the polynomial of Cephes (Moshier 1989), of degree 7; times 2^k by
//! adding k to the exponent. The relative error is below 2·10⁻⁷ for −87 ≤ x ≤ 88; beyond, x is clamped.

/// Adding 1.5·2^23 rounds to the nearest integer and leaves it in the low bits.
const ROUND: f32 = 12_582_912.0;

/// e^x, branch-free.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // Comparisons, because `max` and `min` would drop a NaN.
    let x = if x < -87.0 { -87.0 } else { x };
    let x = if x > 88.0 { 88.0 } else { x };
    let k = (x * std::f32::consts::LOG2_E + ROUND) - ROUND;
    let r = (x - k * 0.693_359_4) - k * -2.121_944_4e-4;
    let r2 = r * r;
    let low = 0.5 + 0.166_666_66 * r;
    let middle = 0.041_665_796 + 0.008_333_452 * r;
    let high = 0.001_398_2 + 0.000_198_756_92 * r;
    let fraction = 1.0 + (r + r2 * (low + r2 * (middle + r2 * high)));
    f32::from_bits(fraction.to_bits().wrapping_add((k + ROUND).to_bits() << 23))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_close_on_a_fine_grid() {
        let mut worst = 0.0f64;
        for step in 0..1_000_000 {
            let x = -87.0 + step as f32 * (175.0 / 1e6);
            let exact = f64::from(x).exp();
            worst = worst.max((f64::from(exp(x)) / exact - 1.0).abs());
        }
        assert!(worst < 2e-7, "{worst:e}");
        assert!(exp(f32::NAN).is_nan());
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(f32::NEG_INFINITY) < 1e-37);
    }
}
