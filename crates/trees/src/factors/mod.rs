//! Factor graphs over trees: models whose arcs know of each other, by belief propagation.
//!
//! A [`TreeDistribution`](crate::TreeDistribution) scores every arc alone. Here, a tree may also score
//! for what several of its arcs are together:
//!
//! ```text
//! p(y) ∝ [y is a tree] · exp( Σ_{e∈y} θ_e + Σ_F log F(y) )
//! ```
//!
//! Exact inference in such a model is NP-hard for non-projective trees. Loopy belief propagation is not
//! exact, but costs the sum of its factors: each sends its variables what it believes about them, given
//! what all others believe, and this is repeated (Smith & Eisner 2008). The global constraint "these
//! arcs form a tree" is one factor among others, TREE or PTREE. Its messages come from the exact engine.
//!
//! Two readings that arc scores cannot tell apart, decided by a factor of two siblings:
//!
//! ```
//! use tutte_trees::factors::{Decoder, FactorGraph, Messages, Options};
//! use tutte_trees::{ArcMatrix, TreeSet};
//!
//! // "saw her duck": is "her" (2) below "duck" (3), or are both objects of "saw" (1)?
//! let mut scores = ArcMatrix::forbidden(3);
//! scores[(0, 1)] = 0.0;
//! scores[(1, 3)] = 0.0;
//! scores[(1, 2)] = 1.0;
//! scores[(3, 2)] = 1.0;
//! let mut graph = FactorGraph::new(&scores, TreeSet::ProjectiveSingleRoot)?;
//! let mut messages = Messages::default();
//! graph.run(&Options::default(), &mut messages)?;
//! assert!((graph.belief(&messages, 3, 2) - 0.5).abs() < 1e-12);
//!
//! // Two objects under one verb are rare.
//! graph.add_sibling(1, 2, 3, -2.0)?;
//! let report = graph.run(&Options { iterations: 20, ..Options::default() }, &mut messages)?;
//! assert!(report.converged && graph.belief(&messages, 3, 2) > 0.8);
//! assert_eq!(graph.decode(&mut messages, Decoder::SumOfBeliefs)?.heads(), [0, 3, 1]);
//! # Ok::<(), tutte_trees::Error>(())
//! ```
//!
//! # Factors
//!
//! | family | variables | value | cost of one | file |
//! |---|---|---|---|---|
//! | TREE, PTREE | all arcs | 1 if they form a tree | n³ | `tree_factor` |
//! | PAIR (GRAND, SIB, NOT2, NO2CYCLE) | two arcs | e^ℓ if both | 1 | `pair` |
//! | EXACTLY1, ATMOST1 | arcs into a word | 1 if that many | k | `count` |
//! | LABEL | an arc and its labels | 1 if one label for a true arc | k | `label` |
//! | label limit (hard, once, per extra) | one label of a head's arcs | by the count | k | `count` |
//! | CHILDSEQ | arcs from a head, one side | Π over adjacent siblings | k² | `child_sequence` |
//! | NOCROSS | arcs into two words | e^ℓ if they cross | k | `no_crossing` |
//! | TAGLINK | an arc and two tags | e^ℓ by the tags, if the arc is true | g² | `tag_link` |
//! | TRIGRAM | all tags | Π over three tags in a row | n g³ | `trigram` |
//!
//! k is the number of variables, g of tags. Variables exist only for arcs that are not forbidden. So an
//! iteration takes O(n³) for all families together on a dense graph, and for all but TREE time linear in
//! the arcs and pairs that a pruner has left.
//!
//! # Answers
//!
//! [`FactorGraph::run`] fills [`Messages`]. From there come beliefs, expectations of every log-weight, the
//! Bethe estimate of log Z, trees, and TREE's own distribution for k-best, samples and entropy.
//! [`FactorGraph::backward`] follows the iterations back: the gradient of any loss by all scores and
//! log-weights. The run that is differentiated is the run that is used, so the gradient is exact for
//! any number of iterations.
//!
//! # Numbers
//!
//! Messages are log-odds. Every family computes them from sums of positive terms, without its own
//! incoming message, so that nothing cancels. Scores and log-weights of any size up to 1e300 and −∞ are
//! accepted; no answer is NaN. Beliefs beyond 745 nats and messages of hard constraints are cut off.
//!
//! # Bibliography
//!
//! - D. A. Smith, J. Eisner (2008). Dependency parsing by belief propagation.
//! - V. Stoyanov, J. Eisner (2012). Minimum-risk training of approximate CRF-based NLP systems.
//! - M. R. Gormley, J. Eisner (2014). Structured belief propagation for NLP.
//! - J. S. Yedidia, W. T. Freeman, Y. Weiss (2005). Constructing free-energy approximations and
//!   generalized belief propagation algorithms.

mod algebra;
mod answers;
mod build;
mod child_sequence;
mod count;
mod family;
mod graph;
mod label;
mod messages;
mod no_crossing;
mod options;
mod pair;
mod tag_link;
mod tape;
#[cfg(test)]
mod tests;
mod tree_factor;
mod trigram;

pub use answers::Decoder;
pub use build::{Limit, Side};
pub use graph::{FactorGraph, FactorId};
pub use messages::Messages;
pub use options::{Inference, Options, Report, Schedule};
pub use tape::{Derivatives, Gradient};
