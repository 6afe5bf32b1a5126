//! Bytes packed by leaving out zeros.
//!
//! Most cells of a table of 8-bit weights are zero. Eight bytes become one byte that says which of them are not zero,
//! and those that are not:
//!
//! ```text
//! 5 0 0 0 0 0 0 7   →   0b1000_0001 5 7
//! ```
//!
//! The first eight bytes are the unpacked length. Unpacking reads and writes each byte once, and takes about as long
//! as reading the bytes from a disk. General compression packs smaller, but takes several times as long to unpack.
//!
//! ```
//! let packed = tutte_linear::zeros::pack(&[5, 0, 0, 0, 0, 0, 0, 7, 9]);
//! assert_eq!(packed[8..], [0b1000_0001, 5, 7, 0b1, 9]);
//! assert_eq!(tutte_linear::zeros::unpack(&packed), Some(vec![5, 0, 0, 0, 0, 0, 0, 7, 9]));
//! ```

/// Number of bytes that share a mask.
const GROUP: usize = 8;

/// Packs bytes.
pub fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut packed = (bytes.len() as u64).to_le_bytes().to_vec();
    for group in bytes.chunks(GROUP) {
        let bit = |(place, &byte): (usize, &u8)| u8::from(byte != 0) << place;
        packed.push(group.iter().enumerate().map(bit).sum());
        packed.extend(group.iter().filter(|&&byte| byte != 0));
    }
    packed
}

/// Unpacks what [`pack`] packed. Returns `None` for other bytes.
pub fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let (length, mut rest) = packed.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let groups = length.div_ceil(GROUP);
    // Every group takes a byte, so a false length cannot ask for much memory.
    if rest.len() < groups {
        return None;
    }
    let mut bytes = vec![0; groups * GROUP];
    for group in bytes.chunks_exact_mut(GROUP) {
        let (&mask, values) = rest.split_first()?;
        if mask != 0 {
            let values = values.first_chunk().copied().unwrap_or_else(|| padded(values));
            let spread = EXPANSIONS[usize::from(mask)].expand(u64::from_le_bytes(values));
            group.copy_from_slice(&spread.to_le_bytes());
        }
        rest = values.get(mask.count_ones() as usize..)?;
    }
    let is_padding = bytes[length..].iter().all(|&byte| byte == 0);
    bytes.truncate(length);
    (rest.is_empty() && is_padding).then_some(bytes)
}

/// Returns the last values of all, which are fewer than a group.
fn padded(values: &[u8]) -> [u8; GROUP] {
    let mut padded = [0; GROUP];
    padded[..values.len()].copy_from_slice(values);
    padded
}

/// Moves the low bytes of a word to the places that a mask names, in three steps without branches: by four places, by
/// two, and by one (Warren 2013, Hacker's Delight, section 7-5, with bytes for bits).
#[derive(Clone, Copy)]
struct Expansion {
    /// Bytes that are taken from four, two and one places below.
    moved: [u64; 3],
    /// Bytes that are kept at the end.
    kept: u64,
}

static EXPANSIONS: [Expansion; 256] = {
    let mut all = [Expansion { moved: [0; 3], kept: 0 }; 256];
    let mut mask = 0;
    while mask < all.len() {
        all[mask] = Expansion::new(mask as u8);
        mask += 1;
    }
    all
};

impl Expansion {
    const fn new(mask: u8) -> Self {
        let mut moved = [0; 3];
        let mut left = mask;
        // The places that have an unset place below them.
        let mut zeros_below = !mask << 1;
        let mut step = 0;
        while step < 3 {
            // The parity of the number of unset places below each place decides if it moves in this step.
            let mut parity = zeros_below ^ (zeros_below << 1);
            parity ^= parity << 2;
            parity ^= parity << 4;
            let moving = parity & left;
            moved[2 - step] = bytes_of(moving);
            left = (left ^ moving) | (moving >> (1 << step));
            zeros_below &= !parity;
            step += 1;
        }
        Self { moved, kept: bytes_of(mask) }
    }

    fn expand(&self, values: u64) -> u64 {
        let [by_four, by_two, by_one] = self.moved;
        let values = (values & !by_four) | ((values << 32) & by_four);
        let values = (values & !by_two) | ((values << 16) & by_two);
        let values = (values & !by_one) | ((values << 8) & by_one);
        values & self.kept
    }
}

/// Returns the bytes of the places of a mask, all bits set.
const fn bytes_of(mask: u8) -> u64 {
    let mut bytes = 0;
    let mut place = 0;
    while place < GROUP {
        if mask >> place & 1 == 1 {
            bytes |= 0xff << (8 * place);
        }
        place += 1;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::{pack, unpack};

    proptest! {
        #[test]
        fn packing_and_unpacking_gives_the_same_bytes(
            bytes in vec(prop_oneof![Just(0_u8), any::<u8>()], 0..200),
        ) {
            prop_assert_eq!(unpack(&pack(&bytes)), Some(bytes));
        }

        #[test]
        fn any_bytes_are_unpacked_or_refused(bytes in vec(any::<u8>(), 0..40), length in 0..100_u64) {
            let packed = [&length.to_le_bytes()[..], &bytes].concat();
            if let Some(unpacked) = unpack(&packed) {
                prop_assert_eq!(unpacked.len() as u64, length);
            }
        }
    }

    #[test]
    fn other_bytes_are_refused() {
        let packed = pack(&[1, 0, 2, 0, 0, 0, 0, 0, 3]);
        for length in 0..packed.len() {
            assert_eq!(unpack(&packed[..length]), None, "{length} bytes");
        }
        assert_eq!(unpack(&[&packed[..], &[0]].concat()), None);
        // A length that nothing follows, and a value behind the end.
        assert_eq!(unpack(&u64::MAX.to_le_bytes()), None);
        assert_eq!(unpack(&[&1_u64.to_le_bytes()[..], &[0b10, 5]].concat()), None);
    }
}
