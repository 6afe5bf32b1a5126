//! From words to rows of the embedding table: sub-words of a pretrained tokenizer, or hashes of characters.
//!
//! Without a pretrained encoder, a word is the sum of its hashed features: the word, its lower-cased form, its
//! shape, and all character n-grams of 2 to 5 characters (Bojanowski et al. 2017). Words that the treebank lacks
//! still have n-grams. Each word is one row; a row of its own starts the sentence and stands for the root.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::ops::embedding::Bags;
use crate::subwords::{Rows, SentenceInput, Subwords};

/// Numbers of rows for hashed features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HashedWords {
    /// Rows for words, lower-cased words and shapes.
    pub(crate) word_rows: usize,
    /// Rows for character n-grams.
    pub(crate) ngram_rows: usize,
    /// Probability that a word's own row is left out in training, in thousandths.
    pub(crate) word_dropout_permille: u32,
}

/// How words become rows.
#[derive(Clone, Debug)]
pub(crate) enum Front {
    Subwords(Box<Subwords>),
    Hashed(HashedWords),
}

impl Front {
    pub(crate) fn encode(
        &self,
        words: &[impl AsRef<str>],
        longest: usize,
    ) -> Result<SentenceInput, Error> {
        match self {
            Front::Subwords(subwords) => subwords.encode(words, longest),
            Front::Hashed(hashed) => Ok(hashed.encode(words, longest)),
        }
    }

    /// Range of ids that word dropout leaves out, and its probability.
    pub(crate) fn word_dropout(&self) -> (u32, u32, f32) {
        match self {
            Front::Subwords(_) => (0, 0, 0.0),
            Front::Hashed(h) => {
                (1, 1 + h.word_rows as u32, h.word_dropout_permille as f32 / 1000.0)
            }
        }
    }
}

/// Hash whose output is stored in models, so it must never change (FNV-1a, 64 bits, with a final mix).
fn fnv(kind: u8, bytes: impl Iterator<Item = u8>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in std::iter::once(kind).chain(bytes) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 16
}

/// Shape of a word: runs of upper case, lower case, digits and others, as `Xxd-`.
fn shape(word: &str) -> String {
    let mut shape = String::new();
    for c in word.chars() {
        let class = match c {
            _ if c.is_uppercase() => 'X',
            _ if c.is_alphabetic() => 'x',
            _ if c.is_numeric() => 'd',
            _ => c,
        };
        if !shape.ends_with(class) {
            shape.push(class);
        }
    }
    shape
}

/// Longest word, in characters, whose n-grams are all used.
const LONGEST_WORD: usize = 64;

impl HashedWords {
    /// Number of rows of the table: the start of a sentence, words, n-grams.
    pub(crate) fn vocabulary(&self) -> usize {
        1 + self.word_rows + self.ngram_rows
    }

    /// Checks numbers of rows that come from a file.
    pub(crate) fn is_valid(&self) -> bool {
        let sizes = 1..=1 << 24;
        sizes.contains(&self.word_rows) && sizes.contains(&self.ngram_rows)
    }

    fn encode(&self, words: &[impl AsRef<str>], longest: usize) -> SentenceInput {
        let mut rows = Bags::default();
        let mut ngrams = Vec::new();
        for word in words {
            let word = word.as_ref();
            let lower = word.to_lowercase();
            let row =
                |kind, text: &str| (1 + fnv(kind, text.bytes()) % self.word_rows as u64) as u32;
            let features =
                [(row(0, word), 0.5), (row(1, &lower), 0.5), (row(2, &shape(word)), 0.5)];
            ngrams.clear();
            let characters: Vec<char> =
                ['<'].into_iter().chain(lower.chars().take(LONGEST_WORD)).chain(['>']).collect();
            let mut bytes = [0; 4];
            for n in 2..=5 {
                for gram in characters.windows(n) {
                    let hash = gram.iter().fold(n as u64, |hash, c| {
                        hash.rotate_left(17) ^ fnv(3, c.encode_utf8(&mut bytes).bytes())
                    });
                    let hash = fnv(4, hash.to_le_bytes().into_iter());
                    ngrams.push((1 + self.word_rows as u64 + hash % self.ngram_rows as u64) as u32);
                }
            }
            // The sum has about the variance of one row.
            let weight = 1.0 / (ngrams.len().max(1) as f32).sqrt();
            rows.push(features.into_iter().chain(ngrams.iter().map(|&id| (id, weight))));
        }
        let word_ends: Vec<usize> = (1..=words.len()).collect();
        Rows { rows: &rows, word_ends: &word_ends, start: &[(0, 1.0)], end: None }.layout(longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_hashed_words() {
        let hashed = HashedWords { word_rows: 50, ngram_rows: 100, word_dropout_permille: 0 };
        let input = hashed.encode(&["Über", "", "über"], 16);
        assert_eq!((input.rows(), input.words()), (4, 3));
        assert_eq!(input.words, [(1, 1), (2, 2), (3, 3)]);
        // Case changes the word and its shape, but not the lower-cased form and the n-grams.
        assert_eq!(input.bags.row(1)[1], input.bags.row(3)[1]);
        assert_eq!(input.bags.row(1)[3..], input.bags.row(3)[3..]);
        assert!(input.bags.entries.iter().all(|&(id, _)| (id as usize) < hashed.vocabulary()));
        assert_eq!(shape("McDonald-2x"), "XxXx-dx");
    }
}
