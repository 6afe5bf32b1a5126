//! Feature templates of the tagger: attributes of a word and its neighbours that are combined into one feature.

/// An attribute of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// Always the same.
    Bias,
    /// The word as written.
    Form,
    /// The word in lower case.
    Lower,
    /// The first 1 to 5 characters, in lower case; absent from shorter words.
    Prefix1,
    Prefix2,
    Prefix3,
    Prefix4,
    Prefix5,
    /// The last 1 to 6 characters, in lower case; absent from shorter words.
    Suffix1,
    Suffix2,
    Suffix3,
    Suffix4,
    Suffix5,
    Suffix6,
    /// At most the last three characters; never absent.
    Ending,
    /// At most the last two characters; never absent.
    ShortEnding,
    /// Classes of characters: `Xxx-dd`, with repetitions cut to two.
    Shape,
    /// Two flags: the word is the first, and no word of the sentence has lower-case letters.
    Position,
    /// Class of the word in the lexicon; its ending if the word is unknown.
    Class,
    /// Most frequent tag of the word; its short ending if the word is unknown.
    UsualTag,
    /// Most frequent tag of the longest known word with which this one starts, of at least three letters.
    StemTag,
    /// The rest of the word after that word.
    AfterStem,
    /// Most frequent tag of the longest known lemma with which the word starts, of at least two letters. The lemma may
    /// be the whole word.
    LemmaTag,
    /// Skeleton of the word after that lemma, see [`skeleton`](crate::characters::skeleton).
    AfterLemma,
    /// Skeleton of the last 5 or 7 characters.
    Skeleton5,
    Skeleton7,
    /// The coarse tag; set once it is known.
    Upos,
}

use Column::{
    AfterLemma, AfterStem, Bias, Class, Ending, Form, LemmaTag, Lower, Position, Prefix1, Prefix2,
    Prefix3, Prefix4, Prefix5, Shape, ShortEnding, Skeleton5, Skeleton7, StemTag, Suffix1, Suffix2,
    Suffix3, Suffix4, Suffix5, Suffix6, Upos, UsualTag,
};

/// Number of columns.
pub(super) const COLUMNS: usize = Upos as usize + 1;

/// Attributes of one template, each with the offset of its word.
pub(super) type Template = &'static [(Column, i8)];

/// Templates of coarse tags.
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
    &[(Shape, 0), (Position, 0)],
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
    &[(StemTag, 0)],
    &[(StemTag, 0), (AfterStem, 0)],
    &[(Class, 0)],
    &[(Class, -1)],
    &[(Class, 1)],
    &[(Class, 2)],
    &[(Class, -2)],
    &[(Class, 0), (UsualTag, 1)],
    &[(UsualTag, -1), (Class, 0)],
    &[(UsualTag, -1), (Class, 0), (UsualTag, 1)],
    &[(Class, 0), (UsualTag, 1), (UsualTag, 2)],
    &[(UsualTag, -2), (UsualTag, -1), (Class, 0)],
    &[(UsualTag, -1), (UsualTag, 1)],
    &[(UsualTag, 1), (UsualTag, 2)],
    &[(Lower, 0), (UsualTag, 1)],
    &[(UsualTag, -1), (Lower, 0)],
    &[(Ending, 0), (UsualTag, 1)],
    &[(UsualTag, -1), (Ending, 0)],
    &[(LemmaTag, 0), (AfterLemma, 0)],
    &[(Skeleton5, 0)],
    &[(Skeleton7, 0)],
];

/// Templates of fine tags and morphological features, which may use the coarse tags.
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
    &[(Upos, 0), (LemmaTag, 0), (AfterLemma, 0)],
    &[(Upos, 0), (Skeleton5, 0)],
    &[(Upos, 0), (Skeleton7, 0)],
];

/// Number of templates of the word itself, which word dropout leaves out; they come first.
pub(super) const WORD_TEMPLATES: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_of_the_word_itself_come_first() {
        for templates in [COARSE, FINE] {
            let is_of_word = |template: &Template| {
                template.len() <= 2
                    && template
                        .iter()
                        .all(|(column, at)| *at == 0 && matches!(column, Form | Lower | Upos))
                    && template.iter().any(|(column, _)| matches!(column, Form | Lower))
            };
            assert!(templates[..WORD_TEMPLATES].iter().all(is_of_word));
            assert!(!templates[WORD_TEMPLATES..].iter().any(is_of_word));
        }
    }
}
