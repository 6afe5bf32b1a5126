//! Lemmas by edit rules that are learnt from a treebank.
//!
//! A rule leads from a form to its lemma: it sets the case of the letters, removes characters at the start and at the
//! end, and adds others there (`dogs → dog`: lower case, one letter off the end). The most specific context that the
//! treebank has chooses the rule of a word:
//!
//! 1. its form with its tag and features;
//! 2. its form with its tag;
//! 3. its endings with its tag, from the longest to the shortest;
//! 4. its tag alone.
//!
//! A context is stored only if the next more general one chooses another rule, so a treebank leaves a few thousand
//! entries. Forms count as often as they occur. Endings count once per different word: an unknown word resembles other
//! words, not frequent ones. A word whose tags come from a teacher counts with their probability, and an ending with that
//! of the word's most certain occurrence. Cost: O(letters) look-ups per word.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use tutte_linear::{KeyedMap, hash_text};

/// The empty column.
const NO_LEMMA: &str = "_";

/// Maximal number of letters of an ending.
const MAX_ENDING: usize = 8;

/// Case into which a form is put before it is edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Casing {
    Lower,
    Keep,
    Title,
    Upper,
}

impl Casing {
    const ALL: [Self; 4] = [Self::Lower, Self::Keep, Self::Title, Self::Upper];

    fn apply(self, form: &str) -> String {
        match self {
            Casing::Lower => form.to_lowercase(),
            Casing::Keep => form.to_owned(),
            Casing::Upper => form.to_uppercase(),
            Casing::Title => {
                let mut letters = form.chars();
                let first = letters.next().into_iter().flat_map(char::to_uppercase);
                first.chain(letters.as_str().to_lowercase().chars()).collect()
            }
        }
    }
}

/// Makes a lemma out of a form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Rule {
    /// The lemma is this text, for any form.
    Is(String),
    /// Sets the case, removes characters at the start and puts a prefix there, then does the same at the end with a
    /// suffix.
    Edit(Casing, usize, String, usize, String),
}

impl Rule {
    /// Returns the rule that changes the fewest characters.
    fn new(form: &str, lemma: &str) -> Self {
        let edit = |casing: Casing| {
            let cased: Vec<char> = casing.apply(form).chars().collect();
            let letters: Vec<char> = lemma.chars().collect();
            let (in_form, in_lemma, length) = longest_common(&cased, &letters);
            let cost = cased.len() + letters.len() - 2 * length;
            let text = |letters: &[char]| letters.iter().collect::<String>();
            let rule = Rule::Edit(
                casing,
                in_form,
                text(&letters[..in_lemma]),
                cased.len() - in_form - length,
                text(&letters[in_lemma + length..]),
            );
            (cost, length, rule)
        };
        let edits = Casing::ALL.into_iter().map(edit).filter(|(_, length, _)| *length > 0);
        match edits.min_by_key(|(cost, ..)| *cost) {
            Some((.., rule)) => rule,
            None => Rule::Is(lemma.to_owned()),
        }
    }

    /// Returns the lemma of a form, or `None` if the rule cannot be applied.
    fn apply(&self, form: &str) -> Option<String> {
        match self {
            Rule::Is(lemma) => Some(lemma.clone()),
            Rule::Edit(casing, start, prefix, end, suffix) => {
                let cased = casing.apply(form);
                let letters = cased.chars().count();
                // At least one character must be left.
                let kept =
                    letters.checked_sub(start.checked_add(*end)?).filter(|kept| *kept > 0)?;
                let middle = cased.chars().skip(*start).take(kept);
                Some(prefix.chars().chain(middle).chain(suffix.chars()).collect())
            }
        }
    }
}

/// An edit rule as a class of words, for a classifier that chooses among rules itself.
///
/// ```
/// use tutte_text::LemmaRule;
///
/// let rule = LemmaRule::new("Cities", "city");
/// assert_eq!(rule.apply("Ponies").as_deref(), Some("pony"));
/// assert_eq!(rule.apply("is"), None); // it has no three letters to remove
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LemmaRule(Rule);

impl LemmaRule {
    /// Returns the rule that leads from a form to its lemma and changes the fewest characters.
    pub fn new(form: &str, lemma: &str) -> Self {
        Self(Rule::new(form, lemma))
    }

    /// Returns the lemma of a form, or `None` if the rule cannot be applied.
    pub fn apply(&self, form: &str) -> Option<String> {
        self.0.apply(form).filter(|lemma| is_writable(lemma))
    }
}

/// Returns the longest common substring of two words, the first of several: its start in both, and its length.
fn longest_common(a: &[char], b: &[char]) -> (usize, usize, usize) {
    let mut best = (0, 0, 0);
    let mut ending_at = vec![0usize; b.len() + 1];
    for (i, x) in a.iter().enumerate() {
        // Backwards, so that the value for the letter before is still there.
        for (j, y) in b.iter().enumerate().rev() {
            ending_at[j + 1] = if x == y { ending_at[j] + 1 } else { 0 };
            let length = ending_at[j + 1];
            if length > best.2 {
                best = (i + 1 - length, j + 1 - length, length);
            }
        }
    }
    best
}

/// A word of a treebank with its lemma.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LemmaExample<'a> {
    pub(crate) form: &'a str,
    pub(crate) upos: &'a str,
    pub(crate) feats: &'a str,
    pub(crate) lemma: &'a str,
    /// Probability of the tags and the lemma: 1 in a treebank, less by a teacher that is not sure.
    pub(crate) confidence: f64,
}

impl LemmaExample<'_> {
    /// Returns the count of the word, in thousandths. Sums of integers do not depend on their order.
    fn count(&self) -> u64 {
        (self.confidence * ONCE as f64).round() as u64
    }
}

/// Count of a word whose lemma is certain.
const ONCE: u64 = 1000;

/// Rules, and the contexts that choose among them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lemmatizer {
    rules: Vec<Rule>,
    /// Index of the rule that each context chooses.
    chosen: KeyedMap<u16>,
}

/// A lemmatizer without its contexts, for a model file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LemmaDocument {
    rules: Vec<Rule>,
}

/// Counts of rules in thousandths, by context.
type Counts = HashMap<u64, BTreeMap<u16, u64>>;

/// Returns the most frequent rule and its count; of several, the first.
fn most_frequent(counts: &BTreeMap<u16, u64>) -> Option<(u16, u64)> {
    counts.iter().rev().max_by_key(|(_, count)| **count).map(|(rule, count)| (*rule, *count))
}

/// Contexts of a word, as keys.
struct Contexts<'a> {
    upos: &'a str,
    lower: String,
    /// Byte at which each character starts.
    starts: Vec<usize>,
}

impl<'a> Contexts<'a> {
    fn new(form: &str, upos: &'a str) -> Self {
        let lower = form.to_lowercase();
        let starts = lower.char_indices().map(|(at, _)| at).collect();
        Self { upos, lower, starts }
    }

    fn key(&self, seed: u64, text: &str) -> u64 {
        hash_text(text, hash_text(self.upos, seed))
    }

    /// Returns the key of the form as written, with its features.
    fn exact(&self, form: &str, feats: &str) -> u64 {
        self.key(hash_text(feats, 1), form)
    }

    /// Returns the key of the form in lower case.
    fn form(&self) -> u64 {
        self.key(2, &self.lower)
    }

    /// Returns the key of the ending of `length` letters, or `None` for shorter words.
    fn ending(&self, length: usize) -> Option<u64> {
        let letter = self.starts.len().checked_sub(length)?;
        let byte = self.starts.get(letter).copied().unwrap_or(self.lower.len());
        Some(self.key(3, &self.lower[byte..]))
    }
}

impl Lemmatizer {
    /// Trains a lemmatizer on words. Words without a lemma (`_`) are ignored. Returns `None` if no word has a lemma.
    pub(crate) fn train<'a>(words: impl Iterator<Item = LemmaExample<'a>> + Clone) -> Option<Self> {
        let words = words
            .filter(|word| (word.lemma != NO_LEMMA || word.form == NO_LEMMA) && word.count() > 0);
        let mut rule_counts: BTreeMap<Rule, u64> = BTreeMap::new();
        for word in words.clone() {
            *rule_counts.entry(Rule::new(word.form, word.lemma)).or_default() += word.count();
        }
        // The most frequent first.
        let mut rules: Vec<(Rule, u64)> = rule_counts.into_iter().collect();
        rules.sort_by_key(|(_, count)| Reverse(*count));
        rules.truncate(usize::from(u16::MAX));
        let number: HashMap<&Rule, u16> = rules.iter().map(|(rule, _)| rule).zip(0..).collect();
        // Counts of the contexts with the form, and the count of the most certain occurrence, by lower-cased form and tag.
        let mut of_form: HashMap<(String, &str), (Counts, u64)> = HashMap::new();
        for word in words {
            let Some(&rule) = number.get(&Rule::new(word.form, word.lemma)) else { continue };
            let contexts = Contexts::new(word.form, word.upos);
            let exact = contexts.exact(word.form, word.feats);
            let form = contexts.form();
            let (counts, highest) = of_form.entry((contexts.lower, word.upos)).or_default();
            *highest = word.count().max(*highest);
            for key in [exact, form] {
                *counts.entry(key).or_default().entry(rule).or_default() += word.count();
            }
        }
        let mut of_form: Vec<_> = of_form.into_iter().collect();
        of_form.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        // Endings, by length. Each different word counts once.
        let mut endings: Vec<Counts> = vec![Counts::new(); MAX_ENDING + 1];
        for ((lower, upos), (counts, highest)) in &of_form {
            let contexts = Contexts::new(lower, upos);
            let Some((rule, _)) = counts.get(&contexts.form()).and_then(most_frequent) else {
                continue;
            };
            for (length, counts) in endings.iter_mut().enumerate() {
                if let Some(key) = contexts.ending(length) {
                    *counts.entry(key).or_default().entry(rule).or_default() += highest;
                }
            }
        }
        let rules = rules.into_iter().map(|(rule, _)| rule).collect();
        let mut lemmatizer = Self { rules, chosen: KeyedMap::default() };
        // From general contexts to specific ones, only those that change the rule.
        for length in 0..=MAX_ENDING {
            let mut new = HashMap::new();
            for ((lower, upos), _) in &of_form {
                let contexts = Contexts::new(lower, upos);
                let Some(key) = contexts.ending(length) else { continue };
                let Some((rule, count)) = endings[length].get(&key).and_then(most_frequent) else {
                    continue;
                };
                let shorter =
                    length.checked_sub(1).and_then(|l| lemmatizer.of_ending(&contexts, l));
                if shorter != Some(rule) && (count > ONCE || length == 0) {
                    new.insert(key, rule);
                }
            }
            lemmatizer.chosen.extend(new);
        }
        for ((lower, upos), (counts, _)) in &of_form {
            let contexts = Contexts::new(lower, upos);
            let form = contexts.form();
            let rule = counts.get(&form).and_then(most_frequent).map(|(rule, _)| rule);
            if let Some(rule) = rule
                && lemmatizer.of_ending(&contexts, MAX_ENDING) != Some(rule)
            {
                lemmatizer.chosen.insert(form, rule);
            }
            for (key, counts) in counts.iter().filter(|(key, _)| **key != form) {
                match most_frequent(counts) {
                    Some((own, _)) if Some(own) != rule => lemmatizer.chosen.insert(*key, own),
                    _ => None,
                };
            }
        }
        (!lemmatizer.rules.is_empty()).then_some(lemmatizer)
    }

    /// Returns the rule of the longest known ending of at most `longest` letters.
    fn of_ending(&self, contexts: &Contexts<'_>, longest: usize) -> Option<u16> {
        let endings = (0..=longest).rev().filter_map(|length| contexts.ending(length));
        endings.into_iter().find_map(|key| self.chosen.get(&key).copied())
    }

    /// Returns the lemma of a word.
    pub(crate) fn lemma(&self, form: &str, upos: &str, feats: &str) -> String {
        let contexts = Contexts::new(form, upos);
        let forms = [contexts.exact(form, feats), contexts.form()].into_iter();
        let endings = (0..=MAX_ENDING).rev().filter_map(|length| contexts.ending(length));
        let chosen = forms.chain(endings).filter_map(|key| self.chosen.get(&key).copied());
        let rules = chosen.filter_map(|rule| self.rules.get(usize::from(rule)));
        let lemma = rules.filter_map(|rule| rule.apply(form)).find(|lemma| is_writable(lemma));
        lemma.unwrap_or_else(|| form.to_owned())
    }

    /// Returns everything but the contexts.
    pub(crate) fn document(&self) -> LemmaDocument {
        LemmaDocument { rules: self.rules.clone() }
    }

    /// Returns all contexts and their rules, sorted by key.
    pub(crate) fn sorted(&self) -> Vec<(u64, u16)> {
        let mut all: Vec<_> = self.chosen.iter().map(|(key, rule)| (*key, *rule)).collect();
        all.sort_unstable();
        all
    }
}

impl LemmaDocument {
    /// Returns the lemmatizer with these contexts. Contexts with a rule that does not exist are ignored.
    pub(crate) fn lemmatizer(self, chosen: impl Iterator<Item = (u64, u16)>) -> Lemmatizer {
        Lemmatizer { rules: self.rules, chosen: chosen.collect() }
    }
}

/// Returns `true` if a column can hold the lemma.
fn is_writable(lemma: &str) -> bool {
    !lemma.is_empty() && !lemma.contains(['\t', '\n', '\r'])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rules_change_as_little_as_possible() {
        let rule = |form, lemma| Rule::new(form, lemma);
        let edit = |casing, start, prefix: &str, end, suffix: &str| {
            Rule::Edit(casing, start, prefix.into(), end, suffix.into())
        };
        assert_eq!(rule("dogs", "dog"), edit(Casing::Lower, 0, "", 1, ""));
        assert_eq!(rule("Cities", "city"), edit(Casing::Lower, 0, "", 3, "y"));
        assert_eq!(rule("Ada", "Ada"), edit(Casing::Keep, 0, "", 0, ""));
        assert_eq!(rule("ADA", "Ada"), edit(Casing::Title, 0, "", 0, ""));
        assert_eq!(rule("gekocht", "kochen"), edit(Casing::Lower, 2, "", 1, "en"));
        assert_eq!(rule("is", "be"), Rule::Is("be".into()));
        assert_eq!(edit(Casing::Lower, 0, "", 3, "y").apply("ies"), None, "nothing would be left");
    }

    fn lemmatizer() -> Lemmatizer {
        let words = [
            ("walked", "VERB", "walk"),
            ("talked", "VERB", "talk"),
            ("cities", "NOUN", "city"),
            ("parties", "NOUN", "party"),
            ("dogs", "NOUN", "dog"),
            ("cats", "NOUN", "cat"),
            ("boys", "NOUN", "boy"),
            ("saw", "VERB", "see"),
            ("saw", "NOUN", "saw"),
            ("is", "AUX", "be"),
            ("Ada", "PROPN", "Ada"),
            ("Mary", "PROPN", "Mary"),
            ("_", "SYM", "_"),
        ];
        let words = words.iter().map(|(form, upos, lemma)| example(form, upos, lemma));
        Lemmatizer::train(words).unwrap()
    }

    fn example<'a>(form: &'a str, upos: &'a str, lemma: &'a str) -> LemmaExample<'a> {
        LemmaExample { form, upos, feats: "_", lemma, confidence: 1.0 }
    }

    /// Two uncertain words weigh less than a certain one; two certain ones outvote it.
    #[test]
    fn words_count_with_the_confidence_of_the_teacher() {
        let of = |confidence: f64| {
            let doubtful = LemmaExample { confidence, ..example("left", "VERB", "left") };
            let words = [example("left", "VERB", "leave"), doubtful, doubtful];
            Lemmatizer::train(words.into_iter()).unwrap().lemma("left", "VERB", "_")
        };
        assert_eq!(of(1.0), "left");
        assert_eq!(of(0.4), "leave");
        assert_eq!(of(0.0), "leave");
    }

    #[test]
    fn words_are_like_words_that_end_like_them() {
        let lemmatizer = lemmatizer();
        let lemma = |form, upos| lemmatizer.lemma(form, upos, "_");
        assert_eq!(lemma("Saw", "VERB"), "see");
        assert_eq!(lemma("saw", "NOUN"), "saw");
        assert_eq!(lemma("stalked", "VERB"), "stalk");
        assert_eq!(lemma("ladies", "NOUN"), "lady");
        assert_eq!(lemma("toys", "NOUN"), "toy");
        assert_eq!(lemma("Turing", "PROPN"), "Turing");
        assert_eq!(lemma("s", "NOUN"), "s", "no rule can be applied");
        assert_eq!(lemma("x", "ADJ"), "x", "the tag is unknown");
    }

    #[test]
    fn a_treebank_without_lemmas_teaches_none() {
        let word = LemmaExample { lemma: "_", ..example("tea", "NOUN", "tea") };
        assert_eq!(Lemmatizer::train(std::iter::repeat_n(word, 3)), None);
    }

    #[test]
    fn lists_and_documents_are_all_there_is() {
        let lemmatizer = lemmatizer();
        let list = lemmatizer.sorted();
        assert!(list.is_sorted());
        let text = serde_json::to_string(&lemmatizer.document()).unwrap();
        let document: LemmaDocument = serde_json::from_str(&text).unwrap();
        assert_eq!(document.lemmatizer(list.into_iter()), lemmatizer);
        let odd = LemmaDocument::default().lemmatizer([(1, 7)].into_iter());
        assert_eq!(odd.lemma("tea", "NOUN", "_"), "tea");
    }

    proptest! {
        #[test]
        fn a_rule_gives_the_lemma_it_was_made_from(form in "\\PC{1,8}", lemma in "\\PC{1,8}") {
            prop_assert_eq!(Rule::new(&form, &lemma).apply(&form), Some(lemma));
        }

        #[test]
        fn a_single_word_is_learnt(form in "[a-zA-Zäß]{1,8}", lemma in "[a-zA-Zäß]{1,8}") {
            let word = example(&form, "X", &lemma);
            let lemmatizer = Lemmatizer::train(std::iter::once(word)).unwrap();
            prop_assert_eq!(lemmatizer.lemma(&form, "X", "_"), lemma);
        }
    }
}
