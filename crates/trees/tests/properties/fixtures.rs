//! Worked examples, with numbers from enumeration and from rational arithmetic.

use tutte_trees::{ArcMatrix, Error, TreeDistribution, TreeSet};

use super::support::{FORBIDDEN, assert_close};

const TOLERANCE: f64 = 1e-11;
const MULTI: TreeSet = TreeSet::NonProjectiveMultiRoot;
const SINGLE: TreeSet = TreeSet::NonProjectiveSingleRoot;

fn three_words() -> ArcMatrix {
    ArcMatrix::from_rows(&[
        [0.0, 1.0, 0.5, -1.0],
        [0.0, 0.0, 2.0, 0.0],
        [0.0, 1.5, 0.0, 1.0],
        [0.0, -0.5, 0.25, 0.0],
    ])
    .unwrap()
}

#[track_caller]
fn assert_marginals(d: &TreeDistribution, expected: &[(usize, usize, f64)]) {
    for &(head, modifier, p) in expected {
        let what = format!("{} {head} → {modifier}", d.tree_set());
        assert_close(d.marginal(head, modifier).unwrap(), p, TOLERANCE, what);
    }
}

#[test]
fn three_words_in_every_set() {
    // Set, log Z, H, R₂, P(1→2 ∧ 2→3), Var(G), Cov(1_{3→1}, G).
    #[rustfmt::skip]
    let rows = [
        (TreeSet::NonProjectiveMultiRoot, 4.959280790366, 2.023860600522, 1.598781922292, 0.383168365279, 0.404611804571, 0.000790407638),
        (TreeSet::NonProjectiveSingleRoot, 4.722234126256, 1.494855286835, 1.183647804820, 0.485666003829, 0.322654950486, -0.003369006672),
        (TreeSet::ProjectiveMultiRoot, 4.848385908634, 1.755723739924, 1.397225438895, 0.428105375770, 0.334978819742, -0.001379609210),
        (TreeSet::ProjectiveSingleRoot, 4.628024944135, 1.252825271050, 1.011379553327, 0.533644739030, 0.273904643791, -0.004578315288),
    ];
    let mut g = ArcMatrix::zeros(3);
    g[(1, 2)] = 1.0;
    g[(2, 3)] = 1.0;
    g[(0, 1)] = -0.5;
    for (set, log_z, entropy, renyi, pair, variance, covariance) in rows {
        let d = TreeDistribution::new(three_words(), set).unwrap();
        assert_close(d.log_partition(), log_z, TOLERANCE, set);
        assert_eq!(d.argmax().tree.heads(), [0, 1, 2], "{set}");
        assert_close(d.argmax().score, 4.0, TOLERANCE, set);
        assert_close(d.entropy(), entropy, TOLERANCE, set);
        assert_close(d.renyi(2.0).unwrap(), renyi, TOLERANCE, set);
        assert_close(d.pair_marginal((1, 2), (2, 3)).unwrap(), pair, TOLERANCE, set);
        assert_close(d.covariance(&g, &g).unwrap(), variance, TOLERANCE, set);
        assert_close(d.arc_covariances(&g).unwrap()[(3, 1)], covariance, TOLERANCE, set);
    }
}

#[test]
fn three_words_arc_by_arc() {
    let d = TreeDistribution::new(three_words(), MULTI).unwrap();
    let expected = [
        (0, 1, 0.738010194412),
        (0, 2, 0.362070866157),
        (0, 3, 0.122535150173),
        (1, 2, 0.587555010657),
        (1, 3, 0.248763472147),
        (2, 1, 0.226749842764),
        (2, 3, 0.628701377680),
        (3, 1, 0.035239962824),
        (3, 2, 0.050374123186),
    ];
    assert_marginals(&d, &expected);
    let d = TreeDistribution::new(three_words(), SINGLE).unwrap();
    let expected = [
        (0, 1, 0.695380130799),
        (0, 2, 0.268574170808),
        (0, 3, 0.036045698393),
        (1, 2, 0.678998384446),
        (2, 3, 0.688512428450),
    ];
    assert_marginals(&d, &expected);
}

/// The determinant of the Laplacian rounds to 0.
#[test]
fn two_words_far_from_the_root() {
    let mut scores = ArcMatrix::zeros(2);
    scores[(0, 1)] = -1000.0;
    scores[(0, 2)] = -1001.0;
    for set in TreeSet::ALL {
        let d = TreeDistribution::new(scores.clone(), set).unwrap();
        assert_close(d.log_partition(), -999.686738312482, TOLERANCE, set);
        let (likely, unlikely) = (0.731058578630, 0.268941421370);
        let expected = [(0, 1, likely), (1, 2, likely), (0, 2, unlikely), (2, 1, unlikely)];
        assert_marginals(&d, &expected);
    }
}

fn masked() -> ArcMatrix {
    let mut scores = ArcMatrix::forbidden(3);
    for (head, modifier, score) in
        [(0, 1, 0.0), (1, 2, 1.0), (0, 2, 2.0), (3, 2, 0.0), (1, 3, 0.0), (2, 3, -1.0)]
    {
        scores[(head, modifier)] = score;
    }
    scores
}

/// Words 2 and 3 head each other and word 1 has no word head: a zero pivot for single-root sets.
#[test]
fn masks_that_close_a_group() {
    let d = TreeDistribution::new(masked(), MULTI).unwrap();
    assert_close(d.log_partition(), 2.696356748789, TOLERANCE, MULTI);
    assert_marginals(&d, &[(0, 2, 0.681748088366), (1, 3, 0.749198894232)]);

    let d = TreeDistribution::new(masked(), SINGLE).unwrap();
    assert_close(d.log_partition(), 1.551444713932, TOLERANCE, SINGLE);
    let (likely, unlikely) = (0.788058442383, 0.211941557617);
    assert_marginals(
        &d,
        &[
            (0, 1, 1.0),
            (0, 2, 0.0),
            (1, 2, likely),
            (1, 3, likely),
            (2, 3, unlikely),
            (3, 2, unlikely),
        ],
    );
}

#[test]
fn masks_that_leave_several_roots_only() {
    let mut scores = masked();
    scores[(1, 2)] = FORBIDDEN;
    scores[(3, 2)] = FORBIDDEN;
    let d = TreeDistribution::new(scores.clone(), MULTI).unwrap();
    assert_close(d.log_partition(), 2.313261687518, TOLERANCE, MULTI);
    let error = TreeDistribution::new(scores, SINGLE).unwrap_err();
    assert_eq!(error, Error::NoTree { tree_set: SINGLE, words: vec![1, 2] });
}
