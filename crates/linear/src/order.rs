//! Random choices that a seed determines: the order of examples, dropout, initial weights.

use std::io;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::codec::{Checkpointed, Codec, invalid};
use crate::hashing::spread;

/// A stream of random numbers. A checkpoint stores how many were drawn.
#[derive(Clone, Debug)]
pub struct RandomStream {
    rng: Pcg64,
    drawn: u64,
}

impl RandomStream {
    /// Returns the next number.
    pub fn draw(&mut self) -> u64 {
        self.drawn = self.drawn.wrapping_add(1);
        self.rng.next_u64()
    }
}

impl Checkpointed for RandomStream {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        let before = self.drawn;
        codec.value(&mut self.drawn)?;
        self.rng.advance(self.drawn.wrapping_sub(before).into());
        Ok(())
    }
}

/// The order in which a learner sees examples. Every pass has a new order.
#[derive(Clone, Debug)]
pub struct Order {
    stream: RandomStream,
    order: Vec<usize>,
}

impl Order {
    /// Starts stream number `stream` of a seed. Streams of one seed are independent of each other.
    pub fn new(seed: u64, stream: u8) -> Self {
        let mut seeds = Pcg64::seed_from_u64(seed);
        let state = u128::from(seeds.next_u64()) << 64 | u128::from(seeds.next_u64());
        let stream = RandomStream { rng: Pcg64::new(state, stream.into()), drawn: 0 };
        Self { stream, order: Vec::new() }
    }

    /// Returns the numbers below `count` in a new order (Fisher & Yates 1938).
    pub fn shuffled(&mut self, count: usize) -> Vec<usize> {
        if self.order.len() != count {
            self.order = (0..count).collect();
        }
        for last in (1..count).rev() {
            let other = (self.stream.draw() % (last as u64 + 1)) as usize;
            self.order.swap(last, other);
        }
        self.order.clone()
    }

    /// Returns the underlying stream, for other random choices.
    pub fn stream(&mut self) -> &mut RandomStream {
        &mut self.stream
    }
}

impl Checkpointed for Order {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        self.stream.checkpoint(codec)?;
        codec.list(&mut self.order)?;
        let mut seen = vec![false; self.order.len()];
        let is_new = |&number: &usize| {
            seen.get_mut(number).is_some_and(|seen| !std::mem::replace(seen, true))
        };
        if self.order.iter().all(is_new) {
            Ok(())
        } else {
            Err(invalid("an order of examples that is not a permutation"))
        }
    }
}

/// Draws which feature templates to keep. Returns 1 / (1 − dropout), the factor that keeps scores at the
/// same scale with and without dropout.
pub fn draw_templates(
    stream: &mut RandomStream,
    templates: usize,
    dropout: f64,
    kept: &mut Vec<bool>,
) -> f64 {
    let threshold = (dropout * 2f64.powi(32)) as u64;
    kept.clear();
    kept.extend((0..templates).map(|_| (stream.draw() & 0xffff_ffff) >= threshold));
    1.0 / (1.0 - dropout)
}

/// Returns the seed of one of several streams of random numbers, such as those of a sentence.
pub fn seed_of_stream(seed: u64, stream: u64) -> u64 {
    seed.wrapping_add(spread(stream))
}

/// Returns a generator of the standard normal distribution (Box & Muller 1958).
pub fn gaussian(seed: u64) -> impl FnMut() -> f64 {
    let mut stream = Order::new(seed, 2).stream;
    // In (0, 1], so that its logarithm is finite.
    let mut uniform = move || ((stream.draw() >> 11) + 1) as f64 / 2f64.powi(53);
    move || (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_permutations_that_the_seed_determines() {
        let mut order = Order::new(5, 0);
        let first = order.shuffled(50);
        let second = order.shuffled(50);
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
    fn a_damaged_checkpoint_gives_no_examples_that_do_not_exist() {
        let mut order = Order::new(5, 0);
        order.shuffled(3);
        for damaged in [[0, 1, 3], [0, 1, 1], [2, usize::MAX, 0]] {
            let mut bytes = Vec::new();
            order.order = damaged.to_vec();
            assert!(order.checkpoint(&mut Codec::Write(&mut bytes)).is_err(), "{damaged:?}");
            let error = Order::new(5, 0).checkpoint(&mut Codec::Read(&mut &bytes[..])).unwrap_err();
            assert!(error.to_string().contains("not a permutation"), "{error}");
        }
        // The next number drawn after any count.
        let bytes = [&u64::MAX.to_ne_bytes()[..], &0_u64.to_ne_bytes()].concat();
        order.checkpoint(&mut Codec::Read(&mut &bytes[..])).unwrap();
        assert_eq!(order.shuffled(3).len(), 3);
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
        assert_eq!(draw_templates(order.stream(), 10_000, 0.25, &mut kept), 1.0 / 0.75);
        let share = kept.iter().filter(|kept| **kept).count() as f64 / 10_000.0;
        assert!((share - 0.75).abs() < 0.02);
        draw_templates(order.stream(), 100, 0.0, &mut kept);
        assert!(kept.iter().all(|kept| *kept));
    }
}
