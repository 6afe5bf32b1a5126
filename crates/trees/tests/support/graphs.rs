//! All questions about graphs.

use super::bytes::{Bytes, Sentence, tolerance};
use super::{assert_no_nan, assert_same_bits, generators};
use tutte_trees::{ArcFrequencies, ArcMatrix, Error, Graph, GraphDistribution, Tree, TreeSet};

/// Asks all questions about a graph, either that of the sentence or one of up to ten nodes.
///
/// Its arcs may be parallel, loops, into the root, to nodes that do not exist, of weight 0 or of a weight
/// that is refused.
pub(super) fn ask(sentence: &Sentence<'_>) {
    let mut bytes = Bytes(sentence.rest);
    let tree_set = TreeSet::ALL[bytes.below(4)];
    let graph = if bytes.below(4) == 0 {
        let names = 0..=sentence.scores.words();
        match Graph::from_matrix(names, &sentence.scores) {
            Ok(graph) => graph,
            Err(error) => {
                assert!(sentence.bad_arc().is_some(), "{error}");
                return;
            }
        }
    } else {
        read_graph(&mut bytes, sentence.palette)
    };
    let arcs = graph.arcs().len();
    assert_eq!(graph.names().len(), graph.nodes() + 1);
    assert!((0..=graph.nodes()).all(|node| graph.node(&node) == Some(node)));
    assert!(graph.ignored_arcs().all(|arc| {
        let (parent, child, _) = graph.arcs().nth(arc).expect("an arc of the graph");
        child == 0 || parent == child
    }));
    let d = match GraphDistribution::new(graph.clone(), tree_set) {
        Ok(d) => d,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            match error {
                Error::BadParameter { .. } => assert!(tree_set.is_projective()),
                Error::SeveralChildrenNeeded { nodes } => {
                    assert!(tree_set.is_single_root() && nodes.len() > 1);
                }
                Error::Unreachable { nodes } => assert!(!nodes.is_empty()),
                other => panic!("refused because {other}"),
            }
            return;
        }
    };
    let tolerance = tolerance(graph.nodes(), graph.arcs().map(|(.., weight)| weight));
    assert_eq!((d.tree_set(), d.graph().arcs().len()), (tree_set, arcs));
    assert_eq!(d.components().iter().map(Vec::len).sum::<usize>(), graph.nodes());
    ask_probabilities(&d, tolerance);
    ask_trees(&d, tolerance, &mut bytes);
    ask_conditions(&d, tolerance, &mut bytes);
    ask_functions(&d, tolerance, &mut bytes);

    let kl = d.kl(&d);
    let cross_entropy = d.cross_entropy(&d);
    assert!(kl.is_ok_and(|kl| (0.0..=tolerance).contains(&kl)));
    assert!(cross_entropy.is_ok_and(|h| tolerance > 0.1 || (h - d.entropy()).abs() <= tolerance));
    for nodes in [graph.nodes(), graph.nodes() + 1] {
        let full = Graph::from_matrix(0..=nodes, &ArcMatrix::zeros(nodes)).expect("a graph");
        let full = GraphDistribution::new(full, tree_set).expect("every tree is possible");
        for divergence in [d.kl(&full), full.kl(&d), d.cross_entropy(&full), full.cross_entropy(&d)]
        {
            match divergence {
                Ok(divergence) => assert!(divergence >= 0.0, "{divergence}"),
                Err(error) => assert!(matches!(error, Error::DifferentLengths { .. }), "{error}"),
            }
        }
        assert!(nodes != graph.nodes() || d.kl(&full).is_ok_and(f64::is_finite));
    }
}

fn read_graph(bytes: &mut Bytes<'_>, palette: u8) -> Graph<usize> {
    let nodes = bytes.below(11);
    let mut graph = Graph::new(0, 1..=nodes).expect("different names");
    assert!(matches!(Graph::new(0, (0..=nodes).rev()), Err(Error::DuplicateNode { .. })));
    for _ in 0..bytes.below(40) {
        let (parent, child) = (bytes.below(nodes + 1), bytes.below(nodes + 2));
        let weight = if bytes.below(8) == 0 { f64::NEG_INFINITY } else { bytes.score(palette) };
        match graph.add_arc(&parent, &child, weight) {
            Ok(arc) => {
                assert_eq!(arc + 1, graph.arcs().len());
                assert!(graph.arc_between(parent, child).is_some_and(|first| first <= arc));
            }
            Err(Error::UnknownNode { .. }) => assert!(child > nodes),
            Err(Error::BadWeight { .. }) => {
                assert!(weight.is_nan() || weight.abs() > ArcMatrix::MAX_SCORE);
            }
            Err(error) => panic!("{error}"),
        }
    }
    graph
}

fn ask_probabilities(d: &GraphDistribution<usize>, tolerance: f64) {
    let graph = d.graph();
    assert!(d.log_partition().is_finite() && d.log_partition() >= d.argmax().score);
    assert_eq!(d.marginals().len(), graph.arcs().len());
    let mut sums = vec![0.0; graph.nodes() + 1];
    for ((parent, child, weight), &p) in graph.arcs().zip(d.marginals()) {
        assert!((0.0..=1.0 + 1e-9).contains(&p), "P({parent} → {child}) = {p}");
        let possible = weight > f64::NEG_INFINITY && child != 0 && parent != child;
        assert!(p == 0.0 || possible);
        sums[child] += p;
    }
    if tolerance <= 0.1 {
        assert!(sums[1..].iter().all(|sum| (sum - 1.0).abs() <= tolerance), "{sums:?}");
    }
    let bound = graph.nodes() as f64 * (graph.nodes().max(1) as f64).ln() + tolerance;
    assert!((0.0..=bound).contains(&d.entropy()), "{}", d.entropy());

    // Graphs and sentences agree.
    let n = graph.nodes();
    let mut scores = vec![f64::NEG_INFINITY; (n + 1) * (n + 1)];
    for (parent, child, weight) in graph.arcs() {
        let cell = &mut scores[parent * (n + 1) + child];
        let (high, low) = (cell.max(weight), cell.min(weight));
        if high > f64::NEG_INFINITY {
            *cell = high + (low - high).exp().ln_1p();
        }
    }
    let scores = ArcMatrix::from_vec(n, scores).expect("a square");
    let dense = tutte_trees::TreeDistribution::new(scores, d.tree_set()).expect("there is a tree");
    assert!((dense.log_partition() - d.log_partition()).abs() <= tolerance);
    assert!((dense.argmax().score - d.argmax().score).abs() <= tolerance);
}

fn ask_trees(d: &GraphDistribution<usize>, tolerance: f64, bytes: &mut Bytes<'_>) {
    let nodes = d.graph().nodes();
    let possible = |tree: &Tree| {
        let log_prob = d.log_prob(tree).expect("a tree of this graph");
        assert!(log_prob <= 0.0);
        assert!(tree.check_in(d.tree_set()).is_ok() || log_prob.is_infinite());
        log_prob > f64::NEG_INFINITY
    };
    assert!(possible(&d.argmax().tree));
    let longer = Tree::new(&vec![0; nodes + 1]).expect("every node a child of the root");
    assert!(matches!(d.log_prob(&longer), Err(Error::DifferentLengths { .. })));

    assert_eq!(d.kbest(0), []);
    for k in if nodes <= 4 { &[1, 5, 1000][..] } else { &[1, 5] } {
        let ranked = d.kbest(*k);
        assert!(!ranked.is_empty() && ranked.len() <= *k);
        assert!((ranked[0].score - d.argmax().score).abs() <= tolerance);
        assert!(ranked.windows(2).all(|pair| pair[0].score >= pair[1].score));
        assert!(ranked.iter().all(|scored| possible(&scored.tree)));
        let mut trees: Vec<&Tree> = ranked.iter().map(|scored| &scored.tree).collect();
        trees.sort();
        trees.dedup();
        assert_eq!(trees.len(), ranked.len(), "a tree is listed twice");
    }

    let mut frequencies = ArcFrequencies::new(d);
    assert!(frequencies.add(&longer).is_err());
    for mut rng in generators(bytes.next()) {
        let tree = d.sample(&mut rng);
        assert!(possible(&tree), "{tree:?} is impossible");
        frequencies.add(&tree).expect("a tree of this graph");
        let pairs = [(bytes.below(nodes + 1), bytes.below(nodes + 2))];
        match d.coclustering(&mut rng, u64::from(bytes.next() % 4), &pairs) {
            Ok(estimates) => {
                assert!((0.0..=1.0).contains(&estimates[0].mean));
                assert!(estimates[0].standard_error >= 0.0);
            }
            Err(_) => assert!(pairs[0].0 == 0 || pairs[0].1 == 0 || pairs[0].1 > nodes),
        }
    }
    assert_eq!(frequencies.samples(), 3);
    for estimate in frequencies.estimates() {
        assert!((0.0..=1.0).contains(&estimate.mean) && estimate.standard_error >= 0.0);
    }
}

fn ask_conditions(d: &GraphDistribution<usize>, tolerance: f64, bytes: &mut Bytes<'_>) {
    let arcs: Vec<(usize, usize, f64)> = d.graph().arcs().collect();
    let mut some =
        || -> Vec<usize> { (0..bytes.below(3)).map(|_| bytes.below(arcs.len() + 1)).collect() };
    let (required, forbidden) = (some(), some());
    match d.condition(&required, &forbidden) {
        Ok(posterior) => {
            assert!(posterior.log_partition() <= d.log_partition() + tolerance);
            for (arc, &p) in posterior.marginals().iter().enumerate() {
                assert!(!forbidden.contains(&arc) || p == 0.0);
                assert!(!required.contains(&arc) || (p - 1.0).abs() <= tolerance.min(1.0));
            }
            for &arc in &required {
                let (parent, child, _) = arcs[arc];
                assert_eq!(posterior.argmax().tree.head(child), Some(parent));
            }
        }
        Err(Error::NoSuchGraphArc { arc, .. }) => assert_eq!(arc, arcs.len()),
        Err(error) => assert!(!required.is_empty() || !forbidden.is_empty(), "{error}"),
    }
    let (first, second) = (bytes.below(arcs.len() + 1), bytes.below(arcs.len() + 1));
    match d.pair_marginal(first, second) {
        Ok(p) => {
            let single = d.marginals()[first].min(d.marginals()[second]);
            assert!((0.0..=1.0 + 1e-9).contains(&p) && p <= single + tolerance, "{p} {single}");
        }
        Err(error) => {
            assert!(matches!(error, Error::NoSuchGraphArc { .. }));
            assert!(first == arcs.len() || second == arcs.len());
        }
    }
}

fn ask_functions(d: &GraphDistribution<usize>, tolerance: f64, bytes: &mut Bytes<'_>) {
    let arcs = d.graph().arcs().len();
    let palette = bytes.next();
    let g: Vec<f64> = (0..arcs).map(|_| bytes.value(palette)).collect();
    let size = g.iter().fold(0.0f64, |size, value| size.max(value.abs()));
    let bound = size * (d.graph().nodes() as f64 + 1e-9);
    match (d.expectation(&g), d.arc_covariances(&g)) {
        (Ok(mean), Ok(covariances)) => {
            assert_no_nan(&covariances);
            assert!(mean.abs() <= bound, "{mean}");
            assert!(
                tolerance > 0.1 || covariances.iter().all(|c| c.abs() <= bound),
                "{covariances:?}"
            );
            let again = d.arc_covariances(&g).expect("a function");
            assert_same_bits(&again, &covariances);
        }
        (Err(error), Err(_)) => {
            assert!(matches!(error, Error::BadParameter { .. }), "{error}");
            assert!(g.iter().any(|value| value.is_nan() || value.abs() > ArcMatrix::MAX_SCORE));
        }
        (mean, covariances) => panic!("{mean:?}, {covariances:?}"),
    }
    assert!(matches!(d.expectation(&vec![0.0; arcs + 1]), Err(Error::Shape { .. })));
}
