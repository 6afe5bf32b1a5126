//! Clusters (the nodes below each child of the root) and estimates from samples.

use rand_core::Rng;

use super::distribution::GraphDistribution;
use super::edges::Place;
use crate::{Error, Tree};

/// Partitions the nodes by the child of the root they descend from.
///
/// Clusters are in the order of their smallest nodes, nodes increasing. O(n).
///
/// ```
/// use tutte_trees::{Tree, clusters};
/// assert_eq!(clusters(&Tree::new(&[0, 3, 0, 1])?), [vec![1, 4], vec![2, 3]]);
/// # Ok::<(), tutte_trees::Error>(())
/// ```
pub fn clusters(tree: &Tree) -> Vec<Vec<usize>> {
    let mut top = Vec::new();
    root_children(tree, &mut top);
    let mut clusters: Vec<Vec<usize>> = Vec::new();
    let mut cluster_of = vec![usize::MAX; tree.words() + 1];
    for node in 1..=tree.words() {
        let cluster = &mut cluster_of[top[node]];
        if *cluster == usize::MAX {
            *cluster = clusters.len();
            clusters.push(Vec::new());
        }
        clusters[*cluster].push(node);
    }
    clusters
}

/// Writes the child of the root above (or at) each node into `top[node]`.
fn root_children(tree: &Tree, top: &mut Vec<usize>) {
    top.clear();
    top.resize(tree.words() + 1, 0);
    let mut path = Vec::new();
    for start in 1..=tree.words() {
        let mut node = start;
        while top[node] == 0 {
            path.push(node);
            match tree.heads()[node - 1] {
                0 => top[node] = node,
                head => node = head,
            }
        }
        let found = top[node];
        path.drain(..).for_each(|node| top[node] = found);
    }
}

/// A probability estimated from samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean over the samples.
    pub mean: f64,
    /// The standard error of that mean; infinite for fewer than two samples.
    pub standard_error: f64,
}

impl Estimate {
    /// Estimates `share` times the probability of an event seen `count` times in `samples` draws.
    fn new(count: u64, samples: u64, share: f64) -> Self {
        let p = if samples == 0 { 0.0 } else { count as f64 / samples as f64 };
        let standard_error = if samples < 2 {
            f64::INFINITY
        } else {
            share * (p * (1.0 - p) / (samples - 1) as f64).sqrt()
        };
        Self { mean: share * p, standard_error }
    }
}

/// Arc probabilities counted from sampled trees, of this sampler or another one.
///
/// A tree does not distinguish parallel arcs. They divide the count of their parent by their weights:
/// the mean of choosing one of them at random.
///
/// ```
/// use tutte_trees::{ArcFrequencies, ArcMatrix, Graph, GraphDistribution, TreeSet};
/// use rand_pcg::{Pcg64, rand_core::SeedableRng};
/// let graph = Graph::from_matrix(0..4, &ArcMatrix::zeros(3))?;
/// let d = GraphDistribution::new(graph, TreeSet::NonProjectiveMultiRoot)?;
/// let mut frequencies = ArcFrequencies::new(&d);
/// let mut rng = Pcg64::seed_from_u64(1);
/// for _ in 0..1000 {
///     frequencies.add(&d.sample(&mut rng))?;
/// }
/// for (estimate, exact) in frequencies.estimates().zip(d.marginals()) {
///     assert!((estimate.mean - exact).abs() < 5.0 * estimate.standard_error);
/// }
/// # Ok::<(), tutte_trees::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ArcFrequencies<'a, N> {
    distribution: &'a GraphDistribution<N>,
    counts: Vec<u64>,
    samples: u64,
}

impl<'a, N> ArcFrequencies<'a, N> {
    /// Starts with no trees.
    pub fn new(distribution: &'a GraphDistribution<N>) -> Self {
        Self { distribution, counts: vec![0; distribution.edges.parent.len()], samples: 0 }
    }

    /// Counts one tree. O(n log n).
    ///
    /// # Errors
    /// [`Error::DifferentLengths`] if the tree has another number of nodes.
    pub fn add(&mut self, tree: &Tree) -> Result<(), Error> {
        self.distribution.check_tree(tree)?;
        for (parent, child) in tree.arcs() {
            if let Some(edge) = self.distribution.edges.find(parent, child) {
                self.counts[edge] += 1;
            }
        }
        self.samples += 1;
        Ok(())
    }

    /// The number of trees counted.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The estimate for every arc of the graph, in the order given.
    pub fn estimates(&self) -> impl ExactSizeIterator<Item = Estimate> + '_ {
        let one = |place: &Option<Place>| match place {
            Some(place) => Estimate::new(self.counts[place.edge], self.samples, place.share),
            None => Estimate { mean: 0.0, standard_error: 0.0 },
        };
        self.distribution.places.iter().map(one)
    }
}

impl<N> GraphDistribution<N> {
    /// Estimates P(two nodes descend from the same child of the root), for each pair, from `samples`
    /// samples.
    ///
    /// This probability is not a function of arc probabilities, so there is no exact formula here.
    ///
    /// # Errors
    /// [`Error::UnknownNode`] if a pair names the root or a node that does not exist.
    pub fn coclustering<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        samples: u64,
        pairs: &[(usize, usize)],
    ) -> Result<Vec<Estimate>, Error> {
        let nodes = 1..=self.graph().nodes();
        for node in pairs.iter().flat_map(|&(a, b)| [a, b]) {
            if !nodes.contains(&node) {
                let node = format!("number {node} (nodes are 1..={})", self.graph().nodes());
                return Err(Error::UnknownNode { node });
            }
        }
        let mut together = vec![0; pairs.len()];
        let mut top = Vec::new();
        for _ in 0..samples {
            root_children(&self.sample(rng), &mut top);
            for (count, &(a, b)) in together.iter_mut().zip(pairs) {
                *count += u64::from(top[a] == top[b]);
            }
        }
        Ok(together.into_iter().map(|count| Estimate::new(count, samples, 1.0)).collect())
    }
}
