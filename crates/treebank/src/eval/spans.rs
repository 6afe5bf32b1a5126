//! Words of two analyses as spans of the same characters, and the algorithm that aligns them.
//!
//! Two analyses of a text may divide it into different sentences, tokens and words. They share the
//! sequence of characters without spaces. A token is a span of that sequence; two tokens are the
//! same if their spans are. Words that are tokens are aligned as tokens.
//!
//! The words of a multiword token (`3-4`) have no spans of their own. One of the two analyses may
//! have a multiword token. There the algorithm takes the smallest stretch around it that cuts no
//! multiword token of either side. The words of the stretch are aligned by a longest common
//! subsequence of their lower-cased forms. This is, step by step, the alignment of the CoNLL 2017
//! and 2018 shared tasks (Zeman et al. 2017, 2018), so that all scores agree with theirs.
//!
//! Cost: linear in the text. A stretch of g × s words in multiword tokens costs O(g·s) unless their
//! forms are the same.

use super::alignment::{Overlap, WordRef};
use crate::{Id, Sentence, Token};

/// A range of the characters, as byte offsets. It is empty for a form of spaces only, and for a
/// multiword token without form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Span {
    /// Sort key for text order. An empty span sorts before a span that starts at the same place.
    fn place(self) -> (usize, bool) {
        (self.start, self.start < self.end)
    }
}

/// A word and the span of its token.
pub(super) struct Word<'a> {
    pub(super) token: Token<'a>,
    pub(super) at: WordRef,
    pub(super) span: Span,
    in_multiword: bool,
}

impl Word<'_> {
    /// Returns the form as the longest common subsequence compares it. Forms of words in multiword
    /// tokens keep their spaces, as in the evaluation of the shared task.
    fn compared_form(&self) -> String {
        if self.in_multiword {
            return self.token.form().to_lowercase();
        }
        let mut form = String::new();
        push_without_spaces(&mut form, self.token.form());
        form.to_lowercase()
    }
}

/// One of the two analyses, as spans of its characters.
pub(super) struct Side<'a> {
    pub(super) list: &'a [Sentence],
    pub(super) characters: String,
    pub(super) tokens: Vec<Span>,
    pub(super) sentences: Vec<Span>,
    pub(super) words: Vec<Word<'a>>,
    /// Number of words before each sentence; the last entry is the number of all words.
    pub(super) words_before: Vec<usize>,
}

impl<'a> Side<'a> {
    /// Collects the spans of an analysis. `is_surface` selects the lines that make up the text; see
    /// the function of that name.
    pub(super) fn new(
        list: &'a [Sentence],
        is_surface: impl Fn(Token<'a>, &mut usize) -> bool,
    ) -> Self {
        let mut side = Side {
            list,
            characters: String::new(),
            tokens: Vec::new(),
            sentences: Vec::with_capacity(list.len()),
            words: Vec::with_capacity(list.iter().map(Sentence::len).sum()),
            words_before: Vec::with_capacity(list.len() + 1),
        };
        for (number, sentence) in list.iter().enumerate() {
            side.words_before.push(side.words.len());
            let sentence_start = side.characters.len();
            // The last word of the current multiword token.
            let mut covered = 0;
            let mut span = Span { start: 0, end: 0 };
            for token in sentence.tokens() {
                let word = token.id().word();
                if is_surface(token, &mut covered) {
                    let start = side.characters.len();
                    push_without_spaces(&mut side.characters, token.form());
                    span = Span { start, end: side.characters.len() };
                    side.tokens.push(span);
                }
                if let Some(word) = word {
                    let at = WordRef { sentence: number, word };
                    side.words.push(Word { token, at, span, in_multiword: word <= covered });
                }
            }
            side.sentences.push(Span { start: sentence_start, end: side.characters.len() });
        }
        side.words_before.push(side.words.len());
        side
    }
}

/// True if a line is part of the text: a multiword token, or a word outside of one. `covered` is
/// the last word of the previous multiword token.
pub(super) fn is_surface(token: Token<'_>, covered: &mut usize) -> bool {
    match token.id() {
        Id::Multiword(_, last) => {
            *covered = last;
            true
        }
        Id::Word(word) => word > *covered,
        Id::Empty(..) => false,
    }
}

/// Appends a form without characters of the Unicode category Zs.
pub(super) fn push_without_spaces(characters: &mut String, form: &str) {
    if form.bytes().all(|byte| byte.is_ascii() && byte != b' ') {
        characters.push_str(form);
    } else {
        characters.extend(form.chars().filter(|&character| !is_space_separator(character)));
    }
}

fn is_space_separator(character: char) -> bool {
    matches!(
        character,
        ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// Counts the spans on both sides and their common spans. Both lists are in order.
pub(super) fn overlap(
    gold: &[Span],
    system: &[Span],
    mut same: impl FnMut(usize, usize),
) -> Overlap {
    let mut g = 0;
    let mut s = 0;
    let mut common = 0;
    while g < gold.len() && s < system.len() {
        if gold[g] == system[s] {
            common += 1;
            same(g, s);
        }
        let order = gold[g].place().cmp(&system[s].place());
        g += usize::from(order.is_le());
        s += usize::from(order.is_ge());
    }
    Overlap { gold: gold.len(), system: system.len(), common }
}

/// Returns the aligned words, as indices in the two lists.
pub(super) fn align(gold: &[Word<'_>], system: &[Word<'_>]) -> Vec<(usize, usize)> {
    let mut matches = Vec::with_capacity(gold.len().min(system.len()));
    let (mut g, mut s) = (0, 0);
    while g < gold.len() && s < system.len() {
        if gold[g].in_multiword || system[s].in_multiword {
            let stretch = multiword_stretch(gold, system, g, s);
            align_forms(gold, system, &stretch, &mut matches);
            (g, s) = (stretch.gold_end, stretch.system_end);
        } else if gold[g].span == system[s].span {
            matches.push((g, s));
            (g, s) = (g + 1, s + 1);
        } else if gold[g].span.place() <= system[s].span.place() {
            g += 1;
        } else {
            s += 1;
        }
    }
    matches
}

/// A range of words on both sides that are aligned by their forms.
struct Stretch {
    gold_start: usize,
    gold_end: usize,
    system_start: usize,
    system_end: usize,
}

/// Returns the smallest stretch around the multiword token at words `g` and `s` that cuts no
/// multiword token of either side.
fn multiword_stretch(gold: &[Word<'_>], system: &[Word<'_>], g: usize, s: usize) -> Stretch {
    let (mut g, mut s) = (g, s);
    // A plain word that starts before the multiword token is outside the stretch. After tokens that
    // differ there may be several such words. The shared task's evaluation skips only one of them,
    // and so does this function.
    let mut end;
    if gold[g].in_multiword {
        end = gold[g].span.end;
        s += usize::from(!system[s].in_multiword && system[s].span.start < gold[g].span.start);
    } else {
        end = system[s].span.end;
        g += usize::from(gold[g].span.start < system[s].span.start);
    }
    let (gold_start, system_start) = (g, s);
    // The first word of the multiword token is inside even if its span is empty.
    let inside = |word: Option<&Word<'_>>, end: usize| {
        word.is_some_and(|word| {
            word.span.end <= end || (word.in_multiword && word.span.start < end)
        })
    };
    while inside(gold.get(g), end) || inside(system.get(s), end) {
        // Take the word that starts first. Its multiword token may move the end.
        let gold_first = match (gold.get(g), system.get(s)) {
            (Some(gold), Some(system)) => gold.span.place() <= system.span.place(),
            (gold, _) => gold.is_some(),
        };
        let (words, next) = if gold_first { (gold, &mut g) } else { (system, &mut s) };
        if words[*next].in_multiword {
            end = end.max(words[*next].span.end);
        }
        *next += 1;
    }
    Stretch { gold_start, gold_end: g, system_start, system_end: s }
}

/// Aligns the words of a stretch by a longest common subsequence of their forms. Among several, it
/// takes the one that matches equal forms as soon as they meet, and otherwise skips gold words
/// first.
fn align_forms(
    gold: &[Word<'_>],
    system: &[Word<'_>],
    stretch: &Stretch,
    matches: &mut Vec<(usize, usize)>,
) {
    let (mut g, mut s) = (stretch.gold_start, stretch.system_start);
    let (gold_end, system_end) = (stretch.gold_end, stretch.system_end);
    // The usual case does not need the table.
    let same = |g: &Word<'_>, s: &Word<'_>| {
        g.token.form() == s.token.form() && g.in_multiword == s.in_multiword
    };
    while g < gold_end && s < system_end && same(&gold[g], &system[s]) {
        matches.push((g, s));
        (g, s) = (g + 1, s + 1);
    }
    if g == gold_end || s == system_end {
        return;
    }
    let forms = |words: &[Word<'_>]| words.iter().map(Word::compared_form).collect::<Vec<_>>();
    let a = forms(&gold[g..gold_end]);
    let b = forms(&system[s..system_end]);
    // longest[i][j] is the length of a longest common subsequence of a[i..] and b[j..].
    let width = b.len() + 1;
    let mut longest = vec![0u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            let down = longest[(i + 1) * width + j];
            let right = longest[i * width + j + 1];
            let both = longest[(i + 1) * width + j + 1] + u32::from(a[i] == b[j]);
            longest[i * width + j] = down.max(right).max(both);
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            matches.push((g + i, s + j));
            (i, j) = (i + 1, j + 1);
        } else if longest[i * width + j] == longest[(i + 1) * width + j] {
            i += 1;
        } else {
            j += 1;
        }
    }
}
