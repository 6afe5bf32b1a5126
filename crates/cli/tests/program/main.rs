//! Tests that run the program as people do. They are one binary: it is linked once, and all tests share the processors.
//!
//! `verbs`, `readme` and `pages`, which also record output, are binaries of their own; `readme` changes the current folder.

mod answers;
mod bits;
mod data;
mod distil;
mod expectations;
mod first_minutes;
mod layers;
mod learn;
mod long;
mod newcomer;
mod no_panic;
mod output;
mod outputs;
mod recipe;
mod risk;
mod run;
mod streams;
mod train;
