//! Raw text of annotated sentences, and the place of each token in it.
//!
//! The white space between two tokens comes from the first of these sources that has any:
//!
//! 1. `SpacesAfter` of the first token and `SpacesBefore` of the second, with the escapes of UDPipe
//!    (`\s \t \n \r \p \\`);
//! 2. the comment `# text`, if it holds all tokens in order and nothing else but white space;
//! 3. nothing if the first token has `SpaceAfter=No`, otherwise a space.
//!
//! For a multiword token its own line counts, not the lines of its words. Sentences are joined like tokens, but a
//! paragraph or document (`# newpar`, `# newdoc`) starts after a blank line. The text ends with a newline unless the
//! last token says something else. Cost: linear.

use std::borrow::Cow;
use std::ops::Range;

use tutte_treebank::{Id, Sentence, Token};

use crate::characters::ends_paragraph;

/// Returns the raw text of sentences: the input from which a tokenizer should make them.
///
/// ```
/// use tutte_text::raw_text;
/// use tutte_treebank::Sentence;
///
/// let tea: Sentence = "\
/// 1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
/// 1\tdo\t_\t_\t_\t_\t_\t_\t_\t_
/// 2\tn't\t_\t_\t_\t_\t_\t_\t_\t_
/// 3\tspill\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
/// 4\t!\t_\t_\t_\t_\t_\t_\t_\tSpacesAfter=\\s\\s
/// "
/// .parse()?;
/// assert_eq!(raw_text(&[tea.clone(), tea]), "don't spill!  don't spill!  ");
/// # Ok::<(), tutte_treebank::Error>(())
/// ```
pub fn raw_text(sentences: &[Sentence]) -> String {
    RawText::new(sentences).text
}

/// Raw text and its tokens.
#[derive(Debug, Default)]
pub(crate) struct RawText<'a> {
    pub(crate) text: String,
    pub(crate) tokens: Vec<RawToken<'a>>,
}

/// A word, or a multiword token and its words.
#[derive(Debug)]
pub(crate) struct RawToken<'a> {
    /// Its bytes in the text.
    pub(crate) span: Range<usize>,
    /// `true` for the last token of a sentence.
    pub(crate) ends_sentence: bool,
    /// Its line.
    pub(crate) token: Token<'a>,
    /// Lines of its words, if it is a multiword token.
    pub(crate) words: Vec<Token<'a>>,
}

impl<'a> RawText<'a> {
    pub(crate) fn new(sentences: &'a [Sentence]) -> Self {
        let mut raw = Self::default();
        for (sentence, next) in
            sentences.iter().zip(sentences.iter().skip(1).map(Some).chain([None]))
        {
            raw.push(sentence, next);
        }
        raw
    }

    fn push(&mut self, sentence: &'a Sentence, next: Option<&Sentence>) {
        let text = sentence.text().unwrap_or_default();
        let mut places = locate(sentence, text).unwrap_or_default().into_iter();
        // The words up to here belong to the last multiword token.
        let mut covered = 0;
        let mut last = None;
        let mut last_end = 0;
        for token in sentence.tokens() {
            match token.id() {
                Id::Multiword(_, end) => covered = end,
                Id::Word(word) if word > covered => {}
                Id::Word(_) => {
                    if let Some(multiword) = self.tokens.last_mut() {
                        multiword.words.push(token);
                    }
                    continue;
                }
                Id::Empty(..) => continue,
            }
            let place = places.next();
            let spaces = token.misc_entry("SpacesBefore");
            if let Some(before) = last.replace(token) {
                let has_spaces = before.misc_entry("SpacesAfter").is_some() || spaces.is_some();
                self.text.push_str(&match &place {
                    Some(place) if !has_spaces => Cow::Borrowed(&text[last_end..place.start]),
                    _ => spaces_after(before).unwrap_or(Cow::Borrowed(" ")),
                });
            }
            if let Some(spaces) = spaces {
                self.text.push_str(&unescape(spaces));
            }
            let start = self.text.len();
            match (token.misc_entry("SpacesInToken"), &place) {
                (Some(form), _) => self.text.push_str(&unescape(form)),
                (None, Some(place)) => self.text.push_str(&text[place.clone()]),
                (None, None) => self.text.push_str(token.form()),
            }
            last_end = place.map_or(0, |place| place.end);
            let span = start..self.text.len();
            self.tokens.push(RawToken { span, ends_sentence: false, token, words: Vec::new() });
        }
        let Some(last) = last else { return };
        if let Some(token) = self.tokens.last_mut() {
            token.ends_sentence = true;
        }
        let spaces = spaces_after(last);
        let starts_paragraph =
            next.is_some_and(|next| next.newpar().is_some() || next.newdoc().is_some());
        let before_next = next.and_then(|next| next.tokens().next()?.misc_entry("SpacesBefore"));
        let before_next = before_next.map(unescape).unwrap_or_default();
        self.text.push_str(&match (spaces, next) {
            (Some(spaces), _)
                if !starts_paragraph || ends_paragraph(&format!("{spaces}{before_next}")) =>
            {
                spaces
            }
            (_, None) => Cow::Borrowed("\n"),
            (_, Some(_)) if starts_paragraph => Cow::Borrowed("\n\n"),
            (_, Some(_)) => Cow::Borrowed(" "),
        });
    }
}

/// Returns the place of each token of a sentence in a text, in characters from 0. A token is a word, or a multiword
/// token instead of its words. Returns `None` if the text holds anything else but the tokens and white space.
///
/// ```
/// use tutte_text::token_ranges;
/// use tutte_treebank::Sentence;
///
/// let tea: Sentence = "1\tÉté\t_\t_\t_\t_\t_\t_\t_\t_\n2\t!\t_\t_\t_\t_\t_\t_\t_\t_\n".parse()?;
/// assert_eq!(token_ranges(&tea, "Été !"), Some(vec![0..3, 4..5]));
/// assert_eq!(token_ranges(&tea, "Été"), None);
/// # Ok::<(), tutte_treebank::Error>(())
/// ```
pub fn token_ranges(sentence: &Sentence, text: &str) -> Option<Vec<Range<usize>>> {
    let mut characters = 0;
    let mut byte = 0;
    let mut count = |to: usize| {
        characters += text[byte..to].chars().count();
        byte = to;
        characters
    };
    let places = locate(sentence, text)?;
    Some(places.into_iter().map(|place| count(place.start)..count(place.end)).collect())
}

/// Returns the place of each token in the text of a sentence, or `None` if the text holds anything else but them and
/// white space.
fn locate(sentence: &Sentence, text: &str) -> Option<Vec<Range<usize>>> {
    let mut covered = 0;
    let tokens = sentence.tokens().filter(|token| match token.id() {
        Id::Multiword(_, end) => {
            covered = end;
            true
        }
        Id::Word(word) => word > covered,
        Id::Empty(..) => false,
    });
    let mut places = Vec::new();
    let mut at = 0;
    for token in tokens {
        let start = text.len() - text[at..].trim_start().len();
        at = text.len() - strip_form(&text[start..], token.form())?.len();
        places.push(start..at);
    }
    text[at..].trim_start().is_empty().then_some(places)
}

/// Strips a form from the start of a text. White space in the form matches any white space in the text.
fn strip_form<'t>(mut text: &'t str, form: &str) -> Option<&'t str> {
    let mut parts = form.split_whitespace();
    text = text.strip_prefix(parts.next()?)?;
    for part in parts {
        let rest = text.trim_start();
        text = rest.strip_prefix(part).filter(|_| rest.len() < text.len())?;
    }
    Some(text)
}

/// Returns the white space after a token that MISC states, if it does.
fn spaces_after(token: Token<'_>) -> Option<Cow<'_, str>> {
    match token.misc_entry("SpacesAfter") {
        Some(spaces) => Some(unescape(spaces)),
        None => (token.misc_entry("SpaceAfter") == Some("No")).then_some(Cow::Borrowed("")),
    }
}

/// Characters that MISC cannot hold, and the letters that stand for them after a backslash.
const ESCAPES: [(char, char); 6] =
    [(' ', 's'), ('\t', 't'), ('\n', 'n'), ('\r', 'r'), ('|', 'p'), ('\\', '\\')];

/// Appends a text with the characters escaped that MISC cannot hold.
pub(crate) fn push_escaped(out: &mut String, text: &str) {
    for c in text.chars() {
        match ESCAPES.iter().find(|(plain, _)| *plain == c) {
            Some((_, letter)) => out.extend(['\\', *letter]),
            None => out.push(c),
        }
    }
}

/// Undoes [`push_escaped`]. It also reads characters such as `\u00a0`, which some treebanks have. A backslash before
/// any other letter stands for itself.
fn unescape(escaped: &str) -> Cow<'_, str> {
    if !escaped.contains('\\') {
        return Cow::Borrowed(escaped);
    }
    let mut text = String::with_capacity(escaped.len());
    let mut rest = escaped.chars();
    while let Some(c) = rest.next() {
        let letter = rest.clone().next().filter(|_| c == '\\');
        let after = rest.as_str();
        let hex = || {
            let digits = after.get(1..5).filter(|digits| !digits.starts_with('+'))?;
            char::from_u32(u32::from_str_radix(digits, 16).ok()?)
        };
        match ESCAPES.iter().find(|(_, known)| Some(*known) == letter) {
            Some((plain, _)) => {
                text.push(*plain);
                rest.next();
            }
            None if letter == Some('u') && hex().is_some() => {
                text.extend(hex());
                rest = after[5..].chars();
            }
            None => text.push(c),
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use tutte_treebank::Reader;

    use super::*;

    fn read(lines: &str) -> Vec<Sentence> {
        let lines = lines.replace('~', "\t_\t_\t_\t_\t_\t_\t_\t");
        Reader::new(lines.as_bytes()).collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn paragraphs_start_after_a_blank_line_whatever_the_last_token_says() {
        let sentences = read(
            "# newdoc\n1\tOne~SpaceAfter=No\n2\t.~_\n\n1\tTwo~_\n2\t.~SpaceAfter=No\n\n\
             # newpar id = p\n1\tThree~SpacesAfter=\\n \n\n# newpar\n1\tFour~SpaceAfter=No\n\n",
        );
        assert_eq!(raw_text(&sentences), "One. Two .\n\nThree\n\nFour");
        assert_eq!(raw_text(&sentences[..1]), "One.\n");
    }

    #[test]
    fn empty_nodes_and_words_of_multiword_tokens_are_not_in_the_text() {
        let sentences =
            read("1-2\tdu~SpaceAfter=No\n1\tde~_\n2\tle~SpacesAfter=\\t\n2.1\tx~_\n3\t1 000~_\n\n");
        let raw = RawText::new(&sentences);
        assert_eq!(raw.text, "du1 000\n");
        let words: Vec<&str> = raw.tokens[0].words.iter().map(|word| word.form()).collect();
        assert_eq!(words, ["de", "le"]);
        assert_eq!(raw.tokens[1].span, 2..7);
        assert!(raw.tokens[1].ends_sentence && !raw.tokens[0].ends_sentence);
    }

    #[test]
    fn where_misc_states_no_spaces_the_text_comment_decides() {
        let text = |lines: &str| raw_text(&read(lines));
        // Two spaces, a space that the tokens lack, and a space that only the tokens have.
        let tokens = "1\tTea~_\n2\tcools~_\n3\t.~SpaceAfter=No\n4\t\"~_\n\n";
        assert_eq!(text(&format!("# text = Tea  cools. \"\n{tokens}")), "Tea  cools. \"\n");
        // The comment has other letters than the tokens: the tokens are right.
        for other in ["Tea cool. \"", "Tea cools. \" x", "Tea cools. ", "Teacools .x\"", ""] {
            assert_eq!(text(&format!("# text = {other}\n{tokens}")), "Tea cools .\"\n");
        }
        // SpacesAfter and SpacesBefore can state more than the comment can.
        let said = "# text = a b c\n1\ta~SpacesAfter=\\n\n2\tb~_\n3\tc~SpacesBefore=\\t\n\n";
        assert_eq!(text(said), "a\nb \tc\n");
        // Spaces in tokens, multiword tokens, empty nodes.
        let odd = "# text = 1\u{a0}000 au  lait\n1\t1 000~_\n2-3\tau~_\n2\tà~_\n3\tle~_\n\
                   3.1\tx~_\n4\tlait~_\n\n";
        let sentences = read(odd);
        let raw = RawText::new(&sentences);
        assert_eq!(raw.text, "1\u{a0}000 au  lait\n");
        assert_eq!(raw.tokens[2].span, 11..15);
    }

    #[test]
    fn escapes_are_undone() {
        let text = " \t\r\n|\\s\u{a0}";
        let mut escaped = String::new();
        push_escaped(&mut escaped, text);
        assert_eq!(escaped, "\\s\\t\\r\\n\\p\\\\s\u{a0}");
        assert_eq!(unescape(&escaped), text);
        assert_eq!(unescape("a\\"), "a\\");
        assert_eq!(unescape("\\x\\u00A0\\u00\\ud800\\u+0a0"), "\\x\u{a0}\\u00\\ud800\\u+0a0");
    }
}
