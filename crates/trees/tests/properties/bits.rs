//! The fast paths give the same bits whatever vector unit the machine has.

use tutte_trees::{ArcMatrix, TreeSet, Workspace, marginals_with};

/// Multiples of 1/7, the same numbers on every machine.
fn scores(words: usize) -> ArcMatrix {
    ArcMatrix::from_fn(words, |head, modifier| ((head * 31 + modifier * 17) % 23) as f64 / 7.0)
}

fn fingerprint(set: TreeSet, words: usize) -> u64 {
    let mut marginals = ArcMatrix::default();
    marginals_with(&scores(words), set, &mut Workspace::default(), &mut marginals).unwrap();
    marginals.as_slice().iter().fold(0, |sum: u64, x| sum.rotate_left(7) ^ x.to_bits())
}

/// The recorded bits are those of portable, AVX2 and AVX-512 code alike. Record them again only when
/// the arithmetic changes on purpose; another machine must not change them.
#[test]
fn marginals_have_the_recorded_bits() {
    for (set, words, recorded) in [
        (TreeSet::NonProjectiveMultiRoot, 10, 0x1df7_c025_d3fd_5614),
        (TreeSet::NonProjectiveMultiRoot, 20, 0x59dc_d0a4_4de9_e262),
        (TreeSet::NonProjectiveMultiRoot, 40, 0xc42f_9b69_6ac2_b0c5),
        (TreeSet::ProjectiveMultiRoot, 10, 0xdd2b_246d_414e_e557),
        (TreeSet::ProjectiveMultiRoot, 20, 0x6bc8_52f4_d2c8_bb86),
        (TreeSet::ProjectiveMultiRoot, 40, 0xedff_cdeb_f1a8_dcd3),
    ] {
        let found = fingerprint(set, words);
        assert_eq!(found, recorded, "{set}, {words} words: {found:#x}");
    }
}
