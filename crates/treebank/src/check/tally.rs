//! Counts with their first examples.

use std::collections::BTreeMap;
use std::fmt;

use super::kind::Kind;
use crate::{Column, Place, Sentence, Token};

/// A place of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Example {
    /// Name of the file.
    pub file: String,
    /// Number of the line, from 1.
    pub line: u64,
    /// The CoNLL column, from 1, if the problem is in one.
    pub column: Option<usize>,
    /// The `sent_id` of the sentence, if it is known.
    pub sent_id: Option<String>,
    /// Description of the finding.
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

    /// Returns an example at the first word of a sentence.
    pub(super) fn of_sentence(sentence: &Sentence, found: String) -> Self {
        Self::at(&sentence.place(), found)
    }

    /// Returns an example at a column of a line.
    pub(super) fn of_token(
        sentence: &Sentence,
        token: Token<'_>,
        column: Column,
        found: String,
    ) -> Self {
        let place = Place { line: token.line(), column: Some(column), ..sentence.place() };
        Self::at(&place, found)
    }

    /// Returns `line` or `line:column`, to follow the name of the file.
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

/// A count with its first examples.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) count: usize,
    pub(super) examples: Vec<Example>,
}

impl Tally {
    /// Adds one. The example is created only if it is kept.
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

    /// Adds a finding in a column of a line.
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

    /// Adds a finding about a whole sentence.
    pub(super) fn sentence(
        &mut self,
        kind: Kind,
        sentence: &Sentence,
        found: impl FnOnce() -> String,
    ) {
        self.add(kind, || Example::of_sentence(sentence, found()));
    }
}
