//! Random numbers that are fixed by a seed.
//!
//! Initial weights come from a PCG stream. Dropout masks come from a counter: element i of a mask is a hash
//! of the seed and i, so a backward pass recomputes the mask instead of keeping it.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// Stream of random numbers.
#[derive(Debug)]
pub(crate) struct Random(Pcg64Mcg);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    /// Returns a number between 0 and 1, both excluded.
    pub(crate) fn uniform(&mut self) -> f32 {
        ((self.0.next_u32() >> 9) as f32 + 0.5) / (1 << 23) as f32
    }

    /// Returns a normally distributed number with mean 0 and variance 1 (Box and Muller 1958).
    pub(crate) fn normal(&mut self) -> f32 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f32::consts::TAU * self.uniform()).cos()
    }
}

/// Mixes a seed and the number of a place in the network into a seed for that place (SplitMix64).
pub(crate) fn seed_of(seed: u64, place: u64) -> u32 {
    let mut z = seed ^ place.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) as u32
}

/// Returns the hash of a counter: 32 bits, each as good as random (Wellons' `lowbias32`).
#[inline(always)]
pub(crate) fn hash(seed: u32, counter: u32) -> u32 {
    let mut h = counter.wrapping_mul(0x9e37_79b9) ^ seed;
    h = (h ^ (h >> 16)).wrapping_mul(0x7feb_352d);
    h = (h ^ (h >> 15)).wrapping_mul(0x846c_a68b);
    h ^ (h >> 16)
}
