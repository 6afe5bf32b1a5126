//! Tokens and sentences by Unicode's rules (UAX #29), which need no training and work for any script.
//!
//! White space is not a token. The address of a web page or a mailbox is one token, without the punctuation after
//! it; Unicode alone would make many. A sentence ends where Unicode ends one and a token ends too. Unicode alone
//! cannot divide Chinese and Japanese into words: each character becomes a token, except for runs of Katakana.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::characters::{class, class_of};
use crate::segmentation::{Segmentation, SegmentedToken};

/// Divides a text into tokens and sentences. A single line end counts as a space, since lines may be wrapped
/// anywhere.
pub(crate) fn segment(text: &str, segmentation: &mut Segmentation) {
    let flat: String =
        text.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }).collect();
    let Segmentation { tokens, sentence_ends, break_probs } = segmentation;
    tokens.clear();
    let mut at = 0;
    for chunk in flat.split_inclusive(char::is_whitespace) {
        each_token(chunk.trim_end_matches(char::is_whitespace), |start, token| {
            let start = at + start;
            tokens.push(SegmentedToken { start, end: start + token.len(), rule: None });
        });
        at += chunk.len();
    }
    sentence_ends.clear();
    break_probs.clear();
    break_probs.resize(tokens.len(), 0.0);
    let mut token = 0;
    for (start, sentence) in flat.split_sentence_bound_indices() {
        let end = start + sentence.len();
        while token < tokens.len() && tokens[token].end <= end {
            token += 1;
        }
        let is_inside_token = tokens.get(token).is_some_and(|next| next.start < end);
        if !is_inside_token && token > sentence_ends.last().copied().unwrap_or(0) {
            sentence_ends.push(token);
            break_probs[token - 1] = 1.0;
        }
    }
}

/// Calls `found` with each token of a chunk without white space, and the byte at which it starts.
pub(crate) fn each_token(chunk: &str, mut found: impl FnMut(usize, &str)) {
    let nowhere = chunk.len()..chunk.len();
    let Range { start, end } = address(chunk).map_or(nowhere, |(address, _)| address);
    chunk[..start].split_word_bound_indices().for_each(|(start, word)| found(start, word));
    if start < end {
        found(start, &chunk[start..end]);
    }
    chunk[end..].split_word_bound_indices().for_each(|(start, word)| found(end + start, word));
}

/// A kind of address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    WebPage,
    Mailbox,
}

/// Finds the first address in a chunk without white space: its bytes and its kind.
pub(crate) fn address(chunk: &str) -> Option<(Range<usize>, Address)> {
    let page = web_page(chunk).map(|range| (range, Address::WebPage));
    let (Range { start, mut end }, address) =
        page.or_else(|| mailbox(chunk).map(|range| (range, Address::Mailbox)))?;
    let count = |bracket: char| chunk[start..end].matches(bracket).count();
    let open = count('(');
    let mut closed = count(')');
    while let Some(last) = chunk[start..end].chars().next_back() {
        let is_punctuation = matches!(
            class_of(last),
            class::STOP | class::COMMA | class::APOSTROPHE | class::QUOTE | class::CLOSE
        );
        if !is_punctuation || (last == ')' && closed <= open) {
            break;
        }
        closed -= usize::from(last == ')');
        end -= last.len_utf8();
    }
    (start < end).then_some((start..end, address))
}

/// Finds `scheme://…` or `www.…`, up to the first character that cannot be part of it.
fn web_page(chunk: &str) -> Option<Range<usize>> {
    let start = match chunk.find("://") {
        Some(colon) => run_before(chunk, colon, |c| c.is_ascii_alphabetic())?,
        None => chunk.find("www.").filter(|&at| !chunk[..at].ends_with(char::is_alphanumeric))?,
    };
    let continues = |c: char| match class_of(c) {
        class::HAN | class::HIRAGANA | class::KATAKANA => false,
        _ => is_part(c) || (c.is_ascii_graphic() && !matches!(c, '<' | '>' | '"')),
    };
    let length = chunk[start..].find(|c| !continues(c)).unwrap_or(chunk.len() - start);
    Some(start..start + length)
}

/// Finds `name@host.top`.
fn mailbox(chunk: &str) -> Option<Range<usize>> {
    let at = chunk.find('@')?;
    let start = run_before(chunk, at, |c| is_part(c) || matches!(c, '.' | '_' | '%' | '+' | '-'))?;
    let host = &chunk[at + 1..];
    let length = host.find(|c| !is_part(c) && !matches!(c, '.' | '-')).unwrap_or(host.len());
    let dot = host[..length].find('.')?;
    (dot > 0 && dot + 1 < length).then_some(start..at + 1 + length)
}

/// Returns the start of the run of such characters that ends at a byte, or `None` if the run is empty.
fn run_before(chunk: &str, end: usize, is_in: impl Fn(char) -> bool) -> Option<usize> {
    let run =
        chunk[..end].chars().rev().take_while(|&c| is_in(c)).map(char::len_utf8).sum::<usize>();
    (run > 0).then_some(end - run)
}

/// Returns `true` for letters and digits, and for marks that cannot be separated from them.
fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(class_of(c), class::MARK | class::OTHER)
}
