//! Hashes that are part of the model format.
//!
//! A model stores weights and no feature names, so a hash decides which weight a feature has. None of
//! these functions may ever change.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// 2⁶⁴ divided by the golden ratio: multiplying by it spreads the low bits over the high ones.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Mixes 64 bits into 64 others, one to one (the finaliser of SplitMix64; Steele, Lea & Flood 2014).
#[inline]
pub fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(GOLDEN);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Appends a value to the hash of a list. The high bits of the result are well mixed, the low ones are not.
#[inline]
pub fn chain(key: u64, value: u64) -> u64 {
    (key.rotate_left(23) ^ value).wrapping_mul(GOLDEN)
}

/// The hash of a list of values, built value by value.
///
/// ```
/// use tutte_linear::Hash;
///
/// let hash = Hash::of(1).and(2);
/// assert_ne!(hash, Hash::of(2).and(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hash(u64);

impl Hash {
    /// Starts a list.
    #[inline]
    pub fn of(value: u64) -> Self {
        Self(0).and(value)
    }

    /// Appends a value.
    #[inline]
    #[must_use]
    pub fn and(self, value: u64) -> Self {
        Self(chain(self.0, value))
    }

    /// Returns 64 bits, for use as a value of another list.
    #[inline]
    pub fn value(self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    /// Returns 32 well mixed bits, for use as a feature.
    #[inline]
    pub fn feature(self) -> u32 {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (mixed >> 32) as u32
    }
}

/// A map whose keys are already 64-bit hashes.
pub type KeyedMap<T> = HashMap<u64, T, BuildHasherDefault<PassThroughHasher>>;

/// Hashes a key to itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassThroughHasher(u64);

impl Hasher for PassThroughHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |key, byte| key.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_part_of_the_format() {
        let hash = Hash::of(1).and(2);
        assert_eq!((hash.value(), hash.feature()), (7541370215223520389, 685920137));
    }

    #[test]
    fn mixing_is_one_to_one_on_a_sample() {
        let mixed: std::collections::HashSet<u64> = (0..10_000).map(mix).collect();
        assert_eq!(mixed.len(), 10_000);
    }
}
