//! Random numbers that are the same on every machine.

use rand_core::Rng;

/// Draws a number uniformly from [0, 1): the top 53 bits of one 64-bit draw.
#[inline(always)]
pub(crate) fn uniform<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    const UNIT: f64 = 1.0 / (1u64 << 53) as f64;
    (rng.next_u64() >> 11) as f64 * UNIT
}
