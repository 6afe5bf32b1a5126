//! Tokens that people write and that a treebank hardly has: `gimme`, `'cause`, `pp.`. They are lists in `data`, one per
//! language.
//!
//! A treebank says itself if a list is about its language and its guidelines: it has two or more multiword tokens of
//! the list, and divides most of them as the list does. Multiword tokens of the treebank stay as it divides them.

use std::collections::HashSet;

use crate::characters;
use crate::training_text::GoldParagraph;

/// All lists.
const LISTS: [&str; 1] = [include_str!("../data/english.txt")];

/// Tokens of the adopted lists, in lower case.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ListedTokens {
    /// Tokens that are single words.
    pub(crate) words: Vec<&'static str>,
    /// Multiword tokens that the treebank does not have.
    pub(crate) multiword: Vec<ListedMultiword>,
}

/// A multiword token of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedMultiword {
    pub(crate) form: String,
    pub(crate) words: Vec<&'static str>,
}

impl ListedMultiword {
    /// Reads a line of a list.
    fn new(line: &'static str) -> Self {
        let words: Vec<&str> = line.split(' ').collect();
        Self { form: words.concat(), words }
    }
}

impl ListedTokens {
    /// Returns the tokens of all lists that a treebank adopts.
    pub(crate) fn of(paragraphs: &[GoldParagraph<'_>]) -> Self {
        let mut tokens = Self::default();
        for list in LISTS {
            tokens.add(list, paragraphs);
        }
        tokens
    }

    fn add(&mut self, list: &'static str, paragraphs: &[GoldParagraph<'_>]) {
        let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let (multiword, words): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.contains(' '));
        let multiword: Vec<ListedMultiword> =
            multiword.into_iter().map(ListedMultiword::new).collect();
        if !is_adopted(&multiword, paragraphs) {
            return;
        }
        let known: HashSet<&[char]> = paragraphs.iter().flat_map(GoldParagraph::forms).collect();
        let is_new = |form: &[char]| !known.contains(form);
        let characters = |form: &str| form.chars().collect::<Vec<char>>();
        self.words.extend(words);
        self.multiword
            .extend(multiword.into_iter().filter(|token| is_new(&characters(&token.form))));
    }
}

/// Returns `true` if a treebank has two or more of these tokens, and divides most occurrences as the list does.
fn is_adopted(listed: &[ListedMultiword], paragraphs: &[GoldParagraph<'_>]) -> bool {
    let mut agreed = HashSet::new();
    let mut score = 0i64;
    for multiword in paragraphs.iter().flat_map(|paragraph| &paragraph.multiword) {
        let form = in_lower_case(&multiword.form);
        let Some(listed) = listed.iter().find(|listed| listed.form == form) else { continue };
        let words = multiword.words.iter().map(|word| in_lower_case(word));
        if words.eq(listed.words.iter().copied()) {
            agreed.insert(form);
            score += 1;
        } else {
            score -= 1;
        }
    }
    agreed.len() > 1 && score > 0
}

fn in_lower_case(text: &str) -> String {
    text.chars().map(characters::lower).collect()
}

#[cfg(test)]
mod tests {
    use tutte_treebank::Sentence;

    use super::*;

    /// Returns the tokens that a treebank adopts. `can+not` is a multiword token.
    fn adopted(tokens: &str) -> ListedTokens {
        let mut lines = String::new();
        let mut id = 1;
        for token in tokens.split(' ') {
            let words: Vec<&str> = token.split('+').collect();
            let empty = "\t_\t_\t_\t_\t_\t_\t_\t_\n";
            if words.len() > 1 {
                lines += &format!("{id}-{}\t{}{empty}", id + words.len() - 1, words.concat());
            }
            for word in words {
                lines += &format!("{id}\t{word}{empty}");
                id += 1;
            }
        }
        let sentences: [Sentence; 1] = [lines.parse().unwrap()];
        ListedTokens::of(&GoldParagraph::of(&sentences))
    }

    #[test]
    fn a_treebank_adopts_a_list_that_divides_as_it_does() {
        let tokens = adopted("I can+not say , I 'm Gon+na go , Mrs. Tea");
        let multiword: Vec<&str> = tokens.multiword.iter().map(|token| &token.form[..]).collect();
        assert!(multiword.contains(&"gimme"));
        assert!(!multiword.contains(&"gonna"), "the treebank has it");
        assert!(tokens.words.contains(&"'cause"));
    }

    #[test]
    fn other_treebanks_ignore_lists() {
        for tokens in ["Le thé", "I can+not say", "can+not ca+nnot gonn+a wa+nna wan+na"] {
            assert_eq!(adopted(tokens), ListedTokens::default(), "{tokens}");
        }
    }
}
