//! Trees of graphs that are not sentences: name phylogenies, mention clusters, any digraph with a
//! root.
//!
//! A tree (an *arborescence*) gives every node but the root one parent, without cycles; its weight
//! is the product of the weights of its arcs parent → child. [`Graph`] holds nodes of any name and a
//! sparse list of arcs, [`GraphDistribution`] answers the questions of a
//! [`TreeDistribution`](crate::TreeDistribution) about it, with nodes numbered as words are: 0 is
//! the root, the others are 1..=n in the order given.
//!
//! **Decomposition.** Leave the root out and take the strongly connected components. Choose an arc
//! into every node: the choice is a tree unless it has a cycle, and a cycle lies inside one
//! component. So a choice is a tree exactly if, in each component C alone, the arcs chosen inside C
//! have no cycle, i.e. form a tree of C once all arcs that enter C from outside count as root arcs.
//! Components constrain each other in nothing: the distribution is a *product*, one factor for
//! every component, in which a node's arcs from outside are pooled (weights added) into one root
//! arc; which of them it was is an independent draw in proportion to their weights. (In matrix
//! form: the Laplacian is block triangular in a topological order of the components.)
//!
//! With exactly one child of the root: a component that no other component points to can only be
//! entered from the root, so there must be exactly one such component, it takes exactly one root
//! arc, and root arcs into all the others are impossible.
//!
//! **Cost.** Parallel arcs are pooled like arcs from outside. A component of k nodes costs O(k³)
//! time and O(k²) memory in the dense solver; a large sparse one the sum of squared degrees in its
//! elimination graph (the module `sparse`). A thousand blocks of five nodes cost a thousand times
//! one block.
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
