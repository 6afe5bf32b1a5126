//! Learning: a treebank, rules or raw text in, a model out.

pub(crate) mod calibrate;
pub(crate) mod corpus;
mod dictionary;
pub mod objective;
pub mod optimizer;
pub(crate) mod temperature;
pub(crate) mod train;
pub(crate) mod transition;
pub mod weak;
