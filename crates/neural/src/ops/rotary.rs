//! Rotary positions (Su et al. 2021): queries and keys are turned by angles that grow with their position.
//!
//! The halves of a head's vector are pairs (x, y). Pair i of d/2 at position p is turned by the angle α = p·θ^(−2i/d):
//! x′ = x·cos α − y·sin α, y′ = y·cos α + x·sin α. So the product of a query and a key depends on the distance
//! of their positions alone. Backward: the same turn by −α. Cost: six operations per pair.

/// Cosines and sines of all positions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rotary {
    /// Number of pairs of a head.
    pairs: usize,
    /// For each position, the cosines of all pairs.
    cos: Vec<f32>,
    sin: Vec<f32>,
}

/// Direction of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// By the angle, as in a forward pass.
    Forward,
    /// By the angle with the other sign.
    Backward,
}

impl Rotary {
    /// Computes the angles of `positions` positions for heads of an even width.
    pub(crate) fn new(positions: usize, width: usize, theta: f32) -> Self {
        let pairs = width / 2;
        let angles = (0..positions).flat_map(|position| {
            (0..pairs).map(move |pair| {
                let exponent = -2.0 * pair as f64 / width as f64;
                position as f64 * f64::from(theta).powf(exponent)
            })
        });
        let (cos, sin) = angles.map(|angle| (angle.cos() as f32, angle.sin() as f32)).unzip();
        Self { pairs, cos, sin }
    }

    /// Turns the queries and keys of one sequence, `qkv` of [n × 3·hidden], in place.
    pub(crate) fn turn(&self, qkv: &mut [f32], hidden: usize, turn: Turn) {
        let angles = self.cos.chunks_exact(self.pairs).zip(self.sin.chunks_exact(self.pairs));
        for (row, (cos, sin)) in qkv.chunks_exact_mut(3 * hidden).zip(angles) {
            let sign = if turn == Turn::Forward { 1.0 } else { -1.0 };
            turn_heads(&mut row[..2 * hidden], cos, sin, sign);
        }
    }
}

tutte_simd::dispatched! {
    /// Turns all heads of a row.
    fn turn_heads(row: &mut [f32], cos: &[f32], sin: &[f32], sign: f32) {
        let pairs = cos.len();
        for head in row.chunks_exact_mut(2 * pairs) {
            let (left, right) = head.split_at_mut(pairs);
            for i in 0..pairs {
                let (x, y) = (left[i], right[i]);
                left[i] = x * cos[i] - y * (sign * sin[i]);
                right[i] = y * cos[i] + x * (sign * sin[i]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::{check, dot};

    #[test]
    fn gradients() {
        let (n, hidden) = (5, 8);
        let rotary = Rotary::new(n, 4, 100.0);
        let qkv = check::random(n * 3 * hidden, 1);
        let wanted = check::random(qkv.len(), 2);
        let mut d = wanted.clone();
        rotary.turn(&mut d, hidden, Turn::Backward);
        check::gradient(&qkv, &d, |qkv| {
            let mut turned = qkv.to_vec();
            rotary.turn(&mut turned, hidden, Turn::Forward);
            check::weighted(&turned, &wanted)
        });
    }

    #[test]
    fn products_depend_on_the_distance_alone() {
        let (n, hidden) = (9, 4);
        let rotary = Rotary::new(n, hidden, 10_000.0);
        let row = check::random(3 * hidden, 3);
        let mut qkv = row.repeat(n);
        rotary.turn(&mut qkv, hidden, Turn::Forward);
        let product = |query: usize, key: usize| {
            let query = &qkv[query * 3 * hidden..][..hidden];
            dot(query, &qkv[key * 3 * hidden + hidden..][..hidden])
        };
        for shift in 1..6 {
            assert!((product(0, 2) - product(shift, shift + 2)).abs() < 1e-5);
            assert!((product(3, 0) - product(shift + 3, shift)).abs() < 1e-5);
        }
        assert!((product(0, 1) - product(0, 4)).abs() > 1e-3);
        assert_eq!(qkv[2 * hidden..3 * hidden], row[2 * hidden..], "values are not turned");
    }
}
