//! A paragraph as characters: lower-cased, with their classes, and where a token cannot end.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// What kind of character something is; part of the format of models.
pub(super) mod class {
    pub(in super::super) const SPACE: u8 = 0;
    pub(in super::super) const LOWER: u8 = 1;
    pub(in super::super) const UPPER: u8 = 2;
    pub(in super::super) const LETTER: u8 = 3;
    pub(in super::super) const HAN: u8 = 4;
    pub(in super::super) const HIRAGANA: u8 = 5;
    pub(in super::super) const KATAKANA: u8 = 6;
    pub(in super::super) const DIGIT: u8 = 7;
    pub(in super::super) const MARK: u8 = 8;
    pub(in super::super) const STOP: u8 = 9;
    pub(in super::super) const COMMA: u8 = 10;
    pub(in super::super) const APOSTROPHE: u8 = 11;
    pub(in super::super) const QUOTE: u8 = 12;
    pub(in super::super) const OPEN: u8 = 13;
    pub(in super::super) const CLOSE: u8 = 14;
    pub(in super::super) const DASH: u8 = 15;
    pub(in super::super) const PUNCTUATION: u8 = 16;
    pub(in super::super) const SYMBOL: u8 = 17;
    pub(in super::super) const OTHER: u8 = 18;
}

/// Whether a class is one of letters that stand side by side in words.
#[inline]
pub(super) fn is_letter(class: u8) -> bool {
    matches!(class, class::LOWER | class::UPPER | class::LETTER)
}

/// The class of a character.
pub(super) fn class_of(c: char) -> u8 {
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
        c => of_category(c.general_category()),
    }
}

fn of_category(category: GeneralCategory) -> u8 {
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

/// The characters of a paragraph, side by side.
#[derive(Debug, Default)]
pub(super) struct Characters {
    /// Lower-cased; of several characters the first.
    pub(super) lower: Vec<char>,
    /// Their classes, and [`JOINED`].
    classes: Vec<u8>,
    /// The byte at which each starts, and the length of the text.
    pub(super) offsets: Vec<u32>,
}

/// Set where a character belongs to the one before, whatever a model thinks.
const JOINED: u8 = 0x80;

impl Characters {
    /// Takes a text apart; it is shorter than 4 GB.
    pub(super) fn read(&mut self, text: &str) {
        self.lower.clear();
        self.classes.clear();
        self.offsets.clear();
        let mut before = ' ';
        let mut flags = 0;
        for (offset, c) in text.char_indices() {
            let class = class_of(c);
            let is_flag = matches!(c, '\u{1F1E6}'..='\u{1F1FF}');
            let joined = class != class::SPACE
                && !before.is_whitespace()
                && (class == class::MARK
                    || matches!(c, '\u{200C}' | '\u{200D}' | '\u{1F3FB}'..='\u{1F3FF}')
                    || matches!(c, '\u{FE00}'..='\u{FE0F}' | '\u{E0020}'..='\u{E007F}')
                    || before == '\u{200D}'
                    || (is_flag && flags % 2 == 1));
            flags = if is_flag { flags + 1 } else { 0 };
            self.lower.push(lower(c));
            self.classes.push(class | if joined { JOINED } else { 0 });
            self.offsets.push(offset as u32);
            before = c;
        }
        self.offsets.push(text.len() as u32);
    }

    pub(super) fn len(&self) -> usize {
        self.lower.len()
    }

    #[inline]
    pub(super) fn class(&self, at: usize) -> u8 {
        self.classes[at] & !JOINED
    }

    #[inline]
    pub(super) fn is_space(&self, at: usize) -> bool {
        self.classes[at] == class::SPACE
    }

    /// Whether a character belongs to the one before: a mark to its base, a joined emoji to its
    /// sequence, the second letter of a flag to the first.
    #[inline]
    pub(super) fn is_joined(&self, at: usize) -> bool {
        self.classes[at] & JOINED != 0
    }
}

/// A character in lower case; of several, the first.
#[inline]
pub(super) fn lower(c: char) -> char {
    match c.is_ascii() {
        true => c.to_ascii_lowercase(),
        false => c.to_lowercase().next().unwrap_or(c),
    }
}

/// Whether white space holds a blank line, which ends a paragraph.
pub(super) fn ends_paragraph(spaces: &str) -> bool {
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
    fn blank_lines_end_paragraphs() {
        assert!(ends_paragraph(" \r\n\t\r\n"));
        assert!(!ends_paragraph(" \r\n  "));
    }
}
