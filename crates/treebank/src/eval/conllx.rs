//! The scores of the CoNLL-X shared task (2006) and its successor of 2007.
//!
//! Both sides must have the same sentences with the same words. A head is correct if it is the same
//! number, a label if it is the same string:
//!
//! ```text
//! UAS = words with the correct head / words       LAS = words with both correct / words
//! LA  = words with the correct label / words
//! ```
//!
//! The task of 2006 excluded punctuation from all counts, that of 2007 included it. A word is
//! punctuation if all its characters are, by their Unicode category (Pc, Pd, Ps, Pe, Pi, Pf, Po):
//! `...` and `»` are, `$`, `+` and `:-)3` are not.
//!
//! - S. Buchholz, E. Marsi (2006). CoNLL-X shared task on multilingual dependency parsing.
//! - J. Nivre, J. Hall, S. Kübler, R. McDonald, J. Nilsson, S. Riedel, D. Yuret (2007). The CoNLL
//!   2007 shared task on dependency parsing.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory as _};

use super::{Alignment, Attachment};

/// Treatment of words that are punctuation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Punctuation {
    /// Punctuation is excluded, as in 2006.
    #[default]
    Drop,
    /// Punctuation counts like other words, as in 2007.
    Keep,
}

impl Punctuation {
    /// True if a word counts.
    pub fn counts(self, form: &str) -> bool {
        self == Punctuation::Keep || !is_punctuation(form)
    }
}

/// True if all characters of a form are punctuation, by their Unicode category.
///
/// ```
/// use tutte_treebank::eval::conllx::is_punctuation;
/// assert!(["...", "»", "،", "_", "("].into_iter().all(is_punctuation));
/// assert!(!["$", "+", ":-)3", "…and", ""].into_iter().any(is_punctuation));
/// ```
pub fn is_punctuation(form: &str) -> bool {
    let punctuation =
        |character: char| character.general_category_group() == GeneralCategoryGroup::Punctuation;
    !form.is_empty() && form.chars().all(punctuation)
}

/// Computes the attachment scores of an alignment [by position](Alignment::by_position). A sentence
/// is a complete match if all its counted words are correct. A sentence without such words is not
/// counted.
///
/// ```
/// use tutte_treebank::{Sentence, eval::{Alignment, conllx}};
///
/// let gold = "\
/// 1\tStop\t_\tV\tV\t_\t0\tROOT\t_\t_
/// 2\tnow\t_\tAdv\tAdv\t_\t1\tADV\t_\t_
/// 3\t!\t_\tPU\tPU\t_\t1\tPU\t_\t_
///
/// ";
/// let gold: [Sentence; 1] = [gold.parse()?];
/// let system = [gold[0].as_str().replace("1\tPU", "2\tPU").parse()?];
/// let alignment = Alignment::by_position(&gold, &system)?;
/// assert_eq!(conllx::attachment(&alignment, conllx::Punctuation::Drop).uas(), 1.0);
/// assert_eq!(conllx::attachment(&alignment, conllx::Punctuation::Keep).uas(), 2.0 / 3.0);
/// # Ok::<(), tutte_treebank::Error>(())
/// ```
pub fn attachment(alignment: &Alignment<'_>, punctuation: Punctuation) -> Attachment {
    let mut total = Attachment::default();
    for sentence in 0..alignment.gold().len() {
        let pairs = alignment.pairs_of_sentence(sentence).iter();
        let counted = pairs.filter(|pair| {
            alignment.gold_token(pair.gold).is_some_and(|word| punctuation.counts(word.form()))
        });
        total += Attachment::of_words(counted.map(|pair| (pair.head_correct, pair.label_correct)));
    }
    total
}
