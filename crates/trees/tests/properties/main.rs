//! Properties of the public interface: against enumeration of all trees where there are few, against
//! identities where there are many.
//!
//! | module | properties |
//! |---|---|
//! | [`fixtures`] | worked examples with known numbers |
//! | [`partition`] | log-partition functions, marginals, their identities and symmetries |
//! | [`decoding`] | best trees, k best, minimum risk, greedy heads |
//! | [`second_order`] | joint probabilities and covariances |
//! | [`information`] | entropies, divergences, counts and their gradients |
//! | [`conditioning`] | constraints, and contradictions between them |
//! | [`sampling`] | draws come from the distribution |
//! | [`labelled`] | all of these with labels |
//! | [`errors`] | refused inputs and their messages |
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
