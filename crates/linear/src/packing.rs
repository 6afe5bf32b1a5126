//! Tables of 8-bit weights, packed: zeros are left out, and frequent values take four bits.
//!
//! Most cells of a table are zero. Eight bytes become a *mask* that says which of them are not zero, and the *values*
//! of those that are not:
//!
//! ```text
//! 5 0 0 0 0 0 0 7   →   0b1000_0001   5 7
//! ```
//!
//! Masks are packed in the same way once more, since many of them are zero, too. Values come in blocks. A block starts
//! with its 15 most frequent values. Then each value is one of their numbers, in four bits; the
//! number 15 stands for a value that follows behind the numbers of the block.
//!
//! ```text
//! length, 8 bytes │ masks of masks │ masks │ 15 values, numbers, other values │ 15 values, …
//! ```
//!
//! Unpacking reads and writes each byte a few times. General compression packs smaller, but takes several times as long to
//! unpack, and a program unpacks its model at every start.
//!
//! ```
//! use tutte_linear::packing::{pack, unpack};
//!
//! let mut weights = vec![0; 1000];
//! weights[17] = 3;
//! weights[500] = 3;
//! let packed = pack(&weights);
//! assert!(packed.len() < 50);
//! assert_eq!(unpack(&packed), Some(weights));
//! ```

/// Number of bytes that share a mask.
const GROUP: usize = 8;

/// Number of values that share their frequent ones.
const BLOCK: usize = 1 << 14;

/// Number of frequent values of a block. It also stands for all others.
const FREQUENT: usize = 15;

/// Packs bytes.
pub fn pack(bytes: &[u8]) -> Vec<u8> {
    let (masks, values) = without_zeros(bytes);
    let (outer_masks, masks) = without_zeros(&masks);
    let mut packed = (bytes.len() as u64).to_le_bytes().to_vec();
    packed.extend(outer_masks);
    packed.extend(masks);
    values.chunks(BLOCK).for_each(|block| pack_block(block, &mut packed));
    packed
}

/// Unpacks what [`pack`] packed. Returns `None` for other bytes.
pub fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let (length, rest) = packed.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let groups = length.div_ceil(GROUP);
    // Every group of groups takes a byte, so a false length cannot ask for much memory.
    let (outer_masks, rest) = rest.split_at_checked(groups.div_ceil(GROUP))?;
    let (masks, mut rest) = rest.split_at_checked(count_ones(outer_masks))?;
    let masks = with_zeros(outer_masks, masks, groups)?;
    let mut left = count_ones(&masks);
    // Two values take a byte at least.
    if left / 2 > rest.len() {
        return None;
    }
    let mut values = Vec::with_capacity(left);
    while left > 0 {
        let count = left.min(BLOCK);
        rest = unpack_block(rest, count, &mut values)?;
        left -= count;
    }
    rest.is_empty().then_some(())?;
    with_zeros(&masks, &values, length)
}

/// Returns the masks of groups of bytes, and the bytes that are not zero.
fn without_zeros(bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let bit = |(place, &byte): (usize, &u8)| u8::from(byte != 0) << place;
    let mask = |group: &[u8]| group.iter().enumerate().map(bit).sum();
    let masks = bytes.chunks(GROUP).map(mask).collect();
    (masks, bytes.iter().copied().filter(|&byte| byte != 0).collect())
}

/// Reverses [`without_zeros`]. Returns `None` if the bytes behind the length are not zero.
fn with_zeros(masks: &[u8], mut values: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; masks.len() * GROUP];
    for (group, &mask) in bytes.chunks_exact_mut(GROUP).zip(masks) {
        if mask != 0 {
            let word = values.first_chunk().copied().unwrap_or_else(|| padded(values));
            let spread = EXPANSIONS[usize::from(mask)].expand(u64::from_le_bytes(word));
            group.copy_from_slice(&spread.to_le_bytes());
            values = values.get(mask.count_ones() as usize..)?;
        }
    }
    let is_padding = bytes.get(length..)?.iter().all(|&byte| byte == 0);
    bytes.truncate(length);
    is_padding.then_some(bytes)
}

fn count_ones(masks: &[u8]) -> usize {
    masks.iter().map(|mask| mask.count_ones() as usize).sum()
}

/// Returns the last values of all, which are fewer than a group.
fn padded(values: &[u8]) -> [u8; GROUP] {
    let mut padded = [0; GROUP];
    padded[..values.len()].copy_from_slice(values);
    padded
}

/// Appends the frequent values of a block, the numbers of all, and those without a number.
fn pack_block(block: &[u8], packed: &mut Vec<u8>) {
    let mut counts = [0u32; 256];
    block.iter().for_each(|&value| counts[usize::from(value)] += 1);
    let mut values: [u8; 256] = std::array::from_fn(|value| value as u8);
    values.sort_by_key(|&value| std::cmp::Reverse(counts[usize::from(value)]));
    let mut numbers = [FREQUENT as u8; 256];
    for (number, &value) in (0..).zip(&values[..FREQUENT]) {
        numbers[usize::from(value)] = number;
    }
    let number = |value: &u8| numbers[usize::from(*value)];
    packed.extend(&values[..FREQUENT]);
    packed.extend(block.chunks(2).map(|two| number(&two[0]) | two.get(1).map_or(0, number) << 4));
    packed.extend(block.iter().filter(|value| usize::from(number(value)) == FREQUENT));
}

/// Appends the values of a block, and returns the bytes behind it.
fn unpack_block<'p>(packed: &'p [u8], count: usize, values: &mut Vec<u8>) -> Option<&'p [u8]> {
    let (frequent, rest) = packed.split_first_chunk::<FREQUENT>()?;
    let (numbers, mut others) = rest.split_at_checked(count.div_ceil(2))?;
    let mut table = [0; FREQUENT + 1];
    table[..FREQUENT].copy_from_slice(frequent);
    // Two numbers are a byte, and a byte has both values in a table. Values without a number are written afterwards.
    let pairs: [[u8; 2]; 256] = std::array::from_fn(|byte| [table[byte & 15], table[byte >> 4]]);
    let start = values.len();
    values.resize(start + 2 * numbers.len(), 0);
    for (pair, &byte) in values[start..].chunks_exact_mut(2).zip(numbers) {
        pair.copy_from_slice(&pairs[usize::from(byte)]);
        for (value, number) in pair.iter_mut().zip([byte & 15, byte >> 4]) {
            if usize::from(number) == FREQUENT {
                let (&other, rest) = others.split_first()?;
                *value = other;
                others = rest;
            }
        }
    }
    values.truncate(start + count);
    Some(others)
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

    use super::{BLOCK, pack, unpack};

    proptest! {
        #[test]
        fn packing_and_unpacking_gives_the_same_bytes(
            bytes in vec(prop_oneof![Just(0_u8), any::<u8>()], 0..200),
        ) {
            prop_assert_eq!(unpack(&pack(&bytes)), Some(bytes));
        }

        #[test]
        fn any_bytes_are_unpacked_or_refused(bytes in vec(any::<u8>(), 0..80), length in 0..200_u64) {
            let packed = [&length.to_le_bytes()[..], &bytes].concat();
            if let Some(unpacked) = unpack(&packed) {
                prop_assert_eq!(unpacked.len() as u64, length);
            }
        }
    }

    #[test]
    fn several_blocks_are_packed_and_unpacked() {
        let byte = |at: usize| (at * at % 61 % 23) as u8;
        for length in [BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5] {
            let bytes: Vec<u8> = (0..length).map(byte).collect();
            assert_eq!(unpack(&pack(&bytes)), Some(bytes), "{length} bytes");
        }
    }

    #[test]
    fn frequent_values_take_four_bits() {
        let bytes: Vec<u8> = (0..BLOCK).map(|at| 1 + (at % 15) as u8).collect();
        assert_eq!(pack(&bytes).len(), 8 + BLOCK / 64 + BLOCK / 8 + 15 + BLOCK / 2);
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
        assert_eq!(unpack(&[&1_u64.to_le_bytes()[..], &[1, 0b10], &[5; 15], &[0]].concat()), None);
    }
}
