//! The distribution over the trees of a graph, as a value.

use std::fmt::Display;
use std::hash::Hash;
use std::sync::OnceLock;

use rand_core::Rng;

use super::component::{Block, Parts};
use super::decompose::Components;
use super::edges::{Edges, Place};
use super::input::Graph;
use super::kbest;
use super::wilson::Walker;
use crate::matrix::is_number;
use crate::uniform::uniform;
use crate::weight::log_sum_exp;
use crate::{ArcMatrix, Error, ScoredTree, Tree, TreeDistribution, TreeSet, Workspace};

/// The distribution p(tree) ∝ Π of arc weights, over the trees of a [`Graph`].
///
/// A tree gives each node a parent; it is a [`Tree`] over node numbers. The weights of parallel arcs
/// add up. Probabilities, expectations and covariances are of single arcs, parallel or not.
///
/// The tree set says how many children the root may have. [`TreeSet::NonProjectiveMultiRoot`] allows
/// any number and suits clustering: each child of the root heads one cluster.
/// [`TreeSet::NonProjectiveSingleRoot`] allows exactly one.
///
/// The graph is split into strongly connected components. These take O(k³) time and O(k²) memory for
/// k nodes: components of up to a few hundred nodes, dense ones, and the one that contains a single
/// child of the root. Larger sparse components are solved sparsely. They still need a dense matrix
///
/// - for [`arc_covariances`](Self::arc_covariances), [`pair_marginal`](Self::pair_marginal) and
///   [`kbest`](Self::kbest);
/// - for weights so extreme that sparse elimination cannot guarantee ten digits of every probability;
/// - when sampling, if a random walk exceeds its budget.
///
/// ```
/// use tutte_trees::{Graph, GraphDistribution, TreeSet, clusters};
/// let mut graph = Graph::new("◇", ["Bill", "William", "Ann"])?;
/// for (parent, child, weight) in [
///     ("◇", "Bill", 0.1), ("◇", "William", 0.4), ("◇", "Ann", 0.5),
///     ("William", "Bill", 0.6), ("Bill", "William", 0.2), ("Bill", "Ann", 0.01),
/// ] {
///     graph.add_arc(parent, child, f64::ln(weight))?;
/// }
/// let d = GraphDistribution::new(graph, TreeSet::NonProjectiveMultiRoot)?;
/// let best = d.argmax();
/// assert_eq!(best.tree.heads(), [2, 0, 0]);
/// assert_eq!(clusters(&best.tree), [vec![1, 2], vec![3]]);
/// let into_bill = d.marginals()[0] + d.marginals()[3];
/// assert!((into_bill - 1.0).abs() < 1e-12);
/// # Ok::<(), tutte_trees::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GraphDistribution<N> {
    graph: Graph<N>,
    tree_set: TreeSet,
    pub(super) edges: Edges,
    /// The edge and the share of each arc of the graph.
    pub(super) places: Vec<Option<Place>>,
    pub(super) components: Components,
    pub(super) blocks: Vec<Block>,
    best: ScoredTree,
    /// Log-weights of the edges, shifted so that those of the best tree are 0 and nothing cancels.
    pub(super) shifted: Vec<f64>,
    log_excess: OnceLock<f64>,
    edge_marginals: OnceLock<Vec<f64>>,
    marginals: OnceLock<Vec<f64>>,
}

impl<N: Eq + Hash + Clone + Display> GraphDistribution<N> {
    /// Makes the distribution over the graph's trees in which the root has any number of children
    /// ([`TreeSet::NonProjectiveMultiRoot`]) or exactly one ([`TreeSet::NonProjectiveSingleRoot`]).
    ///
    /// # Errors
    /// [`Error::Unreachable`] naming the nodes that no path from the root reaches;
    /// [`Error::SeveralChildrenNeeded`] if one child of the root cannot reach all nodes;
    /// [`Error::BadParameter`] for a projective set: nodes have no order.
    pub fn new(graph: Graph<N>, tree_set: TreeSet) -> Result<Self, Error> {
        if tree_set.is_projective() {
            return Err(Error::BadParameter {
                what: "the tree set of a graph",
                expected: "nonprojective-multi-root or nonprojective-single-root",
                found: tree_set.to_string(),
            });
        }
        let (mut edges, mut places) = Edges::new(graph.nodes(), &graph.arcs);
        let components = Components::new(&edges);
        let unreachable = components.unreachable(&edges);
        if !unreachable.is_empty() {
            return Err(Error::Unreachable { nodes: graph.name_all(unreachable) });
        }
        let mut only_source = None;
        if tree_set.is_single_root() {
            let sources = components.sources(&edges);
            if sources.len() > 1 {
                let first = sources.iter().map(|&source| components.nodes[source][0]);
                return Err(Error::SeveralChildrenNeeded { nodes: graph.name_all(first) });
            }
            only_source = sources.first().copied();
            // No tree with one child of the root has a root arc into another component.
            let mut arcs = graph.arcs.clone();
            for arc in arcs.iter_mut().filter(|arc| arc.parent == 0 && arc.child != 0) {
                if Some(components.of[arc.child]) != only_source {
                    arc.log_weight = f64::NEG_INFINITY;
                }
            }
            (edges, places) = Edges::new(graph.nodes(), &arcs);
        }
        let block_set = |component| {
            let one_child = Some(component) == only_source;
            if one_child { tree_set } else { TreeSet::NonProjectiveMultiRoot }
        };

        let mut heads = vec![0; graph.nodes()];
        let mut shifted = edges.log_weight.clone();
        let mut score = 0.0;
        let mut workspace = Workspace::default();
        for component in 0..components.len() {
            let parts = Parts { edges: &edges, components: &components, component };
            let chosen = parts.best(block_set(component), &mut workspace)?;
            for (&child, &edge) in components.nodes[component].iter().zip(&chosen) {
                heads[child - 1] = edges.parent[edge];
                let reference = edges.log_weight[edge];
                score += reference;
                for other in edges.entering(child) {
                    let difference = edges.log_weight[other] - reference;
                    shifted[other] = difference.clamp(-ArcMatrix::MAX_SCORE, ArcMatrix::MAX_SCORE);
                }
            }
        }
        let mut blocks = Vec::with_capacity(components.len());
        for component in 0..components.len() {
            let parts = Parts { edges: &edges, components: &components, component };
            blocks.push(parts.block(block_set(component), &shifted));
        }
        Ok(Self {
            graph,
            tree_set,
            edges,
            places,
            components,
            blocks,
            best: ScoredTree { tree: Tree::from_decoder(heads), score },
            shifted,
            log_excess: OnceLock::new(),
            edge_marginals: OnceLock::new(),
            marginals: OnceLock::new(),
        })
    }

    /// Returns the distribution given arcs (by number) that a tree must contain and must not contain.
    ///
    /// Forbidding one of several parallel arcs leaves the others with their own weights.
    ///
    /// ```
    /// # use tutte_trees::{ArcMatrix, Graph, GraphDistribution, TreeSet};
    /// let graph = Graph::from_matrix(0..4, &ArcMatrix::zeros(3))?;
    /// let arc = graph.arc_between(1, 2).unwrap();
    /// let d = GraphDistribution::new(graph, TreeSet::NonProjectiveMultiRoot)?;
    /// let given = d.condition(&[arc], &[])?;
    /// let log_prob = given.log_partition() - d.log_partition();
    /// assert!((log_prob.exp() - d.marginals()[arc]).abs() < 1e-12);
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchGraphArc`]; [`Error::SeveralParentsRequired`] and [`Error::ImpossibleArcRequired`] if required
    /// arcs contradict each other or the graph; as [`new`](Self::new) if no tree satisfies the conditions.
    pub fn condition(&self, required: &[usize], forbidden: &[usize]) -> Result<Self, Error> {
        for &arc in required.iter().chain(forbidden) {
            self.check_arc(arc)?;
        }
        let mut graph = self.graph.clone();
        let mut required_into = vec![None; graph.nodes() + 1];
        for &arc in required {
            let child = graph.arcs[arc].child;
            let name = |node: usize| graph.name_all([node]).concat();
            let parent = |arc: usize| name(graph.arcs[arc].parent);
            if !graph.arcs[arc].is_possible() {
                return Err(Error::ImpossibleArcRequired {
                    parent: parent(arc),
                    child: name(child),
                });
            }
            let before = required_into[child].replace(arc);
            if let Some(other) = before.filter(|other| *other != arc) {
                let parents = [parent(other), parent(arc)];
                return Err(Error::SeveralParentsRequired { child: name(child), parents });
            }
        }
        for (index, arc) in graph.arcs.iter_mut().enumerate() {
            if required_into[arc.child].is_some_and(|required| required != index) {
                arc.log_weight = f64::NEG_INFINITY;
            }
        }
        for &arc in forbidden {
            graph.arcs[arc].log_weight = f64::NEG_INFINITY;
        }
        // In a single-root set, a required root arc makes its node a component that only the root
        // enters. `new` then excludes the other root arcs.
        Self::new(graph, self.tree_set)
    }
}

impl<N> GraphDistribution<N> {
    /// The graph.
    pub fn graph(&self) -> &Graph<N> {
        &self.graph
    }

    /// The tree set: any number of children of the root, or exactly one.
    pub fn tree_set(&self) -> TreeSet {
        self.tree_set
    }

    /// The strongly connected components, each a list of nodes; parents' components come first.
    pub fn components(&self) -> &[Vec<usize>] {
        &self.components.nodes
    }

    /// log Z = log Σ over trees of the product of arc weights.
    pub fn log_partition(&self) -> f64 {
        self.best.score + self.log_excess()
    }

    /// log Z minus the best tree's log-weight.
    fn log_excess(&self) -> f64 {
        *self.log_excess.get_or_init(|| {
            let one = |component: usize| match &self.blocks[component].sparse {
                Some(sparse) => match sparse.solution() {
                    Some(solution) => solution.log_partition,
                    None => self.dense(component).log_partition(),
                },
                None => self.dense(component).log_partition(),
            };
            (0..self.blocks.len()).map(one).sum::<f64>().max(0.0)
        })
    }

    /// The dense distribution of one component: scores shifted, arcs from outside pooled.
    pub(super) fn dense(&self, component: usize) -> &TreeDistribution {
        let block = &self.blocks[component];
        block.dense.get_or_init(|| {
            let parts = self.parts(component);
            TreeDistribution::new(parts.scores(&self.shifted, log_sum_exp), block.tree_set)
                .expect("a strongly connected component that can be entered has a tree")
        })
    }

    pub(super) fn parts(&self, component: usize) -> Parts<'_> {
        Parts { edges: &self.edges, components: &self.components, component }
    }

    pub(super) fn block_set(&self, component: usize) -> TreeSet {
        self.blocks[component].tree_set
    }

    /// The probability of every arc of the graph, by arc number. Those into a node sum to 1.
    pub fn marginals(&self) -> &[f64] {
        self.marginals.get_or_init(|| {
            let edges = self.edge_marginals();
            let one = |place: &Option<Place>| place.map_or(0.0, |p| edges[p.edge] * p.share);
            self.places.iter().map(one).collect()
        })
    }

    pub(super) fn edge_marginals(&self) -> &[f64] {
        self.edge_marginals.get_or_init(|| {
            let mut marginals = vec![0.0; self.edges.parent.len()];
            for component in 0..self.blocks.len() {
                let sparse = self.blocks[component].sparse.as_ref();
                match sparse.and_then(|sparse| sparse.solution()?.marginals.as_ref()) {
                    Some(solved) => {
                        // `spread` visits the edges in the order of `solved.arcs`.
                        let mut inside = solved.arcs.iter().copied();
                        let inner = |_, _| inside.next().unwrap_or(0.0);
                        self.spread(component, inner, |m| solved.outside[m - 1], &mut marginals);
                    }
                    None => {
                        let dense = self.dense(component).marginals();
                        let inner = |head, modifier| dense[(head, modifier)];
                        self.spread(component, inner, |m| dense[(0, m)], &mut marginals);
                    }
                }
            }
            marginals
        })
    }

    /// Writes a component's arc probabilities to its edges. The probability of a pooled arc is divided
    /// in proportion to the weights.
    fn spread(
        &self,
        component: usize,
        mut inside: impl FnMut(usize, usize) -> f64,
        outside: impl Fn(usize) -> f64,
        marginals: &mut [f64],
    ) {
        let parts = self.parts(component);
        for (place, &child) in parts.nodes().iter().enumerate() {
            let pooled = outside(place + 1);
            let share = parts.outside_shares(child, &self.shifted);
            for edge in self.edges.entering(child) {
                let parent = self.edges.parent[edge];
                marginals[edge] = if self.components.inside(parent, child) {
                    inside(self.components.place[parent] + 1, place + 1)
                } else {
                    pooled * share(self.shifted[edge])
                };
            }
        }
    }

    /// The most probable tree and its log-weight; the first in case of a tie.
    #[doc(alias = "best_tree")]
    pub fn argmax(&self) -> &ScoredTree {
        &self.best
    }

    /// The log-probability of a tree; −∞ if it is not in the tree set or uses an arc that is not possible.
    ///
    /// # Errors
    /// [`Error::DifferentLengths`] if the tree has another number of nodes.
    pub fn log_prob(&self, tree: &Tree) -> Result<f64, Error> {
        self.check_tree(tree)?;
        if tree.check_in(self.tree_set).is_err() {
            return Ok(f64::NEG_INFINITY);
        }
        let one = |(parent, child)| {
            self.edges.find(parent, child).map_or(f64::NEG_INFINITY, |edge| self.shifted[edge])
        };
        Ok((tree.arcs().map(one).sum::<f64>() - self.log_excess()).min(0.0))
    }

    /// The Shannon entropy over trees, in nats: H = log Z − Σ_e μ_e log w_e.
    pub fn entropy(&self) -> f64 {
        let mean: f64 = self
            .edge_marginals()
            .iter()
            .zip(&self.shifted)
            .filter(|&(&p, _)| p > 0.0)
            .map(|(p, score)| p * score)
            .sum();
        // As for sentences: rounding may leave it slightly below zero, and weights next to 1e300 leave no
        // digits. The entropy of a tree is at most the sum of the entropies of its nodes' parents.
        let possible = self.edge_marginals().iter().filter(|&&p| p > 0.0);
        let most = possible.map(|p| -p * p.ln()).sum::<f64>().max(0.0);
        (self.log_excess() - mean).clamp(0.0, most + 1e-9)
    }

    /// The cross-entropy −Σ p log q of this distribution p and another over the same nodes, in nats;
    /// +∞ if p may produce a tree that q does not.
    ///
    /// # Errors
    /// [`Error::DifferentLengths`]; [`Error::BadParameter`] if this one allows several children of
    /// the root and the other does not.
    pub fn cross_entropy<M>(&self, other: &GraphDistribution<M>) -> Result<f64, Error> {
        let mean = self.mean_under(other)?;
        Ok(mean.map_or(f64::INFINITY, |(_, theirs)| (other.log_excess() - theirs).max(0.0)))
    }

    /// KL(p‖q) of this distribution p from another over the same nodes, in nats; +∞ if p may produce
    /// a tree that q does not.
    ///
    /// # Errors
    /// As [`cross_entropy`](Self::cross_entropy).
    pub fn kl<M>(&self, other: &GraphDistribution<M>) -> Result<f64, Error> {
        let mean = self.mean_under(other)?;
        Ok(mean.map_or(f64::INFINITY, |(difference, _)| {
            (other.log_excess() - self.log_excess() + difference).max(0.0)
        }))
    }

    /// E_p of (log-weight in p − log-weight in q) and of (log-weight in q), both shifted; `None` if q
    /// lacks an arc that p may use.
    fn mean_under<M>(&self, other: &GraphDistribution<M>) -> Result<Option<(f64, f64)>, Error> {
        let left = self.graph.nodes();
        let right = other.graph.nodes();
        if left != right {
            return Err(Error::DifferentLengths { left, right });
        }
        if !other.tree_set.contains(self.tree_set) {
            return Err(Error::BadParameter {
                what: "the other distribution's tree set",
                expected: "one that contains all trees of this distribution's set",
                found: format!("{} (and this one {})", other.tree_set, self.tree_set),
            });
        }
        let mut difference = 0.0;
        let mut theirs = 0.0;
        for child in 1..=left {
            for edge in self.edges.entering(child) {
                let p = self.edge_marginals()[edge];
                let parent = self.edges.parent[edge];
                match other.edges.find(parent, child) {
                    Some(twin) if p > 0.0 => {
                        difference += p * (self.shifted[edge] - other.shifted[twin]);
                        theirs += p * other.shifted[twin];
                    }
                    // A marginal near 0 cannot decide this: it may be rounding, or have underflowed.
                    None if self.parts(self.components.of[child]).may_produce(parent, child) => {
                        return Ok(None);
                    }
                    _ => {}
                }
            }
        }
        Ok(Some((difference, theirs)))
    }

    /// E\[Σ f over the arcs of a tree\], `f` in the order of the graph's arcs.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is one value per arc; [`Error::BadParameter`] if a value of an
    /// arc that is possible is not a number.
    pub fn expectation(&self, f: &[f64]) -> Result<f64, Error> {
        self.check_function(f)?;
        let pairs = self.marginals().iter().zip(f);
        Ok(pairs.filter(|&(&p, _)| p > 0.0).map(|(p, value)| p * value).sum())
    }

    /// Draws a tree from the distribution, exactly.
    ///
    /// Components are drawn one after the other, large sparse ones by Wilson's algorithm on their arcs.
    /// The same generator state gives the same tree on every machine.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Tree {
        let mut parents = vec![0; self.graph.nodes()];
        let mut heads = Vec::new();
        for (component, nodes) in self.components.nodes.iter().enumerate() {
            let walked = self.blocks[component].sparse.as_ref().is_some_and(|sparse| {
                let walker = sparse.walker.get_or_init(|| Walker::new(&sparse.local));
                walker.sample(&sparse.local, rng, &mut heads)
            });
            if !walked {
                self.dense(component).sample_into(rng, &mut heads);
            }
            for (&child, &head) in nodes.iter().zip(&heads) {
                parents[child - 1] =
                    if head > 0 { nodes[head - 1] } else { self.draw_outside(child, rng) };
            }
        }
        Tree::from_decoder(parents)
    }

    /// Draws a parent of `child` outside its component, in proportion to the weights.
    fn draw_outside<R: Rng + ?Sized>(&self, child: usize, rng: &mut R) -> usize {
        let parts = self.parts(self.components.of[child]);
        let share = parts.outside_shares(child, &self.shifted);
        let mut outside = parts.outside(child);
        let mut drawn = outside.next().map_or(0, |edge| self.edges.parent[edge]);
        if parts.outside(child).nth(1).is_none() {
            return drawn;
        }
        let mut left = uniform(rng);
        for edge in parts.outside(child) {
            let p = share(self.shifted[edge]);
            if p > 0.0 {
                drawn = self.edges.parent[edge]; // the last one takes the rest that rounding leaves
                left -= p;
                if left < 0.0 {
                    break;
                }
            }
        }
        drawn
    }

    /// The `k` most probable trees, best first; fewer if there are fewer.
    ///
    /// Exact: merges the k best trees of the components, with arcs from outside as separate choices.
    pub fn kbest(&self, k: usize) -> Vec<ScoredTree> {
        kbest::kbest(self, k)
    }

    pub(super) fn check_arc(&self, arc: usize) -> Result<(), Error> {
        let arcs = self.graph.arcs.len();
        if arc < arcs { Ok(()) } else { Err(Error::NoSuchGraphArc { arc, arcs }) }
    }

    pub(super) fn check_tree(&self, tree: &Tree) -> Result<(), Error> {
        let left = self.graph.nodes();
        let right = tree.words();
        if left == right { Ok(()) } else { Err(Error::DifferentLengths { left, right }) }
    }

    /// Checks that a function of arcs has one value per arc, a number wherever an arc is possible.
    pub(super) fn check_function(&self, f: &[f64]) -> Result<(), Error> {
        if f.len() != self.places.len() {
            return Err(Error::Shape {
                expected: format!("{} values, one for each arc", self.places.len()),
                found: format!("{} values", f.len()),
            });
        }
        let bad = |(&value, place): (&f64, &Option<Place>)| place.is_some() && !is_number(value);
        match f.iter().zip(&self.places).position(bad) {
            None => Ok(()),
            Some(arc) => Err(Error::BadParameter {
                what: "a value of a function of arcs",
                expected: "a number of at most 1e300 in size",
                found: format!("{} for arc {arc}", f[arc]),
            }),
        }
    }
}
