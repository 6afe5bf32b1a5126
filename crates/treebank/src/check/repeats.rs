//! Sentences that appear more than once, in a file or across files, and names that do.
//!
//! A sentence is known by a 64-bit hash of its forms, so memory grows by a few dozen bytes per
//! sentence, not by its text. Among 10⁷ different sentences, the chance that any two are taken for
//! one is 3·10⁻⁶.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::columns::start;
use super::kind::Kind;
use super::tally::{Example, Found};
use crate::{Column, Sentence};

/// Sentences with fewer words are expected to repeat: `Yes .`, `Thank you !`
pub const SHORT: usize = 6;

/// Sentences that two files share.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Overlap {
    /// The file given first.
    pub first: String,
    /// The file given second.
    pub second: String,
    /// Sentences of the first file, of [`SHORT`] words or more, that the second file has.
    pub of_first: usize,
    /// Sentences of the second file, of [`SHORT`] words or more, that the first file has.
    pub of_second: usize,
    /// Shorter sentences of the first file that the second file has.
    pub short_of_first: usize,
    /// Shorter sentences of the second file that the first file has.
    pub short_of_second: usize,
}

/// What is remembered of a sentence.
#[derive(Debug)]
struct Seen {
    file: u32,
    line: u64,
    /// Heads and labels, if all heads are known.
    tree: Option<u64>,
    short: bool,
    /// How often in that file.
    count: u32,
}

#[derive(Debug, Default)]
pub(super) struct Repeats {
    sentences: HashMap<u64, Seen>,
    /// For sentences of several files: the later files, and how often each has it.
    later: HashMap<u64, Vec<(u32, u32)>>,
    /// Where each `sent_id` was seen first.
    names: HashMap<u64, (u32, u64)>,
}

impl Repeats {
    /// Takes a sentence of the last of `files`.
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
        let short = sentence.len() < SHORT;
        let Some(seen) = self.sentences.get_mut(&words) else {
            self.sentences.insert(words, Seen { file, line, tree, short, count: 1 });
            return;
        };
        let describe =
            || format!("“{}” also at {}", start(sentence), position(seen.file, seen.line));
        if !short {
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

    /// All pairs of files that share sentences, in the order of the files.
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
                    if seen.short {
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
