//! Sentences and names that occur more than once, in one file or in several.
//!
//! A sentence is identified by a 64-bit hash of its forms. Memory grows by a few dozen bytes per
//! sentence, not by its text. Among 10⁷ different sentences, the probability of any collision is
//! 3·10⁻⁶.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::columns::first_words;
use super::kind::Kind;
use super::tally::{Example, Found};
use crate::{Column, Sentence};

/// Sentences with fewer words often repeat: `Yes .`, `Thank you !`
pub const SHORT: usize = 6;

/// Sentences that two files share.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Overlap {
    /// The first file.
    pub first: String,
    /// The second file.
    pub second: String,
    /// Sentences of the first file, of [`SHORT`] words or more, that are in the second file.
    pub of_first: usize,
    /// Sentences of the second file, of [`SHORT`] words or more, that are in the first file.
    pub of_second: usize,
    /// Shorter sentences of the first file that are in the second file.
    pub short_of_first: usize,
    /// Shorter sentences of the second file that are in the first file.
    pub short_of_second: usize,
}

/// First occurrence of a sentence.
#[derive(Debug)]
struct Seen {
    file: u32,
    line: u64,
    /// Hash of heads and labels, if all heads are known.
    tree: Option<u64>,
    is_short: bool,
    /// Number of occurrences in that file.
    count: u32,
}

#[derive(Debug, Default)]
pub(super) struct Repeats {
    sentences: HashMap<u64, Seen>,
    /// For sentences of several files: the later files and the counts in each.
    later: HashMap<u64, Vec<(u32, u32)>>,
    /// File and line of the first occurrence of each `sent_id`.
    names: HashMap<u64, (u32, u64)>,
}

impl Repeats {
    /// Adds a sentence of the last of `files`.
    pub(super) fn add(&mut self, sentence: &Sentence, files: &[String], found: &mut Found) {
        let file = (files.len() - 1) as u32;
        let line = sentence.place().line;
        let position = |file: u32, line: u64| {
            if file as usize == files.len() - 1 {
                format!("line {line}")
            } else {
                format!("{}:{line}", files[file as usize])
            }
        };
        if let Some(name) = sentence.sent_id() {
            match self.names.get(&hash(name)) {
                None => {
                    self.names.insert(hash(name), (file, line));
                }
                Some(&(other, at)) => {
                    let kind =
                        if other == file { Kind::RepeatedSentId } else { Kind::SharedSentId };
                    found.sentence(kind, sentence, || format!("also at {}", position(other, at)));
                }
            }
        }

        let words = hash_words(sentence);
        let tree = hash_tree(sentence);
        let is_short = sentence.len() < SHORT;
        let Some(seen) = self.sentences.get_mut(&words) else {
            self.sentences.insert(words, Seen { file, line, tree, is_short, count: 1 });
            return;
        };
        let describe =
            || format!("“{}” also at {}", first_words(sentence), position(seen.file, seen.line));
        if !is_short {
            let kind = if seen.file == file { Kind::RepeatedSentence } else { Kind::Overlap };
            found.sentence(kind, sentence, describe);
        }
        if sentence.len() > 1 && tree.is_some() && seen.tree.is_some() && tree != seen.tree {
            found.add(Kind::OtherTree, || Example {
                column: Some(Column::Head.number()),
                ..Example::of_sentence(sentence, describe())
            });
        }
        if seen.file == file {
            seen.count += 1;
        } else {
            let later = self.later.entry(words).or_default();
            match later.last_mut() {
                Some((last, count)) if *last == file => *count += 1,
                _ => later.push((file, 1)),
            }
        }
    }

    /// Returns all pairs of files that share sentences, in the order of the files.
    pub(super) fn overlaps(&self, files: &[String]) -> Vec<Overlap> {
        let mut pairs: BTreeMap<(u32, u32), Overlap> = BTreeMap::new();
        for (words, later) in &self.later {
            let Some(seen) = self.sentences.get(words) else { continue };
            let all: Vec<(u32, u32)> =
                std::iter::once((seen.file, seen.count)).chain(later.iter().copied()).collect();
            for (at, &(first, of_first)) in all.iter().enumerate() {
                for &(second, of_second) in &all[at + 1..] {
                    let pair = pairs.entry((first, second)).or_insert_with(|| Overlap {
                        first: files[first as usize].clone(),
                        second: files[second as usize].clone(),
                        of_first: 0,
                        of_second: 0,
                        short_of_first: 0,
                        short_of_second: 0,
                    });
                    if seen.is_short {
                        pair.short_of_first += of_first as usize;
                        pair.short_of_second += of_second as usize;
                    } else {
                        pair.of_first += of_first as usize;
                        pair.of_second += of_second as usize;
                    }
                }
            }
        }
        pairs.into_values().collect()
    }
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn hash_words(sentence: &Sentence) -> u64 {
    let mut hasher = DefaultHasher::new();
    sentence.words().for_each(|word| word.form().hash(&mut hasher));
    hasher.finish()
}

fn hash_tree(sentence: &Sentence) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    for word in sentence.words() {
        (word.head()?, word.deprel()).hash(&mut hasher);
    }
    Some(hasher.finish())
}
