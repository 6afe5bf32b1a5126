//! Characters of a paragraph: lower-cased, with their classes and the places where no token can end.

use unicode_properties::{GeneralCategory, UnicodeEmoji, UnicodeGeneralCategory};
use unicode_segmentation::GraphemeCursor;

/// Classes of characters. Their numbers are part of the model format.
pub(crate) mod class {
    pub(crate) const SPACE: u8 = 0;
    pub(crate) const LOWER: u8 = 1;
    pub(crate) const UPPER: u8 = 2;
    pub(crate) const LETTER: u8 = 3;
    pub(crate) const HAN: u8 = 4;
    pub(crate) const HIRAGANA: u8 = 5;
    pub(crate) const KATAKANA: u8 = 6;
    pub(crate) const DIGIT: u8 = 7;
    pub(crate) const MARK: u8 = 8;
    pub(crate) const STOP: u8 = 9;
    pub(crate) const COMMA: u8 = 10;
    pub(crate) const APOSTROPHE: u8 = 11;
    pub(crate) const QUOTE: u8 = 12;
    pub(crate) const OPEN: u8 = 13;
    pub(crate) const CLOSE: u8 = 14;
    pub(crate) const DASH: u8 = 15;
    pub(crate) const PUNCTUATION: u8 = 16;
    pub(crate) const SYMBOL: u8 = 17;
    pub(crate) const OTHER: u8 = 18;
}

/// Returns `true` if a class holds letters that stand side by side in words.
#[inline]
pub(crate) fn is_letter(class: u8) -> bool {
    matches!(class, class::LOWER | class::UPPER | class::LETTER)
}

/// Returns the class of a character.
pub(crate) fn class_of(c: char) -> u8 {
    match c {
        'a'..='z' => class::LOWER,
        'A'..='Z' => class::UPPER,
        '0'..='9' => class::DIGIT,
        '.' | '!' | '?' | '…' | '。' | '！' | '？' | '؟' | '।' | '۔' => class::STOP,
        ',' | ';' | ':' | '、' | '，' | '،' | '؛' => class::COMMA,
        '\'' | '’' | '`' | '´' => class::APOSTROPHE,
        '"' => class::QUOTE,
        '\u{3041}'..='\u{309F}' => class::HIRAGANA,
        '\u{30A0}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' | '\u{FF66}'..='\u{FF9F}' => {
            class::KATAKANA
        }
        '々'
        | '〆'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}' => class::HAN,
        c if c.is_whitespace() => class::SPACE,
        c => class_of_category(c.general_category()),
    }
}

fn class_of_category(category: GeneralCategory) -> u8 {
    use GeneralCategory::*;
    match category {
        LowercaseLetter => class::LOWER,
        UppercaseLetter | TitlecaseLetter => class::UPPER,
        ModifierLetter | OtherLetter => class::LETTER,
        DecimalNumber | LetterNumber | OtherNumber => class::DIGIT,
        NonspacingMark | SpacingMark | EnclosingMark => class::MARK,
        InitialPunctuation | FinalPunctuation => class::QUOTE,
        OpenPunctuation => class::OPEN,
        ClosePunctuation => class::CLOSE,
        DashPunctuation | ConnectorPunctuation => class::DASH,
        OtherPunctuation => class::PUNCTUATION,
        MathSymbol | CurrencySymbol | ModifierSymbol | OtherSymbol => class::SYMBOL,
        _ => class::OTHER,
    }
}

/// A range of characters, by their index in the paragraph: a token, or a chunk without white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CharSpan {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Characters of a paragraph, in parallel arrays.
#[derive(Debug, Default)]
pub(crate) struct Characters {
    /// Lower-cased characters, see [`lower`].
    pub(crate) lower: Vec<char>,
    /// Class of each character, with the bit [`JOINED`].
    classes: Vec<u8>,
    /// Byte at which each character starts, and at the end the length of the text.
    pub(crate) offsets: Vec<u32>,
}

/// Bit of a character that always belongs to the same token as the one before.
const JOINED: u8 = 0x80;
/// Bit of an emoji.
const EMOJI: u8 = 0x40;

/// Returns `true` for an emoji. Characters before U+2300, such as `©`, are older than emoji and are used as symbols.
fn is_emoji(c: char) -> bool {
    c >= '\u{2300}' && c.is_emoji_char()
}

/// Returns `true` if the character at a byte belongs to the grapheme cluster of the one before.
///
/// This is only asked of scripts in which letters form clusters (Hangul, Thai and others), and beside format characters.
fn is_inside_cluster(text: &str, offset: usize, before: char, class: u8) -> bool {
    let is_asked = matches!(class, class::LETTER | class::KATAKANA | class::OTHER)
        || (!before.is_ascii() && class_of(before) == class::OTHER);
    is_asked
        && offset > 0
        && GraphemeCursor::new(offset, text.len(), true).is_boundary(text, 0) == Ok(false)
}

impl Characters {
    /// Reads a text of less than 4 GB.
    pub(crate) fn read(&mut self, text: &str) {
        self.lower.clear();
        self.classes.clear();
        self.offsets.clear();
        let mut before = ' ';
        let mut flags = 0;
        for (offset, c) in text.char_indices() {
            let class = class_of(c);
            let is_flag = matches!(c, '\u{1F1E6}'..='\u{1F1FF}');
            let is_joined = class != class::SPACE
                && !before.is_whitespace()
                && (class == class::MARK
                    || matches!(c, '\u{200C}' | '\u{200D}' | '\u{1F3FB}'..='\u{1F3FF}')
                    || matches!(c, '\u{FE00}'..='\u{FE0F}' | '\u{E0020}'..='\u{E007F}')
                    || before == '\u{200D}'
                    || if is_flag {
                        flags % 2 == 1
                    } else {
                        is_inside_cluster(text, offset, before, class)
                    });
            flags = if is_flag { flags + 1 } else { 0 };
            self.lower.push(lower(c));
            let joined = if is_joined { JOINED } else { 0 };
            let emoji = if is_emoji(c) { EMOJI } else { 0 };
            self.classes.push(class | joined | emoji);
            self.offsets.push(offset as u32);
            before = c;
        }
        self.offsets.push(text.len() as u32);
    }

    /// Returns the same text as if written in upper case. [`lower`](Self::lower) stays as it is.
    pub(crate) fn in_upper_case(&self) -> Self {
        let upper = |&class: &u8| match class & !JOINED {
            class::LOWER => class - class::LOWER + class::UPPER,
            _ => class,
        };
        Self {
            lower: self.lower.clone(),
            classes: self.classes.iter().map(upper).collect(),
            offsets: self.offsets.clone(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.lower.len()
    }

    #[inline]
    pub(crate) fn class(&self, at: usize) -> u8 {
        self.classes[at] & !(JOINED | EMOJI)
    }

    #[inline]
    pub(crate) fn is_emoji(&self, at: usize) -> bool {
        self.classes[at] & EMOJI != 0
    }

    #[inline]
    pub(crate) fn is_space(&self, at: usize) -> bool {
        self.classes[at] == class::SPACE
    }

    /// Returns `true` if a character belongs to the one before: a mark to its base, a joined emoji to its
    /// sequence, the second letter of a flag to the first.
    #[inline]
    pub(crate) fn is_joined(&self, at: usize) -> bool {
        self.classes[at] & JOINED != 0
    }
}

/// Returns a character in lower case. If its lower case is several characters, this is the first of them.
#[inline]
pub(crate) fn lower(c: char) -> char {
    if c.is_ascii() { c.to_ascii_lowercase() } else { c.to_lowercase().next().unwrap_or(c) }
}

/// Returns a lower-case letter without what vowel harmony and voicing change in suffixes.
///
/// All open vowels are one letter, and all close ones. So are `t` and `d`, `k`, `g` and `ğ`, `ç` and `c`, `p` and `b`.
/// Turkish `-dır`, `-dir`, `-dur`, `-tür` have one skeleton. Past `-dı` and locative `-da` have two.
pub(crate) fn skeleton(lower: char) -> char {
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

/// Returns `true` if white space contains a blank line, which ends a paragraph.
pub(crate) fn ends_paragraph(spaces: &str) -> bool {
    spaces.bytes().filter(|&byte| byte == b'\n').count() >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_joiners_and_flags_stay_with_what_is_before_them() {
        let mut characters = Characters::default();
        characters.read("e\u{301}x 👩\u{200D}🚀👍🏽🇫🇷🇵🇹 \u{301}");
        let joined: Vec<usize> =
            (0..characters.len()).filter(|&i| characters.is_joined(i)).collect();
        assert_eq!(joined, [1, 5, 6, 8, 10, 12]);
        assert_eq!(characters.class(14), class::MARK);
    }

    #[test]
    fn grapheme_clusters_are_never_divided() {
        use unicode_segmentation::UnicodeSegmentation;
        let text = "\u{1100}\u{1161}\u{11A8}가\u{11A8} กำ क्षि 👨\u{200D}👩\u{200D}👧❤\u{FE0F}1\u{FE0F}\u{20E3} \u{600}12 ｶﾞ";
        let mut characters = Characters::default();
        characters.read(text);
        let starts: Vec<usize> = text.grapheme_indices(true).map(|(start, _)| start).collect();
        for at in 0..characters.len() {
            let offset = characters.offsets[at] as usize;
            let is_inside = !starts.contains(&offset);
            assert!(!is_inside || characters.is_joined(at), "byte {offset}");
        }
    }

    #[test]
    fn emoji_are_not_digits_or_signs() {
        let mut characters = Characters::default();
        characters.read("😀❤🇫1#©€");
        let emoji: Vec<bool> = (0..characters.len()).map(|at| characters.is_emoji(at)).collect();
        assert_eq!(emoji, [true, true, true, false, false, false, false]);
        assert_eq!(characters.class(0), class::SYMBOL);
    }

    #[test]
    fn upper_case_changes_classes_alone() {
        let mut text = Characters::default();
        text.read("Mr. é\u{301}1");
        let upper = text.in_upper_case();
        assert_eq!(upper.lower, text.lower);
        let classes: Vec<u8> = (0..upper.len()).map(|at| upper.class(at)).collect();
        let mut capitals = Characters::default();
        capitals.read("MR. É\u{301}1");
        assert_eq!(classes, (0..7).map(|at| capitals.class(at)).collect::<Vec<_>>());
        assert!(upper.is_joined(5));
    }

    #[test]
    fn blank_lines_end_paragraphs() {
        assert!(ends_paragraph(" \r\n\t\r\n"));
        assert!(!ends_paragraph(" \r\n  "));
    }
}
