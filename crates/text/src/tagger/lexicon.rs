//! Lexicon of the treebank: the tags that each word had, and how often.
//!
//! The *class* of a word combines its frequency (once, a few times, often …), its most frequent tag and its other tags.
//! A flag marks words that nearly always have their most frequent tag. Words of one class behave alike. The class of a
//! neighbour tells much about a word before anything is tagged.
//!
//! In training, the current occurrence of a word is left out of its counts. Otherwise no word of the treebank would
//! ever be unknown.

use std::collections::HashMap;

use tutte_linear::{KeyedMap, hash_bytes, hash_text};

/// Entries of lower-cased forms and lemmas.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Lexicon {
    entries: KeyedMap<Entry>,
}

/// Entry of a word; zeros for an unknown word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// Number of its class; 0 for an unknown word.
    pub(super) class: u32,
    /// Its most frequent tag plus 1; 0 for an unknown word.
    pub(super) tag: u8,
}

/// Tags of a word and their counts.
type Counts = Vec<(u8, u32)>;

/// Returns the key of a form in lower case.
pub(super) fn form_key(lower: &str) -> u64 {
    hash_text(lower, 0x1ec)
}

/// Returns the key of a lemma in lower case.
pub(super) fn lemma_key(lower: &str) -> u64 {
    hash_text(lower, 0x1ed)
}

/// Counts the tags of forms and lemmas.
#[derive(Clone, Debug, Default)]
pub(super) struct Counter {
    counts: HashMap<u64, Counts>,
}

impl Counter {
    pub(super) fn add(&mut self, key: u64, tag: u8) {
        let counts = self.counts.entry(key).or_default();
        match counts.iter_mut().find(|(other, _)| *other == tag) {
            Some((_, count)) => *count += 1,
            None => counts.push((tag, 1)),
        }
    }

    /// Returns the entry of a word without one of its occurrences with this tag.
    pub(super) fn without(&self, key: u64, tag: u8) -> Entry {
        let counts = self.counts.get(&key).map_or(&[][..], Vec::as_slice);
        entry(counts.iter().map(|&(other, count)| (other, count - u32::from(other == tag))))
    }

    /// Returns the entries of all words.
    pub(super) fn lexicon(&self) -> Lexicon {
        let entries = self.counts.iter();
        let entries = entries.map(|(key, counts)| (*key, entry(counts.iter().copied()))).collect();
        Lexicon { entries }
    }
}

/// Returns the entry of a word with these counts of tags.
fn entry(counts: impl Iterator<Item = (u8, u32)>) -> Entry {
    /// Tags with a share of less than one in this many are ignored: they are mistakes or too rare to matter.
    const RARE: u32 = 20;
    /// Maximal number of tags besides the first that are part of the class.
    const OTHERS: usize = 3;
    let mut counts: Vec<(u8, u32)> = counts.filter(|(_, count)| *count > 0).collect();
    counts.sort_unstable_by_key(|&(tag, count)| (u32::MAX - count, tag));
    let total: u32 = counts.iter().map(|(_, count)| count).sum();
    let Some(&(tag, most)) = counts.first() else { return Entry::default() };
    let frequency = match total {
        1 => 1u8,
        2..=4 => 2,
        5..=20 => 3,
        _ => 4,
    };
    let is_certain = u8::from(most * 10 >= total * 9);
    let others = counts[1..].iter().filter(|(_, count)| count * RARE >= total).take(OTHERS);
    let mut others: Vec<u8> = others.map(|(tag, _)| *tag).collect();
    others.sort_unstable();
    let mut bytes = vec![frequency, is_certain, tag];
    bytes.append(&mut others);
    let class = (hash_bytes(&bytes, 0xc1a) as u32).max(1);
    Entry { class, tag: tag + 1 }
}

impl Lexicon {
    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the entry of a word.
    pub(super) fn get(&self, key: u64) -> Entry {
        self.entries.get(&key).copied().unwrap_or_default()
    }

    /// Returns all keys and entries, sorted by key.
    pub(super) fn sorted(&self) -> Vec<(u64, Entry)> {
        let mut all: Vec<_> = self.entries.iter().map(|(key, entry)| (*key, *entry)).collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all
    }

    /// Creates a lexicon from all its keys and entries.
    pub(super) fn from_entries(entries: impl Iterator<Item = (u64, Entry)>) -> Self {
        Self { entries: entries.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_known_by_its_other_occurrences() {
        let mut counter = Counter::default();
        let [tea, run, once] = ["tea", "run", "once"].map(form_key);
        (0..30).for_each(|_| counter.add(tea, 7));
        for tag in [1, 1, 1, 2, 2] {
            counter.add(run, tag);
        }
        counter.add(once, 3);
        let lexicon = counter.lexicon();
        assert_eq!(lexicon.get(tea).tag, 8);
        assert_eq!(lexicon.get(form_key("tee")), Entry::default());
        assert_eq!(
            counter.without(once, 3),
            Entry::default(),
            "it is unknown without this occurrence"
        );
        assert_eq!(counter.without(tea, 7), lexicon.get(tea), "30 and 29 are one frequency");
        assert_eq!(lexicon.get(run).tag, 2);
        assert_ne!(lexicon.get(run).class, lexicon.get(tea).class);
        assert_eq!(Lexicon::from_entries(lexicon.sorted().into_iter()), lexicon);
    }

    #[test]
    fn rare_tags_do_not_make_classes() {
        let counts = |list: &[(u8, u32)]| entry(list.iter().copied());
        assert_eq!(counts(&[(1, 100), (2, 4)]), counts(&[(1, 90)]));
        assert_ne!(counts(&[(1, 100), (2, 6)]), counts(&[(1, 90)]));
        assert_eq!(counts(&[(2, 6), (1, 100)]), counts(&[(1, 100), (2, 6)]));
    }
}
