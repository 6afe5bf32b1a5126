//! Graphs of thousands of nodes: they are solved sparsely where possible, and correctly.

use super::*;

/// Components of five nodes, some entered from earlier ones.
fn blocks(count: usize, rng: &mut Pcg64) -> Graph<usize> {
    let mut graph = Graph::new(0, 1..=5 * count).unwrap();
    for block in 0..count {
        let node = |i: usize| 5 * block + 1 + i % 5;
        graph.add_arc_between(0, node(0), -unit(rng)).unwrap();
        if block > 0 {
            let earlier = 1 + below(rng, 5 * block);
            graph.add_arc_between(earlier, node(1), unit(rng)).unwrap();
        }
        for i in 0..5 {
            graph.add_arc_between(node(i), node(i + 1), unit(rng)).unwrap();
            graph.add_arc_between(node(i), node(i + 2), unit(rng)).unwrap();
        }
    }
    graph
}

#[test]
fn a_hundred_thousand_nodes_in_small_blocks() {
    let mut rng = Pcg64::seed_from_u64(5);
    let d = GraphDistribution::new(blocks(20_000, &mut rng), SETS[0]).unwrap();
    assert_eq!(d.components().len(), 20_000);
    let total: f64 = d.marginals().iter().sum();
    assert!((total / 1e5 - 1.0).abs() < 1e-12);
    let tree = d.sample(&mut rng);
    assert!(d.log_prob(&tree).unwrap() > f64::NEG_INFINITY);
    assert!(d.argmax().score <= d.log_partition());
    let best = d.kbest(2);
    assert!(best[0].score >= best[1].score && best[0].tree != best[1].tree);
}

#[test]
fn a_grid_of_thousands_is_solved_sparsely() {
    let mut rng = Pcg64::seed_from_u64(6);
    let d = GraphDistribution::new(grid(70, &mut rng), SETS[0]).unwrap();
    let mut into = vec![0.0; 4901];
    for ((_, child, _), p) in d.graph().arcs().zip(d.marginals()) {
        into[child] += p;
    }
    assert!(into[1..].iter().all(|sum| (sum - 1.0).abs() < 1e-10));
    // The entropy is minus the mean of the log-probability of samples.
    let draws: Vec<f64> = (0..50).map(|_| -d.log_prob(&d.sample(&mut rng)).unwrap()).collect();
    let mean = draws.iter().sum::<f64>() / 50.0;
    let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 49.0;
    assert!((d.entropy() - mean).abs() < 4.5 * (variance / 50.0).sqrt());
    assert!(d.argmax().score < d.log_partition());
    assert!(solved_sparsely(&d));
}

/// True if the marginals of the only component come from sparse elimination.
fn solved_sparsely(d: &GraphDistribution<usize>) -> bool {
    assert_eq!(d.blocks.len(), 1);
    let sparse = d.blocks[0].sparse.as_ref();
    sparse.and_then(|sparse| sparse.solution()?.marginals.as_ref()).is_some()
}

#[test]
fn large_sparse_components_agree_with_the_dense_solver() {
    let mut rng = Pcg64::seed_from_u64(7);
    let graph = grid(21, &mut rng);
    let arcs: Vec<_> = graph.arcs().collect();
    let d = GraphDistribution::new(graph, SETS[0]).unwrap();
    let dense = TreeDistribution::new(dense_scores_of(441, &arcs), SETS[0]).unwrap();
    assert!(close(d.log_partition(), dense.log_partition(), 1e-12));
    assert!(close(d.argmax().score, dense.argmax().score, 1e-12));
    assert!(close(d.entropy(), dense.entropy(), 1e-11));
    for (&(parent, child, _), p) in arcs.iter().zip(d.marginals()) {
        assert!((p - dense.marginals()[(parent, child)]).abs() < 1e-10);
    }
    assert!(solved_sparsely(&d));
    // Wilson's walk on the sparse arcs.
    let mut frequencies = ArcFrequencies::new(&d);
    for _ in 0..400 {
        frequencies.add(&d.sample(&mut rng)).unwrap();
    }
    let far = |&(estimate, &p): &(Estimate, &f64)| {
        (estimate.mean - p).abs() > 4.0 * (p * (1.0 - p) / 400.0).sqrt() + 1e-3
    };
    let outliers = frequencies.estimates().zip(d.marginals()).filter(far).count();
    assert!(outliers < arcs.len() / 200, "{outliers}");
}

#[test]
fn scores_too_extreme_for_sparse_elimination_fall_back_to_dense() {
    let mut rng = Pcg64::seed_from_u64(10);
    let mut sharp = Graph::new(0, 1..=441).unwrap();
    for (parent, child, weight) in grid(21, &mut rng).arcs() {
        sharp.add_arc_between(parent, child, 15.0 * weight).unwrap();
    }
    let arcs: Vec<_> = sharp.arcs().collect();
    let d = GraphDistribution::new(sharp, SETS[0]).unwrap();
    assert!(!solved_sparsely(&d));
    let dense = TreeDistribution::new(dense_scores_of(441, &arcs), SETS[0]).unwrap();
    assert!(close(d.log_partition(), dense.log_partition(), 1e-12));
    for (&(parent, child, _), p) in arcs.iter().zip(d.marginals()) {
        assert!((p - dense.marginals()[(parent, child)]).abs() < 1e-10);
    }
}

#[test]
fn thousands_of_names_with_twenty_parents_each() {
    let n = 3000;
    let reach = 40;
    let mut rng = Pcg64::seed_from_u64(11);
    let mut graph = Graph::new(0, 1..=n).unwrap();
    for child in 1..=n {
        graph.add_arc_between(0, child, -4.0).unwrap();
        for _ in 0..20 {
            // Some are parallel, some are loops.
            let parent = (child + n + below(&mut rng, 2 * reach + 1) - reach - 1) % n + 1;
            graph.add_arc_between(parent, child, 3.0 * unit(&mut rng)).unwrap();
        }
    }
    assert!(graph.ignored_arcs().count() > 0);
    let d = GraphDistribution::new(graph, SETS[0]).unwrap();
    assert!(solved_sparsely(&d));
    let total: f64 = d.marginals().iter().sum();
    assert!((total / n as f64 - 1.0).abs() < 1e-12);
    assert!(d.entropy() > 0.0 && d.argmax().score < d.log_partition());
    assert!(d.log_prob(&d.argmax().tree).unwrap() >= d.log_prob(&d.sample(&mut rng)).unwrap());
}

#[test]
fn a_large_component_with_one_child_of_the_root() {
    let mut rng = Pcg64::seed_from_u64(12);
    let d = GraphDistribution::new(grid(21, &mut rng), SETS[1]).unwrap();
    let from_root: Vec<f64> =
        d.graph().arcs().map(|(parent, _, _)| f64::from(u8::from(parent == 0))).collect();
    assert!((d.expectation(&from_root).unwrap() - 1.0).abs() < 1e-10);
    assert_eq!(d.argmax().tree.root_words().count(), 1);
    assert_eq!(d.sample(&mut rng).root_words().count(), 1);
}
