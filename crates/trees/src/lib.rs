//! Exact inference over dependency trees.
//!
//! Give every possible arc of a sentence a score, and this crate holds the whole probability
//! distribution over its dependency trees. Ask it for the best tree, the k best, the probability of
//! any arc or any set of arcs, the entropy, an exact sample, a covariance, a gradient. Condition it
//! on constraints and ask again. Nothing is approximated. Every answer takes O(n³) time or less,
//! although a sentence of n words has up to (n+1)ⁿ⁻¹ trees.
//!
//! ```
//! use tutte_trees::{ArcMatrix, Constraints, TreeDistribution, TreeSet};
//!
//! // Scores θ[(head, modifier)] in nats; words are 1..=n, 0 is the root.
//! let mut scores = ArcMatrix::zeros(3);
//! scores[(0, 2)] = 3.0; // word 2 is probably the root word
//! scores[(2, 1)] = 2.0; // and heads 1
//! scores[(2, 3)] = 1.0; // and perhaps 3,
//! scores[(1, 3)] = 0.5; // which may also hang on 1
//!
//! let d = TreeDistribution::new(scores, TreeSet::NonProjectiveSingleRoot)?;
//! assert_eq!(d.argmax().tree.heads(), [2, 0, 2]);      // the most probable tree
//! assert!((d.marginal(2, 3)? - 0.642).abs() < 0.001);  // the probability of 2 → 3
//! assert!((d.entropy() - 1.001).abs() < 0.001);        // the entropy, in nats
//!
//! // An annotator says that 1 heads 3.
//! let posterior = d.condition(&Constraints::new().require_arc(1, 3))?;
//! assert_eq!(posterior.argmax().tree.heads(), [2, 0, 1]);
//! assert!(posterior.entropy() < d.entropy());
//! # Ok::<(), tutte_trees::Error>(())
//! ```
//!
//! Where to start:
//!
//! - [`TreeDistribution`] answers questions about one sentence; [`LabelledTreeDistribution`] is its
//!   counterpart for arcs with labels.
//! - [`marginals_with`] and its siblings, with a [`Workspace`], serve thousands of sentences in a loop.
//! - [`TreeSet`] says which trees count.
//! - [`Tree`] checks, measures and projectivises trees.
//! - [`factors`] has trees whose arcs know of each other, by belief propagation. Only there, answers
//!   are approximate.
//! - [`GraphDistribution`] asks the same questions about the spanning trees of any weighted graph.
//!
//! # A short textbook
//!
//! ## Distributions over trees
//!
//! A dependency tree gives every word one head (another word or the root 0), without cycles. The
//! score of a tree is the sum of its arcs' scores θ, and scores become probabilities:
//!
//! ```text
//! p(y) = exp(Σ_{(h→m) ∈ y} θ[h][m]) / Z          Z = Σ_y exp(Σ_{(h→m) ∈ y} θ[h][m])
//! ```
//!
//! Every arc-factored parser belongs to this exponential family, whether it was trained as a
//! conditional random field, by margins or by a neural network. All of its mathematics is in log Z:
//! its gradient in θ\[h\]\[m\] is the marginal μ(h,m) = P(h → m ∈ y), its Hessian the covariance of
//! arcs, and H = log Z − Σ μ θ is the entropy.
//!
//! ## The matrix-tree theorem
//!
//! How to sum exponentially many trees? Let A\[h\]\[m\] = exp θ\[h\]\[m\], r\[m\] = exp θ\[0\]\[m\], and
//!
//! ```text
//! L[m][m] = r[m] + Σ_h A[h][m]        L[h][m] = −A[h][m]
//! ```
//!
//! Tutte (1948) proved **det L = Z**. Why: expand the product of the columns. Column m offers "m
//! takes head h" with weight A\[h\]\[m\], once on the diagonal and once, negatively, in row h. A choice
//! of heads with a cycle appears once with each sign for the cycle, and cancels. The choices without
//! cycles remain: the trees.
//!
//! Koo et al., McDonald & Satta and Smith & Smith brought this to parsing in 2007. Koo et al. also
//! found the variant for trees with exactly one root word. The marginals come from B = L⁻¹:
//! μ(h,m) = A\[h\]\[m\]·(B\[m\]\[m\] − B\[m\]\[h\]).
//!
//! ```
//! use tutte_trees::{ArcMatrix, TreeSet, Workspace, log_partition_with};
//! // All scores 0: Z counts the trees, (n+1)^(n−1) of them (Cayley 1889).
//! let log_z = log_partition_with(
//!     &ArcMatrix::zeros(7),
//!     TreeSet::NonProjectiveMultiRoot,
//!     &mut Workspace::default(),
//! )?;
//! assert_eq!(log_z.exp().round(), 8f64.powi(6));
//! # Ok::<(), tutte_trees::Error>(())
//! ```
//!
//! ## Why subtraction-free elimination
//!
//! The textbook formula subtracts: L has negative entries, and B\[m\]\[m\] − B\[m\]\[h\] is a small
//! difference of large numbers as soon as two words strongly prefer each other. With scores spread
//! over 40 nats, LU gives "probabilities" of 17. But L is not an arbitrary matrix: its columns sum
//! to r ≥ 0. Grassmann, Taksar & Heyman (1985) saw that elimination on such a matrix never needs its
//! diagonal. A pivot is the *sum* of the off-diagonal weights of its column. Eliminating a word k
//! replaces "i heads k heads j" by an arc i → j. Only sums, products and quotients of positive
//! numbers remain, so every result has nearly all of its digits.
//!
//! This crate uses that in three ways:
//!
//! - A sweep in `f64` inverts L without subtraction in n³ multiply–adds. Only the last difference can
//!   cancel, and a *certificate* bounds that error for the given matrix.
//! - If the bound is above 10⁻¹², a divide-and-conquer elimination computes every marginal without
//!   that difference.
//! - If the weights do not fit `f64` at all, the same code runs on logarithms. For single-root trees
//!   with forbidden arcs, it runs on leading terms of power series.
//!
//! The promise is: **any finite scores, any arcs forbidden, give the right answer or
//! [`Error::NoTree`]**.
//!
//! ```
//! use tutte_trees::{ArcMatrix, TreeDistribution, TreeSet};
//! // Two words that head each other, the root a thousand nats away: det L rounds to zero.
//! let mut scores = ArcMatrix::zeros(2);
//! scores[(0, 1)] = -1000.0;
//! scores[(0, 2)] = -1001.0;
//! let d = TreeDistribution::new(scores, TreeSet::NonProjectiveMultiRoot)?;
//! assert!((d.marginal(0, 1)? - 0.731_058_578_630).abs() < 1e-12);
//! # Ok::<(), tutte_trees::Error>(())
//! ```
//!
//! ## Arcs are determinantal
//!
//! The arcs of a random tree form a determinantal point process: there is a kernel K with
//! P(e₁, …, e_k ∈ y) = det \[K(e_i, e_j)\] (Burton & Pemantle 1993 for undirected trees; it holds for
//! directed ones in both root modes, with a K that is not symmetric). One O(n³) solve gives K. Then
//! the probability of any two arcs takes O(1), and the covariance of a function with *every* arc
//! takes two matrix products. Entropy gradients, expected-risk gradients and generalised-expectation
//! training (which once cost O(n⁵)) all become O(n³).
//!
//! ```
//! use tutte_trees::{ArcMatrix, TreeDistribution, TreeSet};
//! let d = TreeDistribution::new(ArcMatrix::zeros(4), TreeSet::NonProjectiveSingleRoot)?;
//! // That 1 is the root word makes it twice as likely to head 2.
//! let both = d.pair_marginal((0, 1), (1, 2))?;
//! assert!((both - 2.0 * d.marginal(0, 1)? * d.marginal(1, 2)?).abs() < 1e-12);
//! assert_eq!(d.pair_marginal((0, 1), (0, 2))?, 0.0); // one root word only
//! # Ok::<(), tutte_trees::Error>(())
//! ```
//!
//! ## Projective trees
//!
//! If arcs may not cross, the words below any word form a span. A dynamic program over spans
//! (Eisner 1996) sums, maximises, counts, samples or lists all trees in O(n³). It is written once
//! over a semiring; for marginals the chart is differentiated. All calls above stay the same; only
//! the [`TreeSet`] differs.
//!
//! ## Decoding
//!
//! [`argmax`](TreeDistribution::argmax) is the most probable tree: by contraction of cycles in
//! O(n²) (Chu & Liu 1965, Edmonds 1967, Tarjan 1977), one root word enforced exactly (Stanojević &
//! Cohen 2021), or by Eisner's chart. [`mbr`](TreeDistribution::mbr) is the tree with the largest
//! expected number of correct arcs, often the better answer when trees are evaluated by their arcs.
//! [`sample`](TreeDistribution::sample) walks to the root with Wilson's (1996) algorithm, and falls
//! back on exact ancestral draws where the walk would take too long.
//!
//! # Numbers
//!
//! Scores are `f64` in nats up to 10³⁰⁰; −∞ forbids an arc. NaN and +∞ are refused by an error that
//! names the arc, and are never returned. Vector instructions are chosen at run time. No operation is
//! fused and sums have a fixed order, so the fast paths give the same bits on every machine. (The
//! fall-back paths use the system's logarithm, accurate to the last bit or two.) The same seed gives
//! the same sample. No threads, no global state; every type is `Send + Sync`.
//!
//! # Bibliography
//!
//! - W. T. Tutte (1948). The dissection of equilateral triangles into equilateral triangles.
//! - W. Grassmann, M. Taksar, D. Heyman (1985). Regenerative analysis and steady state
//!   distributions for Markov chains.
//! - R. Burton, R. Pemantle (1993). Local characteristics, entropy and limit theorems for spanning
//!   trees and domino tilings via transfer-impedances.
//! - S. Fortune, J. Hopcroft, J. Wyllie (1980). The directed subgraph homeomorphism problem.
//! - J. Eisner (1996). Three new probabilistic models for dependency parsing.
//! - D. B. Wilson (1996). Generating random spanning trees more quickly than the cover time.
//! - R. E. Tarjan (1977). Finding optimum branchings.
//! - T. Koo, A. Globerson, X. Carreras, M. Collins (2007). Structured prediction models via the
//!   matrix-tree theorem.
//! - R. McDonald, G. Satta (2007). On the complexity of non-projective data-driven dependency
//!   parsing.
//! - R. McDonald, F. Pereira (2006). Online learning of approximate dependency parsing algorithms.
//! - D. A. Smith, N. A. Smith (2007). Probabilistic models of nonprojective dependency trees.
//! - D. A. Smith, J. Eisner (2007). Bootstrapping feature-rich dependency parsers with entropic
//!   priors.
//! - Z. Li, J. Eisner (2009). First- and second-order expectation semirings.
//! - G. Druck, G. Mann, A. McCallum (2009). Semi-supervised learning of dependency parsers using
//!   generalized expectation criteria.
//! - R. Zmigrod, T. Vieira, R. Cotterell (2020). Please mind the root: decoding arborescences for
//!   dependency parsing; (2021) On finding the k-best non-projective dependency trees.
//! - M. Stanojević, S. B. Cohen (2021). A root of a problem: optimizing single-root dependency
//!   parsing.
// Denied, not forbidden: `tutte_simd::dispatched!` expands to calls of functions that are compiled for
// wider vector units. All other code is safe.
#![deny(unsafe_code)]

mod candidates;
mod constrained;
mod constraints;
mod distribution;
mod error;
mod exp;
pub mod factors;
mod feasible;
mod graph;
mod higher_order;
mod hill_climbing;
mod information;
mod labelled;
mod matrix;
mod moments;
mod nonprojective;
#[cfg(any(test, feature = "oracle"))]
pub mod oracle;
mod parts;
mod paths;
mod projective;
mod second_order;
mod simd;
mod tree;
mod tree_set;
mod uniform;
mod weight;
mod workspace;

pub use candidates::{Candidates, arcs};
pub use constrained::{
    AtMostOne, Bound, Branches, ConstrainedOptions, ConstrainedTree, ConstrainedWorkspace,
    CrossingPenalty, LabelledHeads, Row, Settled, TreeConstraint, constrained_argmax_with,
};
pub use constraints::Constraints;
pub use distribution::{ScoredTree, TreeDistribution};
pub use error::{Error, NotATree};
pub use graph::{ArcFrequencies, Estimate, Graph, GraphDistribution, clusters};
pub use higher_order::{
    SecondOrderDistribution, second_order_argmax_with, second_order_log_partition_with,
    second_order_marginals_with,
};
pub use hill_climbing::hill_climb;
pub use labelled::{LabelledArcMatrix, LabelledTree, LabelledTreeDistribution, ScoredLabelledTree};
pub use matrix::ArcMatrix;
pub use moments::{Border, MomentMatch, MomentOptions, fit_marginals};
pub use parts::{Part, SecondOrderParts};
/// Re-exported for its traits of random generators, in the version that the samplers take.
pub use rand_core;
pub use tree::Tree;
pub use tree_set::TreeSet;
pub use workspace::{
    Workspace, arc_covariances_with, argmax_with, log_partition_with, marginals_with, mbr_with,
};

/// README's example, run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
