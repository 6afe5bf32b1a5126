//! Spanning trees of weighted digraphs with a root: name phylogenies, mention clusters and the like.
//!
//! A tree (an *arborescence*) gives every node but the root one parent, without cycles. Its weight
//! is the product of the weights of its arcs parent → child. [`Graph`] holds named nodes and a
//! sparse list of arcs. [`GraphDistribution`] answers the questions of a
//! [`TreeDistribution`](crate::TreeDistribution) about it. Nodes are numbered as words are: 0 is
//! the root, the others are 1..=n in the order given.
//!
//! **Decomposition.** Leave the root out and take the strongly connected components. Choose an arc
//! into every node: the choice is a tree unless it has a cycle, and a cycle lies inside one
//! component. So a choice is a tree exactly if the arcs chosen inside each component C have no
//! cycle. Equivalently, they form a tree of C if all arcs that enter C from outside count as root
//! arcs.
//!
//! Components are therefore independent: the distribution is a *product* with one factor per
//! component. In a factor, a node's arcs from outside are pooled (weights added) into one root arc.
//! Given the pooled arc, its member is an independent draw in proportion to the weights. (In matrix
//! form: the Laplacian is block triangular in a topological order of the components.)
//!
//! With exactly one child of the root, consider the components that no other component points to.
//! They can only be entered from the root, so there must be exactly one of them. It takes exactly one
//! root arc, and root arcs into all other components are impossible.
//!
//! **Cost.** Parallel arcs are pooled like arcs from outside. A component of k nodes costs O(k³)
//! time and O(k²) memory in the dense solver. A large sparse one costs the sum of squared degrees in
//! its elimination graph (the module `sparse`). A thousand components of five nodes cost a thousand
//! times one such component.
//!
//! Uses: N. Andrews, J. Eisner & M. Dredze (2012), *Name Phylogeny*; (2014), *Robust Entity
//! Clustering via Phylogenetic Inference*.

mod arborescence;
mod clusters;
mod component;
mod decompose;
mod distribution;
mod edges;
mod input;
mod kbest;
mod second_order;
mod sparse;
mod wilson;

pub use clusters::{ArcFrequencies, Estimate, clusters};
pub use distribution::GraphDistribution;
pub use input::Graph;

#[cfg(test)]
mod tests;
