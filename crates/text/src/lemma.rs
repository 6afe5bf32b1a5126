//! Lemmas by learnt edit rules.
//!
//! From a form to its lemma there is a rule: how its letters are cased, what is taken from its start and its
//! end, and what is put there instead (`dogs → dog`: lower case, one letter off the end). Which rule a word
//! gets is decided by the most specific of what is known: its form with its tag and features, its form with
//! its tag, then its endings with its tag from the longest to the shortest, then the tag alone. What a
//! shorter ending says as well is not stored, so a treebank leaves a few thousand entries. Forms count as often as they
//! were seen, endings by the number of different words that have them: new words are like other words, not
//! like frequent ones. O(letters) look-ups a word.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use tutte_linear::KeyedMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What stands for no lemma.
const NONE: &str = "_";

/// The longest ending that is looked at.
const LONGEST_ENDING: usize = 8;

/// How a form is cased before it is edited.
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

/// How a lemma is made from a form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Rule {
    /// It is this, whatever the form.
    Is(String),
    /// Casing; characters taken from the start, and what is put there; the same of the end.
    Edit(Casing, usize, String, usize, String),
}

impl Rule {
    /// The rule that changes least.
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

    /// The lemma of a form, if the rule can be applied.
    fn apply(&self, form: &str) -> Option<String> {
        match self {
            Rule::Is(lemma) => Some(lemma.clone()),
            Rule::Edit(casing, start, prefix, end, suffix) => {
                let cased = casing.apply(form);
                let letters = cased.chars().count();
                // Something must be left.
                let kept =
                    letters.checked_sub(start.checked_add(*end)?).filter(|kept| *kept > 0)?;
                let middle = cased.chars().skip(*start).take(kept);
                Some(prefix.chars().chain(middle).chain(suffix.chars()).collect())
            }
        }
    }
}

/// The longest piece that two words share, the first of the longest: where it starts in both, and its length.
fn longest_common(a: &[char], b: &[char]) -> (usize, usize, usize) {
    let mut best = (0, 0, 0);
    let mut ending_at = vec![0usize; b.len() + 1];
    for (i, x) in a.iter().enumerate() {
        // Backwards, so that what was found for the letter before is still there.
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

/// A word whose lemma is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    pub(super) form: &'a str,
    pub(super) upos: &'a str,
    pub(super) feats: &'a str,
    pub(super) lemma: &'a str,
}

/// Rules, and what decides among them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Lemmatizer {
    rules: Vec<Rule>,
    /// From what is known of a word to the number of its rule.
    chosen: KeyedMap<u16>,
}

/// Lemmas as a file has them, besides the list of what decides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct LemmaDocument {
    rules: Vec<Rule>,
}

/// Counts of rules; more than one can be the most frequent, then the first.
type Counts = HashMap<u64, BTreeMap<u16, u32>>;

fn best(counts: &BTreeMap<u16, u32>) -> Option<(u16, u32)> {
    counts.iter().rev().max_by_key(|(_, count)| **count).map(|(rule, count)| (*rule, *count))
}

/// What is known of a word, as numbers.
struct Context<'a> {
    upos: &'a str,
    lower: String,
    starts: Vec<usize>,
}

impl<'a> Context<'a> {
    fn new(form: &str, upos: &'a str) -> Self {
        let lower = form.to_lowercase();
        let starts = lower.char_indices().map(|(at, _)| at).collect();
        Self { upos, lower, starts }
    }

    fn key(&self, kind: u64, text: &str) -> u64 {
        xxh3_64_with_seed(text.as_bytes(), xxh3_64_with_seed(self.upos.as_bytes(), kind))
    }

    /// The form as written, with its features.
    fn exact(&self, form: &str, feats: &str) -> u64 {
        self.key(xxh3_64_with_seed(feats.as_bytes(), 1), form)
    }

    /// The form in lower case.
    fn form(&self) -> u64 {
        self.key(2, &self.lower)
    }

    /// An ending of so many letters.
    fn ending(&self, length: usize) -> Option<u64> {
        let start = self.starts.len().checked_sub(length)?;
        Some(
            self.key(3, &self.lower[self.starts.get(start).copied().unwrap_or(self.lower.len())..]),
        )
    }
}

impl Lemmatizer {
    /// Learns from words; those whose lemma is `_` say nothing. `None` if all are so.
    pub(super) fn train<'a>(words: impl Iterator<Item = Known<'a>> + Clone) -> Option<Self> {
        let words = words.filter(|word| word.lemma != NONE || word.form == NONE);
        let mut numbers: BTreeMap<Rule, u32> = BTreeMap::new();
        for word in words.clone() {
            *numbers.entry(Rule::new(word.form, word.lemma)).or_default() += 1;
        }
        // The most frequent first.
        let mut rules: Vec<(Rule, u32)> = numbers.into_iter().collect();
        rules.sort_by_key(|(_, count)| u32::MAX - count);
        rules.truncate(usize::from(u16::MAX));
        let number: HashMap<&Rule, u16> = rules.iter().map(|(rule, _)| rule).zip(0..).collect();
        let mut of_form: HashMap<(String, &str), Counts> = HashMap::new();
        for word in words {
            let Some(&rule) = number.get(&Rule::new(word.form, word.lemma)) else { continue };
            let context = Context::new(word.form, word.upos);
            let (exact, form) = (context.exact(word.form, word.feats), context.form());
            let counts = of_form.entry((context.lower, word.upos)).or_default();
            for key in [exact, form] {
                *counts.entry(key).or_default().entry(rule).or_default() += 1;
            }
        }
        let mut of_form: Vec<_> = of_form.into_iter().collect();
        of_form.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        // Endings, each different word once.
        let mut endings: Vec<Counts> = vec![Counts::new(); LONGEST_ENDING + 1];
        for ((lower, upos), counts) in &of_form {
            let context = Context::new(lower, upos);
            let Some((rule, _)) = counts.get(&context.form()).and_then(best) else { continue };
            for (length, counts) in endings.iter_mut().enumerate() {
                if let Some(key) = context.ending(length) {
                    *counts.entry(key).or_default().entry(rule).or_default() += 1;
                }
            }
        }
        let rules = rules.into_iter().map(|(rule, _)| rule).collect();
        let mut lemmatizer = Self { rules, chosen: KeyedMap::default() };
        // From what is general to what is specific, only what is new.
        for length in 0..=LONGEST_ENDING {
            let mut new = HashMap::new();
            for ((lower, upos), _) in &of_form {
                let context = Context::new(lower, upos);
                let Some(key) = context.ending(length) else { continue };
                let Some((rule, count)) = endings[length].get(&key).and_then(best) else {
                    continue;
                };
                let shorter = length.checked_sub(1).and_then(|l| lemmatizer.of_ending(&context, l));
                if shorter != Some(rule) && (count > 1 || length == 0) {
                    new.insert(key, rule);
                }
            }
            lemmatizer.chosen.extend(new);
        }
        for ((lower, upos), counts) in &of_form {
            let context = Context::new(lower, upos);
            let form = context.form();
            let rule = counts.get(&form).and_then(best).map(|(rule, _)| rule);
            if let Some(rule) = rule
                && lemmatizer.of_ending(&context, LONGEST_ENDING) != Some(rule)
            {
                lemmatizer.chosen.insert(form, rule);
            }
            for (key, counts) in counts.iter().filter(|(key, _)| **key != form) {
                match best(counts) {
                    Some((own, _)) if Some(own) != rule => lemmatizer.chosen.insert(*key, own),
                    _ => None,
                };
            }
        }
        (!lemmatizer.rules.is_empty()).then_some(lemmatizer)
    }

    /// What the longest known ending of at most so many letters says.
    fn of_ending(&self, context: &Context<'_>, longest: usize) -> Option<u16> {
        let endings = (0..=longest).rev().filter_map(|length| context.ending(length));
        endings.into_iter().find_map(|key| self.chosen.get(&key).copied())
    }

    /// The lemma of a word.
    pub(super) fn lemma(&self, form: &str, upos: &str, feats: &str) -> String {
        let context = Context::new(form, upos);
        let known = [context.exact(form, feats), context.form()];
        let known = known.into_iter().filter_map(|key| self.chosen.get(&key).copied());
        let endings = (0..=LONGEST_ENDING).rev().filter_map(|length| context.ending(length));
        let general = endings.filter_map(|key| self.chosen.get(&key).copied());
        let rules = known.chain(general).filter_map(|rule| self.rules.get(usize::from(rule)));
        let lemma = rules.filter_map(|rule| rule.apply(form)).find(|lemma| is_writable(lemma));
        lemma.unwrap_or_else(|| form.to_owned())
    }

    pub(super) fn document(&self) -> LemmaDocument {
        LemmaDocument { rules: self.rules.clone() }
    }

    /// What decides, by number.
    pub(super) fn sorted(&self) -> Vec<(u64, u16)> {
        let mut all: Vec<_> = self.chosen.iter().map(|(key, rule)| (*key, *rule)).collect();
        all.sort_unstable();
        all
    }
}

impl LemmaDocument {
    /// With what decides. Rules that are not there decide nothing.
    pub(super) fn lemmatizer(self, chosen: impl Iterator<Item = (u64, u16)>) -> Lemmatizer {
        Lemmatizer { rules: self.rules, chosen: chosen.collect() }
    }
}

/// Whether a column can hold it.
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
        let known = |&(form, upos, lemma): &(&'static str, &'static str, &'static str)| Known {
            form,
            upos,
            feats: "_",
            lemma,
        };
        Lemmatizer::train(words.iter().map(known)).unwrap()
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
        assert_eq!(lemma("x", "ADJ"), "x", "nothing is known of the tag");
    }

    #[test]
    fn a_treebank_without_lemmas_teaches_none() {
        let word = Known { form: "tea", upos: "NOUN", feats: "_", lemma: "_" };
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
        fn what_was_learnt_alone_is_known(form in "[a-zA-Zäß]{1,8}", lemma in "[a-zA-Zäß]{1,8}") {
            let word = Known { form: &form, upos: "X", feats: "_", lemma: &lemma };
            let lemmatizer = Lemmatizer::train(std::iter::once(word)).unwrap();
            prop_assert_eq!(lemmatizer.lemma(&form, "X", "_"), lemma);
        }
    }
}
