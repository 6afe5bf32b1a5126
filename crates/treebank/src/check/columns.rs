//! Checks of columns, and of `# text` against the words.

use super::kind::Kind;
use super::tally::{Example, Found};
use crate::{Column, Error, Format, Id, Problem, Sentence, Token};

pub(super) fn check(sentence: &Sentence, found: &mut Found) {
    for token in sentence.tokens() {
        spaces(sentence, token, found);
        if sentence.format() == Format::ConllU {
            match token.id() {
                Id::Word(_) => {}
                _ => non_word(sentence, token, found),
            }
            if token.feats() != "_" {
                features(sentence, token, found);
            }
            if token.deps() != "_" {
                deps(sentence, token, found);
            }
            if token.misc() != "_" {
                misc(sentence, token, found);
            }
        }
    }
    if sentence.format() == Format::ConllU {
        match sentence.text() {
            Some(text) => compare_text(sentence, text, found),
            None => found.sentence(Kind::NoText, sentence, || first_words(sentence)),
        }
        if sentence.sent_id().is_none() {
            found.sentence(Kind::NoSentId, sentence, || first_words(sentence));
        }
    }
}

/// Returns the first words of a sentence, to recognise it by.
pub(super) fn first_words(sentence: &Sentence) -> String {
    let mut start = String::new();
    for (at, word) in sentence.words().enumerate() {
        if at == 8 || start.chars().count() + word.form().chars().count() > 60 {
            start.push_str(" …");
            break;
        }
        if at > 0 {
            start.push(' ');
        }
        start.push_str(word.form());
    }
    start
}

fn spaces(sentence: &Sentence, token: Token<'_>, found: &mut Found) {
    for column in Column::ALL {
        let value = token.column(column);
        let name = column.name(sentence.format());
        if value.is_empty() {
            found.token(Kind::EmptyColumn, sentence, token, column, || format!("{name} is empty"));
            continue;
        }
        let free = matches!(column, Column::Form | Column::Lemma | Column::Misc);
        let inside = !free && sentence.format() == Format::ConllU && value.contains(' ');
        if inside || value.starts_with(' ') || value.ends_with(' ') {
            found.token(Kind::Space, sentence, token, column, || format!("{name} is {value:?}"));
        }
    }
    let form = token.form();
    let unknown = form == "_" && token.lemma() != "_" && matches!(token.id(), Id::Word(_));
    if unknown && sentence.format() == Format::ConllU {
        found.token(Kind::BlankForm, sentence, token, Column::Form, || {
            format!("{} _, though LEMMA is {}", token.id(), token.lemma())
        });
    } else if !form.is_empty() && form.chars().all(is_blank) {
        let form = || format!("{} {}", token.id(), form.escape_unicode());
        found.token(Kind::BlankForm, sentence, token, Column::Form, form);
    }
}

fn is_blank(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

fn non_word(sentence: &Sentence, token: Token<'_>, found: &mut Found) {
    let forbidden: &[Column] = match token.id() {
        Id::Empty(..) => &[Column::Head, Column::Deprel],
        _ => {
            &[Column::Lemma, Column::Upos, Column::Xpos, Column::Head, Column::Deprel, Column::Deps]
        }
    };
    let filled = |column: &&Column| !matches!(token.column(**column), "_" | "");
    if let Some(&column) = forbidden.iter().find(filled) {
        found.token(Kind::NonWordColumns, sentence, token, column, || {
            let name = column.name(sentence.format());
            format!("{} {}: {name} is {}", token.id(), token.form(), token.column(column))
        });
    }
    // A misspelt token may have the feature Typo.
    if matches!(token.id(), Id::Multiword(..)) && !matches!(token.feats(), "_" | "" | "Typo=Yes") {
        found.token(Kind::NonWordColumns, sentence, token, Column::Feats, || {
            format!("{} {}: FEATS is {}", token.id(), token.form(), token.feats())
        });
    }
}

fn features(sentence: &Sentence, token: Token<'_>, found: &mut Found) {
    let feats = token.feats();
    if feats.is_empty() {
        return;
    }
    let mut previous = "";
    let mut malformed = None;
    let mut is_unsorted = false;
    let mut names = Vec::new();
    for entry in feats.split('|') {
        match entry.split_once('=') {
            Some((name, value)) if !name.is_empty() && !value.is_empty() => {
                is_unsorted |= lower(name).lt(lower(previous));
                previous = name;
                names.push(name);
            }
            _ => malformed = malformed.or(Some(entry)),
        }
    }
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
    if let Some(entry) = malformed {
        found.token(Kind::BadFeatures, sentence, token, Column::Feats, || {
            format!("{entry:?} in {feats}")
        });
    } else if let Some(name) = twice {
        found.token(Kind::BadFeatures, sentence, token, Column::Feats, || {
            format!("{name} twice in {feats}")
        });
    } else if is_unsorted {
        found.token(Kind::FeatureOrder, sentence, token, Column::Feats, || feats.to_owned());
    }
}

fn lower(name: &str) -> impl Iterator<Item = u8> + '_ {
    name.bytes().map(|byte| byte.to_ascii_lowercase())
}

fn deps(sentence: &Sentence, token: Token<'_>, found: &mut Found) {
    let deps = token.deps();
    if deps.is_empty() {
        return;
    }
    let mut previous = (0, 0);
    let mut malformed = None;
    let mut impossible = None;
    let mut is_unsorted = false;
    for dependency in token.enhanced() {
        let head = match dependency {
            Ok((head, _)) => head,
            Err(Error::Malformed { problem: Problem::NoSuchNode { found }, .. }) => {
                impossible = impossible.or(Some((found, false)));
                found
            }
            Err(Error::Malformed { problem: Problem::BadDependency { found }, .. }) => {
                malformed = malformed.or(Some(found));
                continue;
            }
            Err(_) => continue,
        };
        if head == token.id() {
            impossible = impossible.or(Some((head, true)));
        }
        let order = match head {
            Id::Empty(after, number) => (after, number),
            head => (head.first(), 0),
        };
        is_unsorted |= order < previous;
        previous = order;
    }
    let column = Column::Deps;
    let well_formed = malformed.is_none();
    if let Some(entry) = malformed {
        found.token(Kind::BadDeps, sentence, token, column, || format!("{entry:?} in {deps}"));
    }
    if let Some((head, is_own_head)) = impossible {
        found.token(Kind::DepsHead, sentence, token, column, || {
            if is_own_head {
                format!("{head} is its own head in {deps}")
            } else {
                format!("{deps}, but this sentence has no {head}")
            }
        });
    }
    if is_unsorted && well_formed {
        found.token(Kind::DepsOrder, sentence, token, column, || deps.to_owned());
    }
}

fn misc(sentence: &Sentence, token: Token<'_>, found: &mut Found) {
    let misc = token.misc();
    let mut keys: Vec<&str> =
        misc.split('|').filter_map(|entry| Some(entry.split_once('=')?.0)).collect();
    keys.sort_unstable();
    if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
        found.token(Kind::RepeatedMisc, sentence, token, Column::Misc, || {
            format!("{} in {misc}", pair[0])
        });
    }
    if let Some(value) = token.misc_entry("HeadProb") {
        let is_probability = value.parse().is_ok_and(|p: f64| (0.0..=1.0).contains(&p));
        if !is_probability {
            found.token(Kind::HeadProb, sentence, token, Column::Misc, || {
                format!("HeadProb={value}")
            });
        }
    }
}

/// Compares `# text` with the forms of the surface tokens. They are joined by spaces, except after
/// `SpaceAfter=No`. White space of any kind and length counts as one space.
fn compare_text(sentence: &Sentence, text: &str, found: &mut Found) {
    let mut joined = String::with_capacity(text.len() + 1);
    let mut inside = 0;
    for token in sentence.tokens() {
        match token.id() {
            Id::Empty(..) => continue,
            Id::Word(word) if word <= inside => continue,
            Id::Multiword(_, last) => inside = last,
            Id::Word(_) => {}
        }
        joined.push_str(token.form());
        if token.misc_entry("SpaceAfter") != Some("No") {
            joined.push(' ');
        }
    }
    if text == joined.trim_end() || with_single_spaces(text).eq(with_single_spaces(&joined)) {
        return;
    }
    found.add(Kind::TextMismatch, || {
        let text: Vec<char> = with_single_spaces(text).collect();
        let joined: Vec<char> = with_single_spaces(&joined).collect();
        let same = text.iter().zip(&joined).take_while(|(a, b)| a == b).count();
        let around = |all: &[char]| -> String {
            let from = same.saturating_sub(12);
            let to = all.len().min(same + 12);
            let cut = |at_edge: bool| if at_edge { "" } else { "…" };
            let shown: String = all[from..to].iter().collect();
            format!("{}{shown}{}", cut(from == 0), cut(to == all.len()))
        };
        let found = format!("text has “{}”, the words give “{}”", around(&text), around(&joined));
        Example::of_sentence(sentence, found)
    });
}

/// Returns the text with single spaces as white space, and none at the edges.
fn with_single_spaces(text: &str) -> impl Iterator<Item = char> + '_ {
    text.split_whitespace()
        .enumerate()
        .flat_map(|(at, piece)| (at > 0).then_some(' ').into_iter().chain(piece.chars()))
}
