//! Shared helpers, and the alignment of cases worked out by hand.

use crate::{Reader, Sentence};

use super::*;

/// Parses sentences.
pub(super) fn read(text: &str) -> Vec<Sentence> {
    Reader::new(text.as_bytes()).collect::<Result<_, _>>().unwrap()
}

/// Writes a sentence of tokens. `"wanna wan na"` is a multiword token with its words. All words
/// depend on the first one.
fn from_tokens(tokens: &[&str]) -> String {
    let mut lines = String::new();
    let mut words = 0;
    for token in tokens {
        let (form, parts) = token.split_once(' ').unwrap_or((token, ""));
        if !parts.is_empty() {
            let last = words + parts.split(' ').count();
            lines += &format!("{}-{last}\t{form}\t_\t_\t_\t_\t_\t_\t_\t_\n", words + 1);
        }
        for word in if parts.is_empty() { form } else { parts }.split(' ') {
            lines += &format!("{}\t{word}\t_\t_\t_\t_\t{}\tdep\t_\t_\n", words + 1, words.min(1));
            words += 1;
        }
    }
    lines + "\n"
}

/// Returns the forms of the aligned words, `gold/system`.
fn aligned(gold: &[&str], system: &[&str]) -> String {
    let gold = read(&from_tokens(gold));
    let system = read(&from_tokens(system));
    let alignment = Alignment::new(&gold, &system).unwrap();
    let pair = |pair: &Pair| {
        let gold = alignment.gold_token(pair.gold).unwrap().form();
        let system = alignment.system_token(pair.system).unwrap().form();
        if gold == system { gold.to_owned() } else { format!("{gold}/{system}") }
    };
    alignment.pairs().iter().map(pair).collect::<Vec<_>>().join(" ")
}

#[test]
fn tokens_are_aligned_by_their_spans() {
    assert_eq!(aligned(&["a", "b", "c"], &["a", "b", "c"]), "a b c");
    assert_eq!(aligned(&["tea", "pot"], &["teapot"]), "");
    assert_eq!(aligned(&["a", "tea", "pot", "x"], &["a", "teapot", "x"]), "a x");
    assert_eq!(aligned(&["xy", "z"], &["x", "yz"]), "");
    assert_eq!(aligned(&["xy", "z", "a"], &["x", "yz", "a"]), "a");
}

#[test]
fn words_of_multiword_tokens_are_aligned_by_their_forms() {
    assert_eq!(aligned(&["du de le", "pain"], &["du de le", "pain"]), "de le pain");
    assert_eq!(aligned(&["du de le", "pain"], &["du", "pain"]), "pain");
    assert_eq!(aligned(&["au a u", "x"], &["a", "u", "x"]), "a u x");
    assert_eq!(aligned(&["Au A u", "x"], &["Au a u", "x"]), "A/a u x");
    // The stretch grows until it cuts no multiword token; here it covers everything.
    assert_eq!(aligned(&["abc a b c", "de d e"], &["a", "bcd b c d", "e"]), "a b c d e");
    // Aligned words inside it need not be contiguous. Their forms need not occur in the text.
    assert_eq!(aligned(&["abc p q r s"], &["abc q x s"]), "q s");
    // There are two longest subsequences. The one that skips gold words first is taken.
    assert_eq!(aligned(&["xy p q"], &["xy q p"]), "q");
    // A plain word across the border is not part of the stretch.
    assert_eq!(aligned(&["a", "bc b c", "d"], &["a", "b", "cd"]), "a b");
    assert_eq!(aligned(&["ab", "cd c d"], &["a", "bc b c", "d"]), "c d");
}

#[test]
fn spaces_do_not_count() {
    let gold = read("1\t10\u{a0}000\t_\tNUM\t_\t_\t0\troot\t_\t_\n\n");
    let system = read("1\t10 000\t_\tNUM\t_\t_\t0\troot\t_\t_\n\n");
    assert_eq!(Alignment::new(&gold, &system).unwrap().words().common, 1);
    let narrow = read("1\t10\u{202f}0\u{3000}00\t_\tNUM\t_\t_\t0\troot\t_\t_\n\n");
    assert_eq!(Alignment::new(&gold, &narrow).unwrap().words().common, 1);
    // A zero-width space is not a space in Unicode.
    let zero_width = read("1\t10\u{200b}000\t_\tNUM\t_\t_\t0\troot\t_\t_\n\n");
    assert!(Alignment::new(&gold, &zero_width).is_err());
}
