//! How forms become words.

use serde::{Deserialize, Serialize};

use crate::characters;

/// How a form becomes words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(in super::super) struct Rule(pub(super) Vec<Recipe>);

/// How a form becomes one word: `before`, a piece of the form, `after`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(in super::super) struct Recipe {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    before: String,
    /// The characters from the start of the piece to the end of the form; without, the form's start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<u16>,
    /// The characters from the end of the piece to the end of the form.
    to: u16,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    after: String,
}

impl Rule {
    /// The most words of a token, and the most characters of a literal piece.
    const LIMIT: usize = 32;

    /// The rule that makes these words, two or more, out of a form.
    pub(super) fn new(form: &str, words: &[&str]) -> Option<Self> {
        let form = lower(form);
        let last = words.len() - 1;
        let recipe =
            |(at, word): (usize, &&str)| Recipe::new(&form, &lower(word), at == 0, at == last);
        let rule = Self(words.iter().enumerate().map(recipe).collect::<Option<_>>()?);
        rule.is_sound().then_some(rule)
    }

    /// Whether it can be applied without surprises, as those of damaged files cannot.
    pub(in super::super) fn is_sound(&self) -> bool {
        let sound = |recipe: &Recipe| {
            let literal = [&recipe.before, &recipe.after];
            literal
                .iter()
                .all(|text| text.len() <= Self::LIMIT && !text.chars().any(|c| c.is_whitespace()))
                && recipe.from.is_none_or(|from| from >= recipe.to)
                && (recipe.from != Some(recipe.to) || literal.iter().any(|text| !text.is_empty()))
        };
        (2..=Self::LIMIT).contains(&self.0.len()) && self.0.iter().all(sound)
    }

    /// The words of a form, or `false` if the rule cannot be applied to it.
    pub(in super::super) fn apply(&self, form: &str, words: &mut Vec<String>) -> bool {
        words.clear();
        let characters: Vec<char> = form.chars().collect();
        let letters = || characters.iter().filter(|c| c.is_alphabetic());
        let shout = letters().count() > 1 && letters().all(|c| c.is_uppercase());
        let capital = characters.first().is_some_and(|c| c.is_uppercase());
        let push = |word: &mut String, literal: &str, first: bool| match shout {
            true => word.extend(literal.chars().flat_map(char::to_uppercase)),
            false if capital && first && word.is_empty() => {
                let mut rest = literal.chars();
                word.extend(rest.next().into_iter().flat_map(char::to_uppercase));
                word.push_str(rest.as_str());
            }
            false => word.push_str(literal),
        };
        let mut made = Vec::with_capacity(self.0.len());
        for recipe in &self.0 {
            let end = characters.len().checked_sub(recipe.to.into());
            let start =
                recipe.from.map_or(Some(0), |from| characters.len().checked_sub(from.into()));
            let (Some(start), Some(end)) = (start, end) else { return false };
            let Some(piece) = characters.get(start..end) else { return false };
            let mut word = String::new();
            let first = made.is_empty();
            push(&mut word, &recipe.before, first);
            word.extend(piece);
            push(&mut word, &recipe.after, first);
            if word.is_empty() || word.contains(char::is_whitespace) {
                return false;
            }
            made.push(word);
        }
        *words = made;
        true
    }

    /// The first word of a lower-cased form before its literal ending, that ending, and what is left.
    pub(super) fn stem<'a>(&'a self, form: &'a [char]) -> (&'a [char], &'a str, &'a [char]) {
        let [first, ..] = &self.0[..] else { return (&[], "", form) };
        let cut = form.len().saturating_sub(first.to.into());
        match first.from {
            None => (&form[..cut], &first.after, &form[cut..]),
            Some(_) => (&[], &first.before, form),
        }
    }

    /// How many words it makes.
    pub(in super::super) fn words(&self) -> usize {
        self.0.len()
    }
}

impl Recipe {
    fn new(form: &[char], word: &[char], first: bool, last: bool) -> Option<Self> {
        let n = form.len();
        let number = |number: usize| u16::try_from(number).ok();
        let text = |characters: &[char]| characters.iter().collect::<String>();
        if first {
            let same = form.iter().zip(word).take_while(|(a, b)| a == b).count();
            if same > 0 {
                let after = text(&word[same..]);
                return Some(Self { to: number(n - same)?, after, ..Self::default() });
            }
        } else if last {
            let same = form.iter().rev().zip(word.iter().rev()).take_while(|(a, b)| a == b).count();
            let before = text(&word[..word.len() - same]);
            return Some(Self { before, from: Some(number(same)?), ..Self::default() });
        } else if let Some(at) = (0..n).rev().find(|&at| form[at..].starts_with(word)) {
            let (from, to) = (Some(number(n - at)?), number(n - at - word.len())?);
            return Some(Self { from, to, ..Self::default() });
        }
        Some(Self { before: text(word), from: Some(0), ..Self::default() })
    }
}

/// Each character in lower case.
pub(super) fn lower(text: &str) -> Vec<char> {
    text.chars().map(characters::lower).collect()
}
