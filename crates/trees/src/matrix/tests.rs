use super::*;

#[test]
#[should_panic(expected = "cell (0, 4) of a matrix of 3 words")]
fn a_modifier_too_far_is_not_a_cell_of_the_next_row() {
    let mut scores = ArcMatrix::zeros(3);
    scores[(0, 4)] = 1.0;
}

#[test]
#[should_panic(expected = "capacity overflow")]
fn a_matrix_too_large_is_not_a_small_one() {
    ArcMatrix::zeros(u32::MAX as usize); // (n+1)² = 2⁶⁴
}

#[test]
fn a_shape_too_large_is_an_error() {
    for words in [u32::MAX as usize, usize::MAX - 1, usize::MAX] {
        assert!(matches!(ArcMatrix::from_vec(words, Vec::new()), Err(Error::Shape { .. })));
        assert!(!ArcMatrix::zeros(2).has_arc(words, 1));
        assert_eq!(ArcMatrix::zeros(2).get(words, words), None);
    }
}

#[test]
fn equality_is_that_of_the_arcs() {
    let zeros = ArcMatrix::zeros(2);
    let mut garbage = zeros.clone();
    garbage[(0, 0)] = f64::NAN;
    garbage[(1, 1)] = 7.0;
    garbage[(2, 0)] = f64::INFINITY;
    assert_eq!(garbage, garbage.clone());
    assert_eq!(garbage, zeros);
    garbage[(2, 1)] = 1.0;
    assert_ne!(garbage, zeros);
    assert_ne!(ArcMatrix::zeros(1), zeros);
}
