//! What can be looked at in words, and templates: which values of a word and its neighbours are looked at
//! together.

/// What can be looked at in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// Always the same.
    Bias,
    /// The word as written.
    Form,
    /// The word in lower case.
    Lower,
    /// The first 1 to 5 characters, in lower case; absent if there are not so many.
    Prefix1,
    Prefix2,
    Prefix3,
    Prefix4,
    Prefix5,
    /// The last 1 to 6 characters.
    Suffix1,
    Suffix2,
    Suffix3,
    Suffix4,
    Suffix5,
    Suffix6,
    /// At most the last three characters; never absent.
    Ending,
    /// At most the last two.
    ShortEnding,
    /// Kinds of characters: `Xxx-dd` with repetitions cut to two.
    Shape,
    /// Whether the word is the first, and whether no word has small letters.
    Place,
    /// The class of the word in the lexicon; of one never seen, its ending.
    Class,
    /// The word's most frequent tag; of one never seen, its short ending.
    Usual,
    /// The most frequent tag of the longest known word that this one starts with, of three letters at least.
    Stem,
    /// What follows that word.
    AfterStem,
    /// The most frequent tag of the longest known lemma that the word is or starts with, of two letters at
    /// least.
    Lemma,
    /// What follows that lemma, as a skeleton: without what vowel harmony and voicing change in suffixes.
    AfterLemma,
    /// The last characters as a skeleton.
    Skeleton5,
    Skeleton7,
    /// The coarse tag, once that is known.
    Upos,
}

use Column::{
    AfterLemma, AfterStem, Bias, Class, Ending, Form, Lemma, Lower, Place, Prefix1, Prefix2,
    Prefix3, Prefix4, Prefix5, Shape, ShortEnding, Skeleton5, Skeleton7, Stem, Suffix1, Suffix2,
    Suffix3, Suffix4, Suffix5, Suffix6, Upos, Usual,
};

/// How many there are.
pub(super) const COLUMNS: usize = Upos as usize + 1;

/// Values of words at some distance: those of one template.
pub(super) type Template = &'static [(Column, i8)];

/// By what coarse tags are chosen, besides their neighbours.
pub(super) const COARSE: &[Template] = &[
    &[(Form, 0)],
    &[(Lower, 0)],
    &[(Bias, 0)],
    &[(Prefix1, 0)],
    &[(Prefix2, 0)],
    &[(Prefix3, 0)],
    &[(Prefix4, 0)],
    &[(Prefix5, 0)],
    &[(Suffix1, 0)],
    &[(Suffix2, 0)],
    &[(Suffix3, 0)],
    &[(Suffix4, 0)],
    &[(Suffix5, 0)],
    &[(Suffix6, 0)],
    &[(Shape, 0)],
    &[(Shape, 0), (Place, 0)],
    &[(Lower, -1)],
    &[(Lower, 1)],
    &[(Lower, -2)],
    &[(Lower, 2)],
    &[(Lower, -1), (Lower, 0)],
    &[(Lower, 0), (Lower, 1)],
    &[(Lower, -1), (Lower, 1)],
    &[(Ending, -1)],
    &[(Ending, 1)],
    &[(ShortEnding, -1), (ShortEnding, 0)],
    &[(ShortEnding, 0), (ShortEnding, 1)],
    &[(Shape, -1), (Shape, 0)],
    &[(Shape, 0), (Shape, 1)],
    &[(Stem, 0)],
    &[(Stem, 0), (AfterStem, 0)],
    &[(Class, 0)],
    &[(Class, -1)],
    &[(Class, 1)],
    &[(Class, 2)],
    &[(Class, -2)],
    &[(Class, 0), (Usual, 1)],
    &[(Usual, -1), (Class, 0)],
    &[(Usual, -1), (Class, 0), (Usual, 1)],
    &[(Class, 0), (Usual, 1), (Usual, 2)],
    &[(Usual, -2), (Usual, -1), (Class, 0)],
    &[(Usual, -1), (Usual, 1)],
    &[(Usual, 1), (Usual, 2)],
    &[(Lower, 0), (Usual, 1)],
    &[(Usual, -1), (Lower, 0)],
    &[(Ending, 0), (Usual, 1)],
    &[(Usual, -1), (Ending, 0)],
    &[(Lemma, 0), (AfterLemma, 0)],
    &[(Skeleton5, 0)],
    &[(Skeleton7, 0)],
];

/// By what fine tags and morphological features are chosen, once coarse tags are known.
pub(super) const FINE: &[Template] = &[
    &[(Upos, 0), (Form, 0)],
    &[(Upos, 0), (Lower, 0)],
    &[(Upos, 0)],
    &[(Upos, 0), (Prefix2, 0)],
    &[(Upos, 0), (Prefix4, 0)],
    &[(Upos, 0), (Suffix1, 0)],
    &[(Upos, 0), (Suffix2, 0)],
    &[(Upos, 0), (Suffix3, 0)],
    &[(Upos, 0), (Suffix4, 0)],
    &[(Upos, 0), (Suffix5, 0)],
    &[(Upos, 0), (Suffix6, 0)],
    &[(Upos, 0), (Shape, 0)],
    &[(Upos, 0), (AfterStem, 0)],
    &[(Upos, 0), (Lower, -1)],
    &[(Upos, 0), (Lower, 1)],
    &[(Upos, 0), (Lower, -2)],
    &[(Upos, 0), (Lower, 2)],
    &[(Upos, 0), (Lower, -1), (Lower, 0)],
    &[(Upos, 0), (Lower, 0), (Lower, 1)],
    &[(Upos, 0), (Ending, -1)],
    &[(Upos, 0), (Ending, 1)],
    &[(Upos, 0), (ShortEnding, 0), (ShortEnding, -1)],
    &[(Upos, 0), (ShortEnding, 0), (ShortEnding, 1)],
    &[(Upos, -1), (Upos, 0), (Upos, 1)],
    &[(Upos, -2), (Upos, -1), (Upos, 0)],
    &[(Upos, -1), (Upos, 0), (Ending, 0)],
    &[(Upos, 0), (Upos, 1), (Ending, 0)],
    &[(Upos, -1), (Upos, 0), (Lower, 0)],
    &[(Upos, 0), (AfterLemma, 0)],
    &[(Upos, 0), (Lemma, 0), (AfterLemma, 0)],
    &[(Upos, 0), (Skeleton5, 0)],
    &[(Upos, 0), (Skeleton7, 0)],
];

/// The templates of the word itself, which a learner leaves out now and then; they come first.
pub(super) const OF_THE_WORD: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_of_the_word_itself_come_first() {
        for templates in [COARSE, FINE] {
            let own = |template: &Template| {
                template.len() <= 2
                    && template
                        .iter()
                        .all(|(column, at)| *at == 0 && matches!(column, Form | Lower | Upos))
                    && template.iter().any(|(column, _)| matches!(column, Form | Lower))
            };
            assert!(templates[..OF_THE_WORD].iter().all(own));
            assert!(!templates[OF_THE_WORD..].iter().any(own));
        }
    }
}
