//! Dropout (Srivastava et al. 2014): each element is zero with probability p, or divided by 1 − p.
//!
//! The mask is a function of the seed and the element's index. So the backward pass is the same function,
//! applied to the gradient, and no mask is kept.

use crate::random::hash;

tutte_simd::dispatched! {
    /// Multiplies `x` by its mask. A probability of 0 changes nothing.
    pub(crate) fn apply(x: &mut [f32], probability: f32, seed: u32) {
        if probability <= 0.0 {
            return;
        }
        let threshold = (f64::from(probability) * f64::from(u32::MAX)) as u32;
        let scale = 1.0 / (1.0 - probability);
        for (i, x) in x.iter_mut().enumerate() {
            let kept = hash(seed, i as u32) >= threshold;
            *x *= if kept { scale } else { 0.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_the_asked_share_and_keeps_the_mean() {
        let mut x = vec![1.0f32; 200_000];
        apply(&mut x, 0.33, 7);
        let dropped = x.iter().filter(|&&x| x == 0.0).count() as f32 / x.len() as f32;
        let mean = x.iter().sum::<f32>() / x.len() as f32;
        assert!((dropped - 0.33).abs() < 0.005 && (mean - 1.0).abs() < 0.01, "{dropped} {mean}");
        let mut again = vec![1.0f32; 200_000];
        apply(&mut again, 0.33, 7);
        assert_eq!(x, again);
        apply(&mut again, 0.0, 7);
        assert_eq!(x, again);
        let mut other = vec![1.0f32; 200_000];
        apply(&mut other, 0.33, 8);
        assert_ne!(x, other);
    }
}
