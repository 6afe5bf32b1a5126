//! What models of sentences and multiword tokens see of tokens.

use tutte_linear::Hash;

use super::characters::{Characters, class};
use super::token_boundaries::Stretch;

/// What is seen of a token. All zero outside of the paragraph.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fact {
    pub(super) form: u64,
    /// The classes of its characters, runs of one class once.
    pub(super) shape: u64,
    /// Its last two, three, … characters.
    pub(super) ending2: u64,
    pub(super) ending3: u64,
    pub(super) ending4: u64,
    pub(super) ending5: u64,
    /// Its first three.
    pub(super) start3: u64,
    /// The classes of the first and last character.
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) length: u64,
    /// Whether white space is before it.
    pub(super) space: u64,
    /// How many quotation marks, at most one, and brackets, at most three, are open behind it.
    pub(super) open: u64,
    /// Tokens since the last stop, in steps.
    pub(super) since_stop: u64,
}

/// What is seen of the tokens of a paragraph.
#[derive(Debug, Default)]
pub(super) struct Facts(Vec<Fact>);

impl Facts {
    pub(super) fn read(&mut self, text: &Characters, tokens: &[Stretch]) {
        self.0.clear();
        let (mut quotes, mut brackets, mut stop) = (0u64, 0u64, 0);
        for (at, &Stretch { start, end }) in tokens.iter().enumerate() {
            let mut facts = Fact::of(text, Stretch { start, end });
            facts.space = u64::from(start > 0 && text.is_space(start - 1));
            match text.class(end - 1) {
                class::OPEN => brackets = (brackets + 1).min(3),
                class::CLOSE => brackets = brackets.saturating_sub(1),
                class::QUOTE if end - start == 1 => quotes ^= 1,
                _ => {}
            }
            facts.open = quotes << 2 | brackets;
            facts.since_stop = u64::from(((at - stop) as u32 + 1).ilog2());
            if facts.last == u64::from(class::STOP) {
                stop = at;
            }
            self.0.push(facts);
        }
    }

    /// The k-th token after one, or before it.
    #[inline]
    pub(super) fn near(&self, at: usize, k: isize) -> Fact {
        at.checked_add_signed(k).and_then(|at| self.0.get(at)).copied().unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

impl Fact {
    fn of(text: &Characters, token: Stretch) -> Self {
        let Stretch { start, end } = token;
        let mut shape = Hash::of(6);
        let mut before = u8::MAX;
        for at in start..end.min(start + SEEN) {
            let class = text.class(at);
            if class != before {
                shape = shape.and(class.into());
                before = class;
            }
        }
        let lower = &text.lower[start..end];
        Self {
            form: form(lower.iter().copied()),
            shape: shape.value(),
            ending2: ending(lower, 2),
            ending3: ending(lower, 3),
            ending4: ending(lower, 4),
            ending5: ending(lower, 5),
            start3: hash(&lower[..lower.len().min(3)]),
            first: text.class(start).into(),
            last: text.class(end - 1).into(),
            length: ((end - start) as u64).min(8),
            ..Self::default()
        }
    }
}

/// Longer tokens are seen by their ends.
const SEEN: usize = 64;

/// A hash of a lower-cased form.
pub(super) fn form(characters: impl Iterator<Item = char>) -> u64 {
    characters.take(SEEN).fold(Hash::of(5), |hash, c| hash.and(c.into())).value()
}

/// A hash of the last so many characters.
pub(super) fn ending(characters: &[char], count: usize) -> u64 {
    hash(&characters[characters.len().saturating_sub(count)..])
}

/// A small letter without what vowel harmony and voicing change in suffixes: open vowels are one, and close ones,
/// and so are `t` and `d`, `k`, `g` and `ğ`, `ç` and `c`, `p` and `b`. Turkish `-dır`, `-dir`, `-dur`, `-tür` have one
/// skeleton; `-dı`, which is past, and `-da`, which is a place, have two.
pub(super) fn skeleton(lower: char) -> char {
    match lower {
        'a' | 'â' | 'e' => 'a',
        'ı' | 'i' | 'î' | 'u' | 'ü' | 'û' => 'i',
        'o' | 'ö' => 'o',
        't' => 'd',
        'k' | 'ğ' => 'g',
        'ç' => 'c',
        'p' => 'b',
        c => c,
    }
}

fn hash(characters: &[char]) -> u64 {
    characters.iter().fold(Hash::of(7), |hash, &c| hash.and(c.into())).value()
}
