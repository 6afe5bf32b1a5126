//! Chance, told by its seed: the order of sentences and the templates left out.

use std::io;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::tape::{State, Tape};

/// Numbers without end, told by a seed. Where they have got to is how many were drawn.
#[derive(Clone, Debug)]
pub(crate) struct Chance {
    rng: Pcg64,
    drawn: u64,
}

impl Chance {
    /// The next one.
    pub(crate) fn draw(&mut self) -> u64 {
        self.drawn += 1;
        self.rng.next_u64()
    }
}

impl State for Chance {
    fn state(&mut self, tape: &mut Tape<'_>) -> io::Result<()> {
        let before = self.drawn;
        tape.value(&mut self.drawn)?;
        self.rng.advance(self.drawn.wrapping_sub(before).into());
        Ok(())
    }
}

/// The order in which a learner sees sentences, another in every pass.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    chance: Chance,
    order: Vec<usize>,
}

impl Order {
    /// Different streams of one seed have nothing to do with each other.
    pub(crate) fn new(seed: u64, stream: u8) -> Self {
        let mut seeds = Pcg64::seed_from_u64(seed);
        let state = u128::from(seeds.next_u64()) << 64 | u128::from(seeds.next_u64());
        let chance = Chance { rng: Pcg64::new(state, stream.into()), drawn: 0 };
        Self { chance, order: Vec::new() }
    }

    /// The numbers below `count` in a new order (Fisher & Yates).
    pub(crate) fn shuffled(&mut self, count: usize) -> Vec<usize> {
        if self.order.len() != count {
            self.order = (0..count).collect();
        }
        for last in (1..count).rev() {
            let other = (self.chance.draw() % (last as u64 + 1)) as usize;
            self.order.swap(last, other);
        }
        self.order.clone()
    }

    /// Where it comes from, for other choices.
    pub(crate) fn chance(&mut self) -> &mut Chance {
        &mut self.chance
    }
}

impl State for Order {
    fn state(&mut self, tape: &mut Tape<'_>) -> io::Result<()> {
        self.chance.state(tape)?;
        tape.list(&mut self.order)
    }
}

/// Draws which templates to keep. Those that are left are to count as many times as is returned,
/// 1 / (1 − dropout), so that scores are of the same size with and without dropout.
pub(crate) fn draw_templates(
    chance: &mut Chance,
    templates: usize,
    dropout: f64,
    kept: &mut Vec<bool>,
) -> f64 {
    let threshold = (dropout * 2f64.powi(32)) as u64;
    kept.clear();
    kept.extend((0..templates).map(|_| (chance.draw() & 0xffff_ffff) >= threshold));
    1.0 / (1.0 - dropout)
}

/// Numbers from the standard normal distribution (Box & Muller 1958).
pub(crate) fn gaussian(seed: u64) -> impl FnMut() -> f64 {
    let mut chance = Order::new(seed, 2).chance;
    // From (0, 1], so that its logarithm is a number.
    let mut uniform = move || ((chance.draw() >> 11) + 1) as f64 / 2f64.powi(53);
    move || (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_permutations_told_by_their_seed() {
        let mut order = Order::new(5, 0);
        let (first, second) = (order.shuffled(50), order.shuffled(50));
        for order in [&first, &second] {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..50));
        }
        assert_ne!(first, second);
        assert_eq!(first, Order::new(5, 0).shuffled(50));
        assert_ne!(first, Order::new(5, 1).shuffled(50));
        assert!(order.shuffled(0).is_empty());
    }

    #[test]
    fn normal_numbers_have_mean_0_and_variance_1() {
        let mut draw = gaussian(1);
        let numbers: Vec<f64> = (0..20_000).map(|_| draw()).collect();
        let mean = numbers.iter().sum::<f64>() / 20_000.0;
        let variance = numbers.iter().map(|x| x * x).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }

    #[test]
    fn templates_are_left_out_at_their_rate() {
        let mut kept = Vec::new();
        let mut order = Order::new(1, 0);
        assert_eq!(draw_templates(order.chance(), 10_000, 0.25, &mut kept), 1.0 / 0.75);
        let share = kept.iter().filter(|kept| **kept).count() as f64 / 10_000.0;
        assert!((share - 0.75).abs() < 0.02);
        draw_templates(order.chance(), 100, 0.0, &mut kept);
        assert!(kept.iter().all(|kept| *kept));
    }
}
