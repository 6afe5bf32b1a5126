//! Bytes packed by leaving out zeros.
//!
//! Most cells of a table of 8-bit weights are zero. Each group of eight bytes is stored as a mask of one byte, which
//! marks the bytes that are not zero, and then those bytes:
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
    // Every group takes at least one byte. This bounds the memory that a wrong length can request.
    if rest.len() < groups {
        return None;
    }
    let mut bytes = vec![0; groups * GROUP];
    for group in bytes.chunks_exact_mut(GROUP) {
        let (&mask, values) = rest.split_first()?;
        let count = mask.count_ones() as usize;
        if mask != 0 {
            // Most groups are followed by at least eight bytes. These are read with one length check.
            match values.first_chunk::<GROUP>() {
                Some(values) => spread(mask, values, group),
                None => {
                    let mut padded = [0; GROUP];
                    padded[..values.len()].copy_from_slice(values);
                    spread(mask, &padded, group);
                }
            }
        }
        rest = values.get(count..)?;
    }
    let is_padding = bytes[length..].iter().all(|&byte| byte == 0);
    bytes.truncate(length);
    (rest.is_empty() && is_padding).then_some(bytes)
}

/// Writes the next value to every place whose bit is set, and zero to the others.
fn spread(mask: u8, values: &[u8; GROUP], group: &mut [u8]) {
    let mut next = 0;
    for (place, byte) in group.iter_mut().enumerate() {
        let is_set = (mask >> place) & 1;
        *byte = values[next & (GROUP - 1)] * is_set;
        next += usize::from(is_set);
    }
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
        // A length without any groups, and a value beyond the length.
        assert_eq!(unpack(&u64::MAX.to_le_bytes()), None);
        assert_eq!(unpack(&[&1_u64.to_le_bytes()[..], &[0b10, 5]].concat()), None);
    }
}
