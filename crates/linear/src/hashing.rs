//! Hashes that are part of file formats.
//!
//! A model stores weights and no feature names, so a hash decides which weight a feature has. Checksums tell
//! damaged files. None of these functions may ever change.
//!
//! | function | hashes |
//! |---|---|
//! | [`hash_text`], [`hash_bytes`] | attribute values of parser and tagger; keys of the lexicon and the lemmatizer |
//! | [`mix`] | numbers of templates, attributes of arcs, values of the transition parser |
//! | [`chain_half`] | the half of a parser's template that belongs to the head or to the modifier |
//! | [`spread`] | the sum of both halves: the key of a parser's feature; keys of the transition parser |
//! | [`chain`] | features of the tagger |
//! | [`struct@Hash`] | features of token and sentence boundaries and of multiword tokens |
//! | [`Checksum`] | model files, checkpoints, caches of stages, manifests of jobs |

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};

use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

/// 2⁶⁴ divided by the golden ratio.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Hashes bytes by XXH3. Each seed is another hash function.
#[inline]
pub fn hash_bytes(bytes: &[u8], seed: u64) -> u64 {
    xxh3_64_with_seed(bytes, seed)
}

/// Hashes a text by XXH3. Each seed is another hash function.
#[inline]
pub fn hash_text(text: &str, seed: u64) -> u64 {
    hash_bytes(text.as_bytes(), seed)
}

/// Spreads the low bits over the high ones, one to one. Weights are found by the high bits.
#[inline]
pub fn spread(x: u64) -> u64 {
    x.wrapping_mul(GOLDEN)
}

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
    spread(key.rotate_left(23) ^ value)
}

/// Appends a value to the half of a parser's template. Values are hashes already, so a weak step is enough.
#[inline]
pub fn chain_half(half: u64, value: u64) -> u64 {
    spread(half.rotate_left(29) ^ value)
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

/// The checksum of bytes that are given piece by piece: their hash by XXH3.
///
/// ```
/// use tutte_linear::{Checksum, hash_bytes};
///
/// let mut checksum = Checksum::default();
/// checksum.update(b"tea ");
/// checksum.update(b"cools");
/// assert_eq!(checksum.value(), hash_bytes(b"tea cools", 0));
/// assert_eq!(checksum.to_string(), format!("{:016x}", checksum.value()));
/// ```
#[derive(Clone, Default)]
pub struct Checksum(Xxh3);

impl Checksum {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Adds a text and the end of its line.
    pub fn update_line(&mut self, text: &str) {
        self.update(text.as_bytes());
        self.update(b"\n");
    }

    /// Returns the checksum of everything so far.
    pub fn value(&self) -> u64 {
        self.0.digest()
    }
}

/// Writes 16 hexadecimal digits.
impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.value())
    }
}

impl fmt::Debug for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Checksum({self})")
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
        assert_eq!(hash_text("tea", 3), 5137547146118623684);
        assert_eq!(chain_half(1, 2), 7807063576741738538);
        assert_eq!(mix(1), 10451216379200822465);
        assert_eq!(Checksum::default().to_string(), "2d06800538d394c2");
    }

    #[test]
    fn mixing_is_one_to_one_on_a_sample() {
        let mixed: std::collections::HashSet<u64> = (0..10_000).map(mix).collect();
        assert_eq!(mixed.len(), 10_000);
    }
}
