//! Attributes of tokens: what the models of sentence boundaries and multiword tokens see of them.

use tutte_linear::Hash;

use crate::characters::{CharSpan, Characters, class};

/// Attributes of one token. All are zero outside the paragraph.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attributes {
    pub(crate) form: u64,
    /// Classes of its characters; a run of one class counts once.
    pub(crate) shape: u64,
    /// Its last two, three, four and five characters.
    pub(crate) ending2: u64,
    pub(crate) ending3: u64,
    pub(crate) ending4: u64,
    pub(crate) ending5: u64,
    /// Its first three characters.
    pub(crate) start3: u64,
    /// Class of its first character.
    pub(crate) first: u64,
    /// Class of its last character.
    pub(crate) last: u64,
    /// Number of its characters, at most eight.
    pub(crate) length: u64,
    /// 1 if white space stands before it.
    pub(crate) space: u64,
    /// Open quotation marks (at most one) and brackets (at most three) after it.
    pub(crate) open: u64,
    /// Binary logarithm of the number of tokens since the last one that ends in a stop ([`class::STOP`]).
    pub(crate) since_stop: u64,
}

/// Attributes of the tokens of a paragraph.
#[derive(Debug, Default)]
pub(crate) struct TokenAttributes(Vec<Attributes>);

impl TokenAttributes {
    pub(crate) fn read(&mut self, text: &Characters, tokens: &[CharSpan]) {
        self.0.clear();
        let mut quotes = 0u64;
        let mut brackets = 0u64;
        let mut stop = 0;
        for (at, &CharSpan { start, end }) in tokens.iter().enumerate() {
            let mut attributes = Attributes::of(text, CharSpan { start, end });
            attributes.space = u64::from(start > 0 && text.is_space(start - 1));
            match text.class(end - 1) {
                class::OPEN => brackets = (brackets + 1).min(3),
                class::CLOSE => brackets = brackets.saturating_sub(1),
                class::QUOTE if end - start == 1 => quotes ^= 1,
                _ => {}
            }
            attributes.open = quotes << 2 | brackets;
            attributes.since_stop = u64::from(((at - stop) as u32 + 1).ilog2());
            if attributes.last == u64::from(class::STOP) {
                stop = at;
            }
            self.0.push(attributes);
        }
    }

    /// Returns the attributes of the token `offset` places after a token, or before it if `offset` is negative.
    #[inline]
    pub(crate) fn near(&self, token: usize, offset: isize) -> Attributes {
        token.checked_add_signed(offset).and_then(|at| self.0.get(at)).copied().unwrap_or_default()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl Attributes {
    fn of(text: &Characters, token: CharSpan) -> Self {
        if let Some(plain) = plain_form(text, token) {
            let mut text = Characters::default();
            text.read(plain);
            return Self::of(&text, CharSpan { start: 0, end: text.len() });
        }
        let CharSpan { start, end } = token;
        let mut shape = Hash::of(6);
        let mut before = u8::MAX;
        for at in start..end.min(start + MAX_HASHED) {
            let class = text.class(at);
            if class != before {
                shape = shape.and(class.into());
                before = class;
            }
        }
        let lower = &text.lower[start..end];
        Self {
            form: form_hash(lower.iter().copied()),
            shape: shape.value(),
            ending2: ending_hash(lower, 2),
            ending3: ending_hash(lower, 3),
            ending4: ending_hash(lower, 4),
            ending5: ending_hash(lower, 5),
            start3: hash(&lower[..lower.len().min(3)]),
            first: text.class(start).into(),
            last: text.class(end - 1).into(),
            length: ((end - start) as u64).min(8),
            ..Self::default()
        }
    }
}

/// Returns the plain form that stands for a token, if there is one. Treebanks have many more tokens `...` than `…`, and
/// more emoticons than emoji.
fn plain_form(text: &Characters, token: CharSpan) -> Option<&'static str> {
    let form = &text.lower[token.start..token.end];
    if text.is_emoji(token.start) {
        Some(":)")
    } else if form.contains(&'…') && form.iter().all(|c| matches!(c, '…' | '.')) {
        Some("...")
    } else {
        None
    }
}

/// Number of characters of a form that are hashed. Longer forms are told apart by their endings alone.
const MAX_HASHED: usize = 64;

/// Returns the hash of a lower-cased form.
pub(crate) fn form_hash(characters: impl Iterator<Item = char>) -> u64 {
    characters.take(MAX_HASHED).fold(Hash::of(5), |hash, c| hash.and(c.into())).value()
}

/// Returns the hash of the last `count` characters, or of all if there are fewer.
pub(crate) fn ending_hash(characters: &[char], count: usize) -> u64 {
    hash(&characters[characters.len().saturating_sub(count)..])
}

fn hash(characters: &[char]) -> u64 {
    characters.iter().fold(Hash::of(7), |hash, &c| hash.and(c.into())).value()
}

#[cfg(test)]
impl TokenAttributes {
    /// Returns the attributes of the tokens of a text, which are separated by single spaces.
    pub(crate) fn of_spaced_tokens(text: &str) -> Self {
        let mut characters = Characters::default();
        characters.read(text);
        let mut tokens = Vec::new();
        let mut start = 0;
        for token in text.split(' ') {
            let end = start + token.chars().count();
            tokens.push(CharSpan { start, end });
            start = end + 1;
        }
        let mut attributes = Self::default();
        attributes.read(&characters, &tokens);
        attributes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ellipsis_is_three_stops_and_an_emoji_is_an_emoticon() {
        let tokens = TokenAttributes::of_spaced_tokens("… ... 😀 :) 👍🏽 .");
        let same = |one: usize, other: usize| {
            let [one, other] = [one, other].map(|token| tokens.near(token, 0));
            one.form == other.form && one.shape == other.shape && one.last == other.last
        };
        assert!(same(0, 1) && same(2, 3) && same(4, 3));
        assert!(!same(1, 5) && !same(1, 3));
    }
}
