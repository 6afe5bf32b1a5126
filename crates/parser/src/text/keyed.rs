//! Maps whose keys are hashes already.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map from hashes of 64 bits.
pub(super) type Keyed<T> = HashMap<u64, T, BuildHasherDefault<Key>>;

/// Takes a key for its own hash.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Key(u64);

impl Hasher for Key {
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
