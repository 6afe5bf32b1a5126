//! Any scores: no NaN, the same bits, no allocation after warm-up; refused inputs are named.

use allocation_counter::measure;
use proptest::prelude::*;
use tutte_trees::factors::{
    Decoder, Derivatives, FactorGraph, Gradient, Inference, Limit, Messages, Options, Schedule,
    Side,
};
use tutte_trees::{ArcMatrix, Error, TreeSet, Workspace};

use super::support::*;
use super::{Heads, beliefs, everything, run};

const fn assert_shared_by_threads<T: Send + Sync + 'static>() {}

const _: () = {
    assert_shared_by_threads::<FactorGraph>();
    assert_shared_by_threads::<Gradient>();
    assert_shared_by_threads::<Messages>();
    assert_shared_by_threads::<Options>();
};

/// Numbers that break careless arithmetic.
const SIZES: [f64; 7] = [0.0, 1.0, 40.0, 1e3, 1e15, 1e300, 5e-324];

/// A score or log-weight of any size; now and then −∞ where that is allowed.
fn extreme(random: &mut Random, may_forbid: bool) -> f64 {
    if may_forbid && random.below(6) == 0 {
        return FORBIDDEN;
    }
    let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
    sign * SIZES[random.below(SIZES.len())]
}

/// A graph with every family, and log-weights of any size.
fn extreme_graph(scores: &ArcMatrix, set: TreeSet, random: &mut Random) -> Option<FactorGraph> {
    let mut graph = FactorGraph::new(scores, set).ok()?;
    let words = graph.words();
    graph.add_grandparents(|_, _, _| extreme(random, true)).unwrap();
    graph.add_siblings(|_, _, _| extreme(random, true)).unwrap();
    graph.add_no_crossings(|_, _| extreme(random, true)).unwrap();
    graph.add_exactly_one_head().unwrap();
    graph.add_not_two_heads().unwrap();
    graph.add_no_two_cycles().unwrap();
    let arcs: Vec<(usize, usize)> = graph.arcs().collect();
    for &(head, modifier) in &arcs {
        let labels = [(0, extreme(random, false)), (1, extreme(random, false))];
        graph.add_labels(head, modifier, &labels).unwrap();
    }
    for head in 0..=words {
        for side in [Side::Left, Side::Right] {
            graph.add_child_sequence(head, side, |_, _| extreme(random, true)).unwrap();
        }
        graph.add_label_limit(head, 0, Limit::Hard).unwrap();
        graph.add_label_limit(head, 1, Limit::Once(extreme(random, true))).unwrap();
        graph.add_label_limit(head, 1, Limit::PerExtra(extreme(random, true))).unwrap();
    }
    if words > 0 {
        let mut list =
            |count: usize| -> Vec<f64> { (0..count).map(|_| extreme(random, true)).collect() };
        graph.add_tags(2, &list(2 * words)).unwrap();
        for &(head, modifier) in &arcs {
            graph.add_tag_link(head, modifier, &list(if head == 0 { 2 } else { 4 })).unwrap();
        }
        graph.add_tag_trigrams(&list(18)).unwrap();
    }
    Some(graph)
}

fn every_options(random: &mut Random) -> Vec<Options> {
    let inferences = [
        Inference::SumProduct,
        Inference::MaxProduct,
        Inference::Annealed { first: 1e6, last: 1e-6 },
    ];
    let mut all = Vec::new();
    for inference in inferences {
        for schedule in [Schedule::Serial, Schedule::Flooding, Schedule::TreeFirst] {
            let damping = [0.0, 0.5][random.below(2)];
            let iterations = 1 + random.below(6);
            all.push(Options {
                iterations,
                schedule,
                damping,
                inference,
                record: true,
                tolerance: 0.0,
            });
        }
    }
    all
}

proptest! {
    #![proptest_config(runs(60))]

    #[test]
    fn never_nan(words in 0usize..=6, mask in 0usize..3, seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let mut scores = ArcMatrix::from_fn(words, |_, _| extreme(&mut random, false));
        random.mask(&mut scores, [0.0, 0.3, 0.6][mask]);
        for set in TreeSet::ALL {
            let Some(graph) = extreme_graph(&scores, set, &mut random) else { continue };
            for options in every_options(&mut random) {
                let (mut messages, report) = run(&graph, &options);
                assert!((0.0..=1.0).contains(&report.residual), "{report:?}");
                for (head, modifier, b) in beliefs(&graph, &messages).arcs() {
                    assert!((0.0..=1.0).contains(&b), "{set}, {options:?}: {head} → {modifier}: {b}");
                    for (_, b) in graph.label_beliefs(&messages, head, modifier) {
                        assert!((0.0..=1.0).contains(&b));
                    }
                }
                for word in 1..=words {
                    assert!(graph.tag_beliefs(&messages, word).iter().all(|b| (0.0..=1.0).contains(b)));
                }
                assert!(!graph.log_partition(&mut messages).is_nan(), "{set}, {options:?}");
                let mut expectations = Vec::new();
                graph.expectations(&mut messages, &mut expectations);
                assert!(expectations.iter().all(|e| e.is_finite() && *e >= 0.0));
                for decoder in [Decoder::SumOfBeliefs, Decoder::SumOfLogOdds, Decoder::TreeMode] {
                    let tree = graph.decode(&mut messages, decoder).unwrap();
                    tree.check_in(set).unwrap();
                    assert!(tree.arcs().all(|(head, modifier)| graph.has_arc(head, modifier)));
                }
                assert!(graph.tree_distribution(&messages).unwrap().entropy() >= 0.0);
                if options.inference != Inference::MaxProduct {
                    let ones = ArcMatrix::filled(words, 1.0);
                    let derivatives = Derivatives { beliefs: Some(&ones), ..Derivatives::default() };
                    let mut gradient = Gradient::default();
                    graph.backward(&mut messages, derivatives, &mut gradient).unwrap();
                    let arcs = gradient.arcs.arcs().all(|(.., x)| !x.is_nan());
                    assert!(arcs && gradient.weights.iter().all(|x| !x.is_nan()), "{set} {options:?}");
                }
            }
        }
    }

    /// A new `Messages`, a used one and a graph that was reset give the same bits.
    #[test]
    fn the_same_bits(words in 0usize..=8, seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let set = TreeSet::ALL[random.below(4)];
        let scores = random.scores(words, 2.0);
        let graph = everything(&scores, set, Heads::Often, 1.0, &mut random).unwrap();
        let options = Options { damping: 0.1, ..Options::default() };
        let (messages, report) = run(&graph, &options);
        let mut used = Messages::default();
        let other = everything(&random.scores(9, 1.0), set, Heads::Often, 1.0, &mut random).unwrap();
        other.run(&Options { record: true, ..Options::default() }, &mut used).unwrap();
        assert_eq!(graph.run(&options, &mut used).unwrap(), report);
        let bits = |messages: &Messages| -> Vec<u64> {
            beliefs(&graph, messages).arcs().map(|(.., b)| b.to_bits()).collect()
        };
        assert_eq!(bits(&messages), bits(&used));
        let mut reset = other.clone();
        reset.reset(&scores, set, &mut Workspace::default(), &mut Vec::new()).unwrap();
        let plain = FactorGraph::new(&scores, set).unwrap();
        let (plain_messages, _) = run(&plain, &options);
        let (reset_messages, _) = run(&reset, &options);
        assert_eq!(beliefs(&plain, &plain_messages), beliefs(&reset, &reset_messages));
    }
}

#[test]
fn no_allocation_after_warm_up() {
    let mut random = Random::new(2);
    let scores = random.scores(12, 1.0);
    for set in TreeSet::ALL {
        // Messages that grow need logarithms in the adjoint of TREE, which allocates.
        let graph = everything(&scores, set, Heads::Once, 0.2, &mut random).unwrap();
        let mut messages = Messages::default();
        let mut heads = Vec::new();
        let mut out = ArcMatrix::default();
        let mut expectations = Vec::new();
        let mut gradient = Gradient::default();
        let mut work = |inference: Inference| {
            let options = Options { iterations: 3, record: true, inference, ..Options::default() };
            graph.run(&options, &mut messages).unwrap();
            graph.beliefs(&messages, &mut out);
            graph.log_partition(&mut messages);
            graph.expectations(&mut messages, &mut expectations);
            graph.decode_with(&mut messages, Decoder::SumOfBeliefs, set, &mut heads).unwrap();
            if inference == Inference::SumProduct {
                let derivatives = Derivatives { beliefs: Some(&out), ..Derivatives::default() };
                graph.backward(&mut messages, derivatives, &mut gradient).unwrap();
            }
        };
        for inference in [Inference::SumProduct, Inference::MaxProduct] {
            work(inference);
            assert_eq!(measure(|| work(inference)).count_total, 0, "{set}, {inference:?}");
        }
    }
}

/// Every refusal says what is wrong and where.
#[test]
fn refused_inputs() {
    let set = TreeSet::NonProjectiveSingleRoot;
    let mut scores = ArcMatrix::zeros(3);
    scores[(2, 1)] = f64::NAN;
    let error = FactorGraph::new(&scores, set).unwrap_err();
    assert!(matches!(error, Error::BadScore { head: 2, modifier: 1, .. }), "{error}");
    scores[(2, 1)] = f64::INFINITY;
    assert!(matches!(FactorGraph::new(&scores, set), Err(Error::BadScore { .. })));
    let mut scores = ArcMatrix::zeros(3);
    for head in 0..=3 {
        scores.forbid(head, 2);
    }
    let error = FactorGraph::new(&scores, set).unwrap_err();
    assert!(matches!(&error, Error::NoTree { words, .. } if words == &[2]), "{error}");
    let mut scores = ArcMatrix::zeros(3);
    (1..=3).for_each(|word| scores.forbid(0, word));
    assert!(matches!(FactorGraph::new(&scores, set), Err(Error::NoTree { .. })));

    let mut scores = ArcMatrix::zeros(3);
    scores.forbid(1, 3);
    let mut graph = FactorGraph::new(&scores, set).unwrap();
    let error = graph.add_sibling(1, 2, 3, 1.0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a SIB factor refers to the arc 1 → 3, which is forbidden; leave the factor out, or give the arc \
         a finite score"
    );
    assert!(matches!(graph.add_pair((2, 2), (1, 2), 0.0), Err(Error::NoSuchArc { .. })));
    assert!(matches!(graph.add_pair((1, 2), (1, 9), 0.0), Err(Error::NoSuchArc { .. })));
    assert!(matches!(graph.add_pair((1, 2), (1, 2), 0.0), Err(Error::BadParameter { .. })));
    assert!(matches!(graph.add_grandparent(2, 1, 2, 0.0), Err(Error::BadParameter { .. })));
    for bad in [f64::NAN, f64::INFINITY, 1e301] {
        let error = graph.add_sibling(2, 1, 3, bad).unwrap_err();
        assert!(matches!(error, Error::BadFactorWeight { factor: "SIB", .. }), "{error}");
        assert!(graph.add_no_crossing(1, 2, bad).is_err());
        let mut calls = 0;
        let mut later = || {
            calls += 1;
            if calls > 2 { bad } else { 0.0 }
        };
        assert!(graph.add_grandparents(|_, _, _| later()).is_err());
        assert!(graph.add_siblings(|_, _, _| later()).is_err());
        assert!(graph.add_child_sequence(0, Side::Right, |_, _| bad).is_err());
        assert!(graph.add_label_limit(0, 0, Limit::Once(bad)).is_err());
        assert!(graph.add_labels(0, 1, &[(0, bad)]).is_err());
        assert!(graph.set_score(0, 1, bad).is_err());
        assert!(graph.add_tags(1, &[0.0, bad, 0.0]).is_err());
    }
    assert_eq!(graph.weight_count(), 0, "refused factors leave nothing behind");
    assert!(graph.add_no_crossing(1, 1, 0.0).is_err() && graph.add_no_crossing(0, 1, 0.0).is_err());
    assert!(graph.add_labels(0, 1, &[]).is_err());
    graph.add_labels(0, 1, &[(4, 0.0)]).unwrap();
    assert!(graph.add_labels(0, 1, &[(4, 0.0)]).is_err());
    assert!(graph.add_tag_link(0, 1, &[0.0]).is_err() && graph.add_tag_trigrams(&[]).is_err());
    assert!(graph.add_tags(0, &[]).is_err() && graph.add_tags(2, &[0.0; 5]).is_err());
    assert!(graph.add_child_sequence(4, Side::Left, |_, _| 0.0).is_err());
    let mut messages = Messages::default();
    for options in [
        Options { damping: 1.0, ..Options::default() },
        Options { damping: f64::NAN, ..Options::default() },
        Options { tolerance: -1.0, ..Options::default() },
        Options { inference: Inference::Annealed { first: 1.0, last: 0.0 }, ..Options::default() },
    ] {
        assert!(matches!(graph.run(&options, &mut messages), Err(Error::BadParameter { .. })));
    }
}
