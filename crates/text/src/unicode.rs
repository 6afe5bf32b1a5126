//! Tokens and sentences where nothing was learnt: by Unicode's rules (UAX #29) for any script.
//!
//! White space is no token. What looks like the address of a page or a mail is one token, without the
//! punctuation after it, where Unicode would make many. Sentences end where Unicode ends one and a token
//! ends too. Chinese and Japanese, which Unicode alone cannot divide into words, come apart into single
//! characters, but for runs of Katakana.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::characters::{class, class_of};
use super::tokenizer::{Found, FoundToken};

/// Takes a text apart. A single line end is like a space: lines may be wrapped anywhere.
pub(super) fn find(text: &str, found: &mut Found) {
    let flat: String =
        text.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }).collect();
    let Found { tokens, ends, probabilities, .. } = found;
    tokens.clear();
    let mut at = 0;
    for chunk in flat.split_inclusive(char::is_whitespace) {
        each_token(chunk.trim_end_matches(char::is_whitespace), |start, token| {
            let start = at + start;
            tokens.push(FoundToken { start, end: start + token.len(), rule: None });
        });
        at += chunk.len();
    }
    ends.clear();
    probabilities.clear();
    probabilities.resize(tokens.len(), 0.0);
    let mut token = 0;
    for (start, sentence) in flat.split_sentence_bound_indices() {
        let end = start + sentence.len();
        while token < tokens.len() && tokens[token].end <= end {
            token += 1;
        }
        let inside = tokens.get(token).is_some_and(|next| next.start < end);
        if !inside && token > ends.last().copied().unwrap_or(0) {
            ends.push(token);
            probabilities[token - 1] = 1.0;
        }
    }
}

/// The tokens of characters without white space, each with the byte it starts at.
pub(super) fn each_token(chunk: &str, mut found: impl FnMut(usize, &str)) {
    let nowhere = chunk.len()..chunk.len();
    let Range { start, end } = address(chunk).map_or(nowhere, |(address, _)| address);
    chunk[..start].split_word_bound_indices().for_each(|(start, word)| found(start, word));
    if start < end {
        found(start, &chunk[start..end]);
    }
    chunk[end..].split_word_bound_indices().for_each(|(start, word)| found(end + start, word));
}

/// What an address is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Address {
    Page,
    Mail,
}

/// Where the first address of a page or a mail is in a text without white space.
pub(super) fn address(chunk: &str) -> Option<(Range<usize>, Address)> {
    let page = page(chunk).map(|range| (range, Address::Page));
    let (Range { start, mut end }, kind) =
        page.or_else(|| mail(chunk).map(|range| (range, Address::Mail)))?;
    let count = |bracket: char| chunk[start..end].matches(bracket).count();
    let (open, mut closed) = (count('('), count(')'));
    while let Some(last) = chunk[start..end].chars().next_back() {
        let punctuation = matches!(
            class_of(last),
            class::STOP | class::COMMA | class::APOSTROPHE | class::QUOTE | class::CLOSE
        );
        if !punctuation || (last == ')' && closed <= open) {
            break;
        }
        closed -= usize::from(last == ')');
        end -= last.len_utf8();
    }
    (start < end).then_some((start..end, kind))
}

/// `scheme://…` or `www.…`, as far as it can be one.
fn page(chunk: &str) -> Option<Range<usize>> {
    let start = match chunk.find("://") {
        Some(colon) => run_before(chunk, colon, |c| c.is_ascii_alphabetic())?,
        None => chunk.find("www.").filter(|&at| !chunk[..at].ends_with(char::is_alphanumeric))?,
    };
    let goes_on = |c: char| match class_of(c) {
        class::HAN | class::HIRAGANA | class::KATAKANA => false,
        _ => is_part(c) || (c.is_ascii_graphic() && !matches!(c, '<' | '>' | '"')),
    };
    let length = chunk[start..].find(|c| !goes_on(c)).unwrap_or(chunk.len() - start);
    Some(start..start + length)
}

/// `name@host.top`.
fn mail(chunk: &str) -> Option<Range<usize>> {
    let at = chunk.find('@')?;
    let start = run_before(chunk, at, |c| is_part(c) || matches!(c, '.' | '_' | '%' | '+' | '-'))?;
    let host = &chunk[at + 1..];
    let length = host.find(|c| !is_part(c) && !matches!(c, '.' | '-')).unwrap_or(host.len());
    let dot = host[..length].find('.')?;
    (dot > 0 && dot + 1 < length).then_some(start..at + 1 + length)
}

/// Where the characters start that end at a byte, at least one.
fn run_before(chunk: &str, end: usize, is_in: impl Fn(char) -> bool) -> Option<usize> {
    let run =
        chunk[..end].chars().rev().take_while(|&c| is_in(c)).map(char::len_utf8).sum::<usize>();
    (run > 0).then_some(end - run)
}

/// Letters and digits, and what cannot be separated from them.
fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(class_of(c), class::MARK | class::OTHER)
}
