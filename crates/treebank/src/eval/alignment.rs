//! Which word of one analysis is which word of another.
//!
//! Two analyses of a text may divide it into sentences, tokens and words in different ways. What
//! they share is the sequence of characters, spaces removed. A token is a span of that sequence;
//! two tokens are the same if their spans are. Words that are tokens are aligned as tokens. The
//! words of a multiword token (`3-4`) have no spans of their own, so wherever one of the two
//! analyses has a multiword token, the smallest stretch that no multiword token of either sticks
//! out of is taken, and the words inside it are aligned by a longest common subsequence of their
//! lower-cased forms. This is the alignment of the CoNLL 2017 and 2018 shared tasks (Zeman et al.
//! 2017, 2018), step by step, so that all numbers built on it are theirs.
//!
//! Cost: linear in the text; for a stretch of g × s words in multiword tokens, O(g·s) unless their
//! forms are the same.

use std::iter;

use super::difference::Difference;
use crate::{Error, Id, Sentence, Token};

/// A word of a list of sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct WordRef {
    /// The sentence, from 0.
    pub sentence: usize,
    /// The number of the word in its sentence, from 1.
    pub word: usize,
}

/// What counts as the same label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Subtypes {
    /// What follows a colon is ignored: `nsubj:pass` is `nsubj`. The rule of Universal
    /// Dependencies and its shared tasks.
    #[default]
    Ignore,
    /// Labels are compared as they stand. The rule of CoNLL-X, whose labels have no subtypes.
    Keep,
}

impl Subtypes {
    /// The part of a label that is compared.
    pub fn compared(self, label: &str) -> &str {
        match self {
            Subtypes::Ignore => label.split_once(':').map_or(label, |(universal, _)| universal),
            Subtypes::Keep => label,
        }
    }
}

/// Two words that are the same word, and whether their analyses agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The word in the gold standard.
    pub gold: WordRef,
    /// The word in the system's analysis.
    pub system: WordRef,
    /// Whether the heads are aligned with each other, or both words are roots. An unknown head is
    /// never correct.
    pub head_correct: bool,
    /// Whether the labels agree, whatever the heads.
    pub label_correct: bool,
}

/// Numbers of spans on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlap {
    /// In the gold standard.
    pub gold: usize,
    /// In the system's analysis.
    pub system: usize,
    /// In both.
    pub common: usize,
}

/// A gold standard and a system's analysis of the same text, word by word.
#[derive(Clone, Debug)]
pub struct Alignment<'a> {
    gold: &'a [Sentence],
    system: &'a [Sentence],
    subtypes: Subtypes,
    tokens: Overlap,
    sentences: Overlap,
    /// In text order.
    pairs: Vec<Pair>,
    /// The number of words before each sentence, and of all words.
    gold_words_before: Vec<usize>,
    system_words_before: Vec<usize>,
    /// The system sentence with the same span as each gold sentence.
    same_sentence: Vec<Option<usize>>,
    /// For each gold sentence, and for the end, the number of pairs before it.
    pairs_before: Vec<usize>,
    /// For each gold sentence, and for the end, the number of system words that start before it.
    system_words_before_gold: Vec<usize>,
    /// For each word its place in `pairs`.
    pair_of_gold: Vec<Option<u32>>,
    pair_of_system: Vec<Option<u32>>,
}

impl<'a> Alignment<'a> {
    /// Aligns by characters. Sentences, tokens and words may differ; labels are compared without
    /// their subtypes.
    ///
    /// # Errors
    /// [`Error::DifferentText`] with the first place where the characters differ.
    pub fn new(gold: &'a [Sentence], system: &'a [Sentence]) -> Result<Self, Error> {
        let (g, s) = (Side::new(gold, is_surface), Side::new(system, is_surface));
        if g.characters != s.characters {
            return Err(Error::DifferentText(Box::new(Difference::of_characters(gold, system))));
        }
        let matches = align(&g.words, &s.words);
        Ok(Self::from_matches(&g, &s, &matches, Subtypes::Ignore))
    }

    /// Aligns word with word. Sentences, their lengths and their forms must be the same, as in the
    /// shared tasks of 2006 and 2007; labels are compared as they stand.
    ///
    /// # Errors
    /// [`Error::DifferentText`] with the first word that differs.
    pub fn by_position(gold: &'a [Sentence], system: &'a [Sentence]) -> Result<Self, Error> {
        let same_words = |(g, s): (&Sentence, &Sentence)| {
            g.len() == s.len() && iter::zip(g.words(), s.words()).all(|(g, s)| g.form() == s.form())
        };
        if gold.len() != system.len() || !iter::zip(gold, system).all(same_words) {
            return Err(Error::DifferentText(Box::new(Difference::of_words(gold, system))));
        }
        // Multiword tokens do not count here, so that both sides have the same characters.
        let is_word = |token: Token<'_>, _: &mut usize| token.id().word().is_some();
        let (g, s) = (Side::new(gold, is_word), Side::new(system, is_word));
        let matches: Vec<_> = (0..g.words.len()).map(|word| (word, word)).collect();
        Ok(Self::from_matches(&g, &s, &matches, Subtypes::Keep))
    }

    fn from_matches(
        g: &Side<'a>,
        s: &Side<'a>,
        matches: &[(usize, usize)],
        subtypes: Subtypes,
    ) -> Self {
        let mut pair_of_gold = vec![None; g.words.len()];
        let mut pair_of_system = vec![None; s.words.len()];
        for (&(gold, system), number) in iter::zip(matches, 0u32..) {
            pair_of_gold[gold] = Some(number);
            pair_of_system[system] = Some(number);
        }
        // Heads are the same if both are the root or they form a pair.
        let same_head = |gold: &Word<'_>, system: &Word<'_>| match (gold.head(), system.head()) {
            (Some(0), Some(0)) => true,
            (None | Some(0), _) | (_, None | Some(0)) => false,
            (Some(gold_head), Some(system_head)) => {
                let gold_head = g.words_before[gold.at.sentence] + gold_head - 1;
                let system_head = s.words_before[system.at.sentence] + system_head - 1;
                pair_of_gold[gold_head].is_some()
                    && pair_of_gold[gold_head] == pair_of_system[system_head]
            }
        };
        let pairs: Vec<Pair> = matches
            .iter()
            .map(|&(gold, system)| {
                let (gold, system) = (&g.words[gold], &s.words[system]);
                let compared = |word: &Word<'a>| subtypes.compared(word.token.deprel());
                Pair {
                    gold: gold.at,
                    system: system.at,
                    head_correct: same_head(gold, system),
                    label_correct: compared(gold) == compared(system),
                }
            })
            .collect();

        let mut same_sentence = vec![None; g.sentences.len()];
        let sentences = overlap(&g.sentences, &s.sentences, |gold, system| {
            same_sentence[gold] = Some(system);
        });
        let pairs_before = g
            .words_before
            .iter()
            .map(|&before| matches.partition_point(|&(gold, _)| gold < before))
            .collect();
        let mut system_words_before_gold: Vec<usize> = g
            .sentences
            .iter()
            .map(|gold| s.words.partition_point(|word| word.span.start < gold.start))
            .collect();
        system_words_before_gold.push(s.words.len());
        Alignment {
            gold: g.list,
            system: s.list,
            subtypes,
            tokens: overlap(&g.tokens, &s.tokens, |_, _| {}),
            sentences,
            pairs,
            gold_words_before: g.words_before.clone(),
            system_words_before: s.words_before.clone(),
            same_sentence,
            pairs_before,
            system_words_before_gold,
            pair_of_gold,
            pair_of_system,
        }
    }

    /// The same alignment with labels compared in another way.
    #[must_use]
    pub fn with_subtypes(mut self, subtypes: Subtypes) -> Self {
        self.subtypes = subtypes;
        for pair in &mut self.pairs {
            let compared = |sentences: &'a [Sentence], at| {
                token(sentences, at).map(|word| subtypes.compared(word.deprel()))
            };
            pair.label_correct =
                compared(self.gold, pair.gold) == compared(self.system, pair.system);
        }
        self
    }

    /// How labels are compared.
    pub fn subtypes(&self) -> Subtypes {
        self.subtypes
    }

    /// The gold standard.
    pub fn gold(&self) -> &'a [Sentence] {
        self.gold
    }

    /// The system's analysis.
    pub fn system(&self) -> &'a [Sentence] {
        self.system
    }

    /// A word of the gold standard; `None` if there is no such word.
    pub fn gold_token(&self, at: WordRef) -> Option<Token<'a>> {
        token(self.gold, at)
    }

    /// A word of the system's analysis; `None` if there is no such word.
    pub fn system_token(&self, at: WordRef) -> Option<Token<'a>> {
        token(self.system, at)
    }

    /// All aligned words, in the order of the text.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The words on both sides; those in common are the pairs.
    pub fn words(&self) -> Overlap {
        Overlap {
            gold: self.pair_of_gold.len(),
            system: self.pair_of_system.len(),
            common: self.pairs.len(),
        }
    }

    /// The tokens on both sides: multiword tokens, and the words that are part of none. Those in
    /// common have the same span of characters.
    pub fn tokens(&self) -> Overlap {
        self.tokens
    }

    /// The sentences on both sides; those in common have the same span of characters.
    pub fn sentences(&self) -> Overlap {
        self.sentences
    }

    /// The system's word for a gold word.
    pub fn system_of(&self, gold: WordRef) -> Option<WordRef> {
        self.pair_of(gold).map(|pair| pair.system)
    }

    /// The gold word for a system's word.
    pub fn gold_of(&self, system: WordRef) -> Option<WordRef> {
        let number = self.pair_of_system.get(index(&self.system_words_before, system)?)?;
        Some(self.pairs[(*number)? as usize].gold)
    }

    /// The pair of a gold word.
    pub fn pair_of(&self, gold: WordRef) -> Option<&Pair> {
        let number = self.pair_of_gold.get(index(&self.gold_words_before, gold)?)?;
        Some(&self.pairs[(*number)? as usize])
    }

    /// The pairs of a gold sentence; none if there is no such sentence.
    pub fn pairs_of_sentence(&self, gold_sentence: usize) -> &[Pair] {
        match self.pairs_before.get(gold_sentence..gold_sentence + 2) {
            Some(&[start, end]) => &self.pairs[start..end],
            _ => &[],
        }
    }

    /// The words that the system found in the span of a gold sentence. A word belongs to the gold
    /// sentence that it starts in, so each is counted once.
    pub fn system_words_in(
        &self,
        gold_sentence: usize,
    ) -> impl ExactSizeIterator<Item = WordRef> + '_ {
        let numbers = match self.system_words_before_gold.get(gold_sentence..gold_sentence + 2) {
            Some(&[start, end]) => start..end,
            _ => 0..0,
        };
        numbers.map(|number| {
            let sentence = self.system_words_before.partition_point(|&before| before <= number) - 1;
            WordRef { sentence, word: number - self.system_words_before[sentence] + 1 }
        })
    }

    /// The system's sentence that has exactly the characters of a gold sentence.
    pub fn same_sentence(&self, gold_sentence: usize) -> Option<usize> {
        self.same_sentence.get(gold_sentence).copied().flatten()
    }

    /// Whether the system found this gold sentence, divided it into the same words, and gave all
    /// of them the right heads.
    pub fn unlabelled_match(&self, gold_sentence: usize) -> bool {
        self.same_words(gold_sentence)
            && self.pairs_of_sentence(gold_sentence).iter().all(|pair| pair.head_correct)
    }

    /// Whether, moreover, all labels are right.
    pub fn labelled_match(&self, gold_sentence: usize) -> bool {
        self.unlabelled_match(gold_sentence)
            && self.pairs_of_sentence(gold_sentence).iter().all(|pair| pair.label_correct)
    }

    fn same_words(&self, gold_sentence: usize) -> bool {
        self.same_sentence(gold_sentence).is_some_and(|system_sentence| {
            let pairs = self.pairs_of_sentence(gold_sentence).len();
            pairs == self.gold[gold_sentence].len() && pairs == self.system[system_sentence].len()
        })
    }
}

fn token(sentences: &[Sentence], at: WordRef) -> Option<Token<'_>> {
    sentences.get(at.sentence)?.word(at.word)
}

/// The number of a word among all words, from 0.
fn index(words_before: &[usize], at: WordRef) -> Option<usize> {
    let &[start, end] = words_before.get(at.sentence..at.sentence + 2)? else { return None };
    (1..=end - start).contains(&at.word).then(|| start + at.word - 1)
}

/// A stretch of the characters, as byte offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: usize,
    end: usize,
}

/// A word and the span of the token it is, or is part of.
struct Word<'a> {
    token: Token<'a>,
    at: WordRef,
    span: Span,
    in_multiword: bool,
}

impl Word<'_> {
    fn head(&self) -> Option<usize> {
        self.token.head()
    }

    /// The form as the longest common subsequence compares it. The forms of words in multiword
    /// tokens keep their spaces, because the shared task's evaluation kept them.
    fn compared_form(&self) -> String {
        if self.in_multiword {
            return self.token.form().to_lowercase();
        }
        let mut form = String::new();
        push_without_spaces(&mut form, self.token.form());
        form.to_lowercase()
    }
}

/// One of the two analyses, with everything as spans of its characters.
struct Side<'a> {
    list: &'a [Sentence],
    characters: String,
    tokens: Vec<Span>,
    sentences: Vec<Span>,
    words: Vec<Word<'a>>,
    /// The number of words before each sentence, and of all words.
    words_before: Vec<usize>,
}

impl<'a> Side<'a> {
    /// `is_surface` says which lines make up the text; see the function of that name.
    fn new(list: &'a [Sentence], is_surface: impl Fn(Token<'a>, &mut usize) -> bool) -> Self {
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
            // The last word of the current multiword token, and its span.
            let (mut covered, mut span) = (0, Span { start: 0, end: 0 });
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

/// Whether a line stands for a piece of the text: a multiword token, or a word outside of one.
/// `covered` is the last word of the multiword token before it.
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

/// Appends what is left of a form without the characters of Unicode's category Zs.
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

/// Spans on both sides, and those that are equal. Both lists are in order.
fn overlap(gold: &[Span], system: &[Span], mut same: impl FnMut(usize, usize)) -> Overlap {
    let (mut g, mut s, mut common) = (0, 0, 0);
    while g < gold.len() && s < system.len() {
        if gold[g] == system[s] {
            common += 1;
            same(g, s);
        }
        let (gold_start, system_start) = (gold[g].start, system[s].start);
        g += usize::from(gold_start <= system_start);
        s += usize::from(system_start <= gold_start);
    }
    Overlap { gold: gold.len(), system: system.len(), common }
}

/// The aligned words, as numbers in the two lists.
fn align(gold: &[Word<'_>], system: &[Word<'_>]) -> Vec<(usize, usize)> {
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
        } else if gold[g].span.start <= system[s].span.start {
            g += 1;
        } else {
            s += 1;
        }
    }
    matches
}

/// Words on both sides that are aligned by their forms.
struct Stretch {
    gold_start: usize,
    gold_end: usize,
    system_start: usize,
    system_end: usize,
}

/// The smallest stretch around the multiword token at words `g`, `s` that no multiword token of
/// either side sticks out of.
fn multiword_stretch(gold: &[Word<'_>], system: &[Word<'_>], g: usize, s: usize) -> Stretch {
    let (mut g, mut s) = (g, s);
    // A plain word that starts before the multiword token is outside.
    let mut end;
    if gold[g].in_multiword {
        end = gold[g].span.end;
        s += usize::from(!system[s].in_multiword && system[s].span.start < gold[g].span.start);
    } else {
        end = system[s].span.end;
        g += usize::from(gold[g].span.start < system[s].span.start);
    }
    let (gold_start, system_start) = (g, s);
    let inside = |word: Option<&Word<'_>>, end: usize| match word {
        Some(word) if word.in_multiword => word.span.start < end,
        Some(word) => word.span.end <= end,
        None => false,
    };
    while inside(gold.get(g), end) || inside(system.get(s), end) {
        // The word that starts first is taken; its multiword token may move the end.
        let gold_first = match (gold.get(g), system.get(s)) {
            (Some(gold), Some(system)) => gold.span.start <= system.span.start,
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

/// Aligns the words of a stretch by a longest common subsequence of their forms. Among several,
/// the one that takes equal forms as soon as they meet, and otherwise passes over gold words first.
fn align_forms(
    gold: &[Word<'_>],
    system: &[Word<'_>],
    stretch: &Stretch,
    matches: &mut Vec<(usize, usize)>,
) {
    let (mut g, mut s) = (stretch.gold_start, stretch.system_start);
    let (gold_end, system_end) = (stretch.gold_end, stretch.system_end);
    // The usual case needs no table.
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
    let (a, b) = (forms(&gold[g..gold_end]), forms(&system[s..system_end]));
    // longest[i][j] is the length of a longest common subsequence of a[i..] and b[j..].
    let width = b.len() + 1;
    let mut longest = vec![0u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            let (down, right) = (longest[(i + 1) * width + j], longest[i * width + j + 1]);
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
