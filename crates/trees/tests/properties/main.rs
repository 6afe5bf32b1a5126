//! What the public interface promises, tested as a stranger would: against enumeration of all trees
//! where there are few, against identities where there are many.
//!
//! | module | promises |
//! |---|---|
//! | [`fixtures`] | worked examples with known numbers |
//! | [`partition`] | log-partition functions, marginals, their identities and symmetries |
//! | [`decoding`] | best trees, k best, minimum risk, greedy heads |
//! | [`second_order`] | joint probabilities and covariances |
//! | [`information`] | entropies, divergences, counts and their gradients |
//! | [`conditioning`] | what is known about a tree, and what happens if it is contradictory |
//! | [`sampling`] | draws come from the distribution |
//! | [`labelled`] | all of it with labels |
//! | [`errors`] | what is refused, and in which words |
//! | [`resources`] | memory, threads, the same bits every time |

mod bits;
mod conditioning;
mod decoding;
mod errors;
mod fixtures;
mod information;
mod labelled;
mod partition;
mod resources;
mod sampling;
mod second_order;
mod support;
