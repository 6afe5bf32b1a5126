//! Counts with their first examples.

use std::collections::BTreeMap;
use std::fmt;

use super::kind::Kind;
use crate::{Column, Place, Sentence, Token};

/// A place where something was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Example {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// The CoNLL column, from 1, if one is to blame.
    pub column: Option<usize>,
    /// The sentence's `sent_id`, if it has one and it is known.
    pub sent_id: Option<String>,
    /// What was found.
    pub found: String,
}

impl Example {
    pub(super) fn at(place: &Place, found: String) -> Self {
        Self {
            file: place.file.to_string(),
            line: place.line,
            column: place.column.map(Column::number),
            sent_id: place.sent_id.clone(),
            found,
        }
    }

    /// Points to the first word of a sentence.
    pub(super) fn of_sentence(sentence: &Sentence, found: String) -> Self {
        Self::at(&sentence.place(), found)
    }

    /// Points to a column of a line.
    pub(super) fn of_token(
        sentence: &Sentence,
        token: Token<'_>,
        column: Column,
        found: String,
    ) -> Self {
        let place = Place { line: token.line(), column: Some(column), ..sentence.place() };
        Self::at(&place, found)
    }

    /// `line` or `line:column`, to stand behind the name of a file.
    pub fn position(&self) -> String {
        match self.column {
            Some(column) => format!("{}:{column}", self.line),
            None => self.line.to_string(),
        }
    }
}

impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.position(), self.found)?;
        match &self.sent_id {
            Some(id) => write!(f, " (sent_id = {id})"),
            None => Ok(()),
        }
    }
}

/// How often, and where first.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) count: usize,
    pub(super) examples: Vec<Example>,
}

impl Tally {
    /// Counts one more; the example is asked for only if it will be kept.
    pub(super) fn add(&mut self, limit: usize, example: impl FnOnce() -> Example) {
        self.add_many(1, limit, example);
    }

    pub(super) fn add_many(
        &mut self,
        count: usize,
        limit: usize,
        example: impl FnOnce() -> Example,
    ) {
        self.count += count;
        if self.examples.len() < limit {
            self.examples.push(example());
        }
    }

    pub(super) fn merge(&mut self, other: Tally, limit: usize) {
        self.count += other.count;
        let room = limit.saturating_sub(self.examples.len());
        self.examples.extend(other.examples.into_iter().take(room));
    }
}

/// Tallies by kind, each with at most `limit` examples.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) limit: usize,
    pub(super) tallies: BTreeMap<Kind, Tally>,
}

impl Found {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, tallies: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, kind: Kind, example: impl FnOnce() -> Example) {
        self.tallies.entry(kind).or_default().add(self.limit, example);
    }

    pub(super) fn add_many(&mut self, kind: Kind, count: usize, example: impl FnOnce() -> Example) {
        self.tallies.entry(kind).or_default().add_many(count, self.limit, example);
    }

    /// In a column of a line.
    pub(super) fn token(
        &mut self,
        kind: Kind,
        sentence: &Sentence,
        token: Token<'_>,
        column: Column,
        found: impl FnOnce() -> String,
    ) {
        self.add(kind, || Example::of_token(sentence, token, column, found()));
    }

    /// In a sentence as a whole.
    pub(super) fn sentence(
        &mut self,
        kind: Kind,
        sentence: &Sentence,
        found: impl FnOnce() -> String,
    ) {
        self.add(kind, || Example::of_sentence(sentence, found()));
    }
}
