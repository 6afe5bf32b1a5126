//! Rules that make words out of the form of a multiword token.

use serde::{Deserialize, Serialize};

use crate::characters;

/// A rule that makes words out of a form: one recipe per word.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Rule(pub(super) Vec<Recipe>);

/// Makes one word out of a form: the text `before`, a piece of the form, and the text `after`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Recipe {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    before: String,
    /// Number of characters from the start of the piece to the end of the form; `None` for the start of the form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<u16>,
    /// Number of characters from the end of the piece to the end of the form.
    to: u16,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    after: String,
}

impl Rule {
    /// Maximal number of words of a token, and of bytes of a literal text.
    const LIMIT: usize = 32;

    /// Returns the rule that makes these words, two or more, out of a form.
    pub(super) fn new(form: &str, words: &[&str]) -> Option<Self> {
        let form = lower(form);
        let last = words.len() - 1;
        let recipe =
            |(at, word): (usize, &&str)| Recipe::new(&form, &lower(word), at == 0, at == last);
        let rule = Self(words.iter().enumerate().map(recipe).collect::<Option<_>>()?);
        rule.is_sound().then_some(rule)
    }

    /// Returns `true` if the rule makes two or more words without white space. Rules of damaged files may not.
    pub(crate) fn is_sound(&self) -> bool {
        let is_sound = |recipe: &Recipe| {
            let literal = [&recipe.before, &recipe.after];
            literal
                .iter()
                .all(|text| text.len() <= Self::LIMIT && !text.chars().any(|c| c.is_whitespace()))
                && recipe.from.is_none_or(|from| from >= recipe.to)
                && (recipe.from != Some(recipe.to) || literal.iter().any(|text| !text.is_empty()))
        };
        (2..=Self::LIMIT).contains(&self.0.len()) && self.0.iter().all(is_sound)
    }

    /// Writes the words of a form. Returns `false` if the rule cannot be applied to it.
    pub(crate) fn apply(&self, form: &str, words: &mut Vec<String>) -> bool {
        words.clear();
        let characters: Vec<char> = form.chars().collect();
        let letters = || characters.iter().filter(|c| c.is_alphabetic());
        let is_upper_case = letters().count() > 1 && letters().all(|c| c.is_uppercase());
        let is_capitalised = characters.first().is_some_and(|c| c.is_uppercase());
        let push = |word: &mut String, literal: &str, is_first: bool| {
            if is_upper_case {
                word.extend(literal.chars().flat_map(char::to_uppercase));
            } else if is_capitalised && is_first && word.is_empty() {
                let mut rest = literal.chars();
                word.extend(rest.next().into_iter().flat_map(char::to_uppercase));
                word.push_str(rest.as_str());
            } else {
                word.push_str(literal);
            }
        };
        let mut made = Vec::with_capacity(self.0.len());
        for recipe in &self.0 {
            let end = characters.len().checked_sub(recipe.to.into());
            let start =
                recipe.from.map_or(Some(0), |from| characters.len().checked_sub(from.into()));
            let (Some(start), Some(end)) = (start, end) else { return false };
            let Some(piece) = characters.get(start..end) else { return false };
            let mut word = String::new();
            let is_first = made.is_empty();
            push(&mut word, &recipe.before, is_first);
            word.extend(piece);
            push(&mut word, &recipe.after, is_first);
            if word.is_empty() || word.contains(char::is_whitespace) {
                return false;
            }
            made.push(word);
        }
        *words = made;
        true
    }

    /// Divides a lower-cased form into the start of its first word and the rest.
    pub(super) fn divide<'a>(&'a self, form: &'a [char]) -> DividedForm<'a> {
        let [first, ..] = &self.0[..] else {
            return DividedForm { stem: &[], literal: "", rest: form };
        };
        let (stem, rest) = form.split_at(form.len().saturating_sub(first.to.into()));
        match first.from {
            None => DividedForm { stem, literal: &first.after, rest },
            Some(_) => DividedForm { stem: &[], literal: &first.before, rest: form },
        }
    }

    /// Returns the number of words that it makes.
    pub(crate) fn words(&self) -> usize {
        self.0.len()
    }
}

/// A lower-cased form as a [`Rule`] divides it. The first word is `stem` followed by `literal`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DividedForm<'a> {
    /// Start of the form.
    pub(super) stem: &'a [char],
    /// Literal text of the rule.
    pub(super) literal: &'a str,
    /// Rest of the form after the stem.
    pub(super) rest: &'a [char],
}

impl Recipe {
    fn new(form: &[char], word: &[char], is_first: bool, is_last: bool) -> Option<Self> {
        let n = form.len();
        let number = |number: usize| u16::try_from(number).ok();
        let text = |characters: &[char]| characters.iter().collect::<String>();
        if is_first {
            let same = form.iter().zip(word).take_while(|(a, b)| a == b).count();
            if same > 0 {
                let after = text(&word[same..]);
                return Some(Self { to: number(n - same)?, after, ..Self::default() });
            }
        } else if is_last {
            let same = form.iter().rev().zip(word.iter().rev()).take_while(|(a, b)| a == b).count();
            let before = text(&word[..word.len() - same]);
            return Some(Self { before, from: Some(number(same)?), ..Self::default() });
        } else if let Some(at) = (0..n).rev().find(|&at| form[at..].starts_with(word)) {
            let from = Some(number(n - at)?);
            let to = number(n - at - word.len())?;
            return Some(Self { from, to, ..Self::default() });
        }
        Some(Self { before: text(word), from: Some(0), ..Self::default() })
    }
}

/// Returns a text with each character in lower case.
pub(super) fn lower(text: &str) -> Vec<char> {
    text.chars().map(characters::lower).collect()
}
