//! All questions about labels.

use super::bytes::{Bytes, Known, Sentence, tolerance};
use super::{
    NO_ORDERS, ORDERS, assert_are_renyi_entropies, assert_is_distribution, assert_no_nan,
    assert_same_bits, generators,
};
use tutte_trees::{
    ArcMatrix, Error, LabelledArcMatrix, LabelledTree, LabelledTreeDistribution, Tree, TreeSet,
};

/// Labels on a sentence of at most 8 words, in one set.
pub(super) fn ask(sentence: &Sentence<'_>, tree: Option<&Tree>) {
    let words = sentence.scores.words();
    let mut bytes = Bytes(sentence.rest);
    if words > 8 {
        return;
    }
    let tree_set = TreeSet::ALL[bytes.below(4)];
    let labels = bytes.below(5);
    let forbidden_per_10 = [0, 0, 3, 6][bytes.below(4)];
    // Three in four labels take the score of the arc, the others a score of their own.
    let scores = LabelledArcMatrix::from_fn(words, labels, |head, modifier, _| {
        if bytes.below(10) < forbidden_per_10 {
            f64::NEG_INFINITY
        } else if bytes.below(4) == 0 {
            bytes.score(sentence.palette)
        } else {
            sentence.scores[(head, modifier)]
        }
    });
    ask_matrix(&scores, tree, &mut bytes);

    let bad = bad_label(&scores, |x| x == f64::NEG_INFINITY || x.abs() <= ArcMatrix::MAX_SCORE);
    let d = match LabelledTreeDistribution::new(scores.clone(), tree_set) {
        Ok(d) => d,
        Err(Error::BadScore { head, modifier, label: Some(label), .. }) => {
            assert_eq!(bad, Some((head, modifier, label)));
            return;
        }
        Err(error) => {
            super::assert_is_no_tree(&error, words, tree_set);
            return;
        }
    };
    assert_eq!(bad, None);
    let tolerance = tolerance(words, scores.to_vec());
    ask_one(&d, tree, tolerance, &mut bytes);
    ask_conditions(&d, &mut bytes, tolerance);
    ask_functions(&d, tolerance, &mut bytes);
    ask_both(&d, &d, tolerance);
    let flat = LabelledArcMatrix::zeros(words, labels);
    if let Ok(q) = LabelledTreeDistribution::new(flat, tree_set) {
        ask_both(&d, &q, tolerance);
        ask_both(&q, &d, tolerance);
    }
    let more = LabelledArcMatrix::zeros(words, labels + 1);
    let more = LabelledTreeDistribution::new(more, tree_set).expect("every tree is possible");
    assert!(matches!(d.kl(&more), Err(Error::Shape { .. })));
    assert!(matches!(more.cross_entropy(&d), Err(Error::Shape { .. })));
}

fn bad_label(
    scores: &LabelledArcMatrix,
    accepted: impl Fn(f64) -> bool,
) -> Option<(usize, usize, usize)> {
    ArcMatrix::zeros(scores.words()).arcs().find_map(|(head, modifier, _)| {
        let cell = scores.labels_of(head, modifier).expect("an arc");
        let label = cell.iter().position(|&score| !accepted(score))?;
        Some((head, modifier, label))
    })
}

fn ask_matrix(scores: &LabelledArcMatrix, tree: Option<&Tree>, bytes: &mut Bytes<'_>) {
    let words = scores.words();
    let labels = scores.labels();
    let values = scores.to_vec();
    let again = LabelledArcMatrix::from_vec(words, labels, values.clone()).expect("the same shape");
    assert_same_bits(&again.to_vec(), &values);
    for (words, labels) in [(words, labels + 1), (usize::MAX, labels), (words, usize::MAX)] {
        let wrong = LabelledArcMatrix::from_vec(words, labels, values.clone());
        assert!(matches!(wrong, Err(Error::Shape { .. })) || values.is_empty());
    }
    assert_eq!(scores.labels_of(0, 0), None);
    assert_eq!(scores.labels_of(usize::MAX, 1), None);

    let Some(tree) = tree else { return };
    let drawn: Vec<usize> = (0..words).map(|_| bytes.below(labels + 1)).collect();
    assert!(LabelledTree::new(tree.clone(), vec![0; words + 1]).is_err());
    let labelled = LabelledTree::new(tree.clone(), drawn.clone()).expect("one label per word");
    assert_eq!((labelled.tree(), labelled.labels()), (tree, &drawn[..]));
    assert_eq!(labelled.arcs().len(), words);
    assert_eq!(scores.sum_over(&labelled).is_ok(), drawn.iter().all(|&label| label < labels));
}

fn ask_one(
    d: &LabelledTreeDistribution,
    tree: Option<&Tree>,
    tolerance: f64,
    bytes: &mut Bytes<'_>,
) {
    let words = d.words();
    let labels = d.labels();
    let scores = d.scores();
    assert_eq!((words, labels), (scores.words(), scores.labels()));
    assert_is_distribution(d.arcs().marginals(), d.arcs().scores(), d.arcs().tree_set(), tolerance);
    assert!(d.log_partition().is_finite());
    let marginals = d.marginals();
    for head in 0..=words + 1 {
        for modifier in 0..=words + 1 {
            let Ok(probs) = d.label_probs(head, modifier) else {
                assert!(!d.arcs().scores().has_arc(head, modifier));
                continue;
            };
            assert!(probs.iter().all(|p| (0.0..=1.0 + 1e-9).contains(p)), "{probs:?}");
            let sum: f64 = probs.iter().sum();
            let allowed = d.arcs().scores()[(head, modifier)] > f64::NEG_INFINITY;
            let expected = f64::from(u8::from(allowed));
            assert!((sum - expected).abs() <= tolerance, "labels sum to {sum}");
            let sum: f64 = marginals.labels_of(head, modifier).expect("an arc").iter().sum();
            let p = d.arcs().marginals()[(head, modifier)];
            assert!((sum - p).abs() <= tolerance, "{sum} or {p}");
        }
    }

    let possible = |tree: &LabelledTree| {
        let log_prob = d.log_prob(tree).expect("a tree of this sentence");
        assert!(log_prob <= 0.0);
        assert!(tree.tree().check_in(d.arcs().tree_set()).is_ok() || log_prob.is_infinite());
        log_prob > f64::NEG_INFINITY
    };
    if let Some(tree) = tree {
        let tree = LabelledTree::new(tree.clone(), vec![0; words]).expect("one label per word");
        assert_eq!(d.log_prob(&tree).is_ok(), words == 0 || labels > 0);
    }
    let best = d.argmax();
    assert!(possible(&best.tree) && best.score <= d.log_partition() + tolerance);
    assert!(possible(&d.mbr()));
    for tree_set in TreeSet::ALL {
        match d.mbr_in(tree_set) {
            Ok(tree) => assert_eq!(tree.tree().check_in(tree_set), Ok(())),
            Err(error) => super::assert_is_no_tree(&error, words, tree_set),
        }
    }
    assert_eq!(d.kbest(0), []);
    for k in if words <= 3 { &[1, 5, 1000][..] } else { &[1, 5] } {
        let ranked = d.kbest(*k);
        assert!(!ranked.is_empty() && ranked.len() <= *k);
        assert!((ranked[0].score - best.score).abs() <= tolerance);
        assert!(ranked.windows(2).all(|pair| pair[0].score >= pair[1].score));
        assert!(ranked.iter().all(|scored| possible(&scored.tree)));
        let mut trees: Vec<&LabelledTree> = ranked.iter().map(|scored| &scored.tree).collect();
        trees.sort();
        trees.dedup();
        assert_eq!(trees.len(), ranked.len(), "a tree is listed twice");
    }
    for mut rng in generators(bytes.next()) {
        assert!(possible(&d.sample(&mut rng)));
    }

    let entropy = d.entropy();
    let log_count = d.arcs().log_tree_count() + words as f64 * (labels.max(1) as f64).ln();
    assert!((0.0..=log_count + 1e-9 + tolerance).contains(&entropy), "{entropy} of {log_count}");
    let entropies: Vec<f64> = ORDERS.map(|order| d.renyi(order).expect("an order")).to_vec();
    assert!((entropies[5] - entropy).abs() <= tolerance, "{} or {entropy}", entropies[5]);
    assert_are_renyi_entropies(&entropies, 1e5 * tolerance);
    for order in NO_ORDERS {
        assert!(matches!(d.renyi(order), Err(Error::BadParameter { .. })));
    }
}

fn ask_conditions(d: &LabelledTreeDistribution, bytes: &mut Bytes<'_>, tolerance: f64) {
    let words = d.words();
    let labels = d.labels();
    let known = bytes.constraints(words, labels);
    let in_range = |pairs: &[(usize, usize)]| {
        pairs.iter().all(|(word, label)| (1..=words).contains(word) && *label < labels)
    };
    let in_range = known.is_in_range(d.arcs().scores())
        && in_range(&known.labels)
        && in_range(&known.no_labels);
    match d.condition(&known.constraints()) {
        Ok(posterior) => {
            assert!(in_range);
            assert!(posterior.log_partition() <= d.log_partition() + tolerance);
            assert!(holds(&known, &posterior.argmax().tree));
            for mut rng in generators(bytes.next()) {
                assert!(holds(&known, &posterior.sample(&mut rng)));
            }
        }
        Err(Error::NoTree { .. }) => assert!(in_range),
        Err(error) => assert!(!in_range, "{error}"),
    }
}

fn holds(known: &Known, tree: &LabelledTree) -> bool {
    let has = |&(modifier, label): &(usize, usize)| tree.labels()[modifier - 1] == label;
    known.holds(tree.tree().heads())
        && known.labels.iter().all(has)
        && !known.no_labels.iter().any(has)
}

fn ask_functions(d: &LabelledTreeDistribution, tolerance: f64, bytes: &mut Bytes<'_>) {
    let exact = tolerance < 0.1;
    let words = d.words();
    let labels = d.labels();
    let palette = bytes.next();
    let mut function = || LabelledArcMatrix::from_fn(words, labels, |_, _, _| bytes.value(palette));
    let (f, g) = (function(), function());
    let bad = ArcMatrix::zeros(words).arcs().any(|(head, modifier, _)| {
        let cells = d.scores().labels_of(head, modifier).into_iter().flatten();
        let values = g.labels_of(head, modifier).into_iter().flatten();
        cells.zip(values).any(|(&score, value)| {
            score > f64::NEG_INFINITY && (value.is_nan() || value.abs() > ArcMatrix::MAX_SCORE)
        })
    });
    assert_eq!(d.expectation(&g).is_err(), bad);
    match d.arc_covariances(&g) {
        Ok(covariances) => {
            assert_no_nan(&covariances.to_vec());
            let cells = d.scores().to_vec().into_iter().zip(g.to_vec());
            let allowed = cells.filter(|&(score, _)| score > f64::NEG_INFINITY);
            let size = allowed.fold(0.0f64, |size, (_, value)| size.max(value.abs()));
            let bound = size * words as f64 * (1.0 + 1e-9);
            assert!(d.expectation(&g).is_ok_and(|mean| mean.abs() <= bound));
            let in_bound = covariances.to_vec().iter().all(|c| c.abs() <= bound);
            assert!(!exact || in_bound, "{covariances:?}");
            assert!(d.covariance(&f, &g).map_or(true, |c| !c.is_nan()));
            let variance = d.covariance(&g, &g).expect("a function");
            assert!(!variance.is_nan() && (!exact || variance >= -1e-9 * bound * bound));
        }
        Err(error) => assert!(bad && matches!(error, Error::BadScore { .. }), "{error}"),
    }
    let more = LabelledArcMatrix::zeros(words, labels + 1);
    assert!(matches!(d.covariance(&more, &more), Err(Error::Shape { .. })));
}

fn ask_both(p: &LabelledTreeDistribution, q: &LabelledTreeDistribution, tolerance: f64) {
    let kl = p.kl(q).expect("comparable");
    let cross_entropy = p.cross_entropy(q).expect("comparable");
    assert!(kl >= 0.0 && cross_entropy >= 0.0, "KL {kl}, cross-entropy {cross_entropy}");
    assert_eq!(kl.is_finite(), cross_entropy.is_finite());
    assert!(!std::ptr::eq(p, q) || kl <= tolerance, "KL {kl} from itself");
}
