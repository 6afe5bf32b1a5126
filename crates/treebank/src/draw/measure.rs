//! Widths of strings: in cells of a terminal, and in pixels of an unknown font.
//!
//! Terminals give a character 0, 1 or 2 cells (Unicode Standard Annex 11), so this width is exact.
//! An image is rendered with the reader's sans-serif font. Its widths are estimated from classes of
//! characters. The estimates are rather too large than too small: extra space is harmless, but
//! words that overlap are unreadable.

use std::borrow::Cow;

use unicode_bidi::BidiClass;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Number of columns of a terminal that a text takes. An accent takes none, 茶 takes two.
///
/// ```
/// assert_eq!(tutte_treebank::draw::columns("thé 茶"), 6);
/// ```
pub fn columns(text: &str) -> usize {
    // `unicode_width` counts lam and alef as one, since fonts may join them. Terminals give each
    // one a cell.
    let is_alef = |c: char| {
        matches!(c, '\u{622}' | '\u{623}' | '\u{625}' | '\u{627}')
            || matches!(c, '\u{671}'..='\u{673}' | '\u{675}' | '\u{773}' | '\u{774}')
    };
    let mut columns = 0;
    let mut rest = text;
    while let Some(alef) = rest.rfind(is_alef) {
        columns += rest[alef..].width();
        rest = &rest[..alef];
    }
    columns + rest.width()
}

/// Number of cells of a terminal that a text takes.
pub(crate) fn cells(text: &str) -> i32 {
    i32::try_from(columns(text)).unwrap_or(i32::MAX / 4)
}

/// Number of pixels that a text takes in a sans-serif font of `size` pixels.
pub(crate) fn pixels(text: &str, size: i32) -> i32 {
    let thousandths: u64 = text.chars().map(thousandths_of_size).sum();
    i32::try_from((thousandths * u64::from(size.unsigned_abs())).div_ceil(1000))
        .unwrap_or(i32::MAX / 4)
}

/// Widths as in fonts for screens, which are wider than Helvetica.
fn thousandths_of_size(character: char) -> u64 {
    match character {
        'i' | 'j' | 'l' | '\'' | '|' | '.' | ',' | ':' | ';' | '!' | '’' | '‘' => 300,
        'f' | 't' | 'r' | 'I' | '(' | ')' | '[' | ']' | '/' | '\\' | ' ' | '-' | '"' => 400,
        'm' | 'M' | 'w' | 'W' | '@' | '%' | '—' | '…' | 'Œ' | 'œ' | 'Æ' | 'æ' => 930,
        'A'..='Z' => 700,
        ' '..='~' => 590,
        _ => match character.width() {
            None | Some(0) => 0,
            Some(1) if character.is_uppercase() => 720,
            Some(1) => 620,
            Some(_) => 1030,
        },
    }
}

/// Shortens a text to a width, with `…` at the end if it was longer.
pub(crate) fn shorten(text: &str, width: i32) -> String {
    if cells(text) <= width {
        return text.to_owned();
    }
    if width <= 0 {
        return String::new();
    }
    let mut room = width - 1;
    let mut short: String = text
        .chars()
        .take_while(|character| {
            room -= i32::try_from(character.width().unwrap_or(0)).unwrap_or(0);
            room >= 0
        })
        .collect();
    // A variation selector can make the character before it wider.
    while cells(&short) >= width && short.pop().is_some() {}
    short.push('…');
    short
}

/// True if the first letter with a direction is read from right to left; `None` if there is no such
/// letter (rule P2 of Unicode Standard Annex 9).
pub(crate) fn right_to_left(text: &str) -> Option<bool> {
    text.chars().find_map(|character| match unicode_bidi::bidi_class(character) {
        BidiClass::L => Some(false),
        BidiClass::R | BidiClass::AL => Some(true),
        _ => None,
    })
}

/// Replaces characters that cannot be shown by U+FFFD: control characters, which terminals execute
/// and XML forbids, and characters that change the direction of the following text.
///
/// ```
/// assert_eq!(tutte_treebank::draw::printable("tea\u{1b}[2J"), "tea\u{fffd}[2J");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    let unwanted = |c: char| {
        c.is_control()
            || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            || matches!(c, '\u{fffe}' | '\u{ffff}')
    };
    if text.contains(unwanted) { text.replace(unwanted, "\u{fffd}").into() } else { text.into() }
}
