//! Sentences as JSON objects, one per line.
//!
//! ```json
//! {"id": "tea-1", "tokens": ["Tea", "helps", "."]}
//! {"id": "tea-2", "words": [{"form": "Tea"}, {"form": "cools"}], "text": "Tea cools"}
//! {"id": "letter", "text": "Dear Ann, tea helps. It always did."}
//! ```
//!
//! Tokens become words unchanged. A text without tokens is raw text, and may become several sentences: `letter-1`,
//! `letter-2`, …. A list of more tokens than one sentence may have is split in the same way.
//!
//! `tutte parse --to jsonl` writes such lines, with more keys (`verbs/parse/json.rs`). Of these, all columns of words,
//! multiword tokens, empty nodes and comments are read. Probabilities and the model are not: they are found again.

use std::fmt::Write as _;
use std::io::Cursor;

use anyhow::Result;
use serde_json::{Map, Value};
use tutte::{Compact, Model};
use tutte_treebank::{Encoding, Error, Input, Lines, Place, Sentence, WordReader};

use super::raw_text::{self, Cut};
use super::source::{Source, Unusable};
use crate::failure::advise;

const HINT: &str =
    r#"write each line as {"tokens": ["…", "…"]} or {"text": "…"}; "id" is optional"#;

/// Sentences of a JSON Lines file.
pub(super) struct Jsonl<'a> {
    lines: Lines<Input>,
    model: &'a Model<Compact>,
    /// Number of sentences without an id so far. Their ids are numbers.
    unnamed: u64,
    /// Current object, if it has several sentences.
    current: Option<SeveralSentences<'a>>,
}

/// An object that becomes several sentences.
struct SeveralSentences<'a> {
    source: Box<dyn Source + Send + 'a>,
    id: Option<String>,
    /// Number of its sentences read so far.
    sentences: u64,
}

/// A list of more tokens than one sentence may have.
struct SplitTokens {
    tokens: std::vec::IntoIter<String>,
    place: Place,
    part: u64,
    unnamed: u64,
}

impl Source for SplitTokens {
    fn read(&mut self, sentence: &mut Sentence) -> Result<bool> {
        let tokens: Vec<String> = self.tokens.by_ref().take(LONGEST).collect();
        if tokens.is_empty() {
            return Ok(false);
        }
        self.part += 1;
        self.place.sent_id = Some((self.unnamed + self.part).to_string());
        sentence.assign_words(tokens.iter().map(String::as_str), None, &self.place)?;
        sentence.set_comment("tutte_split", Some(&self.part.to_string()))?;
        Ok(true)
    }
}

const LONGEST: usize = WordReader::<Input>::LONGEST;

/// Content of a line.
struct Object {
    id: Option<String>,
    /// Comments without `#`, other than those for which there are keys.
    comments: Vec<String>,
    text: Option<String>,
    words: Option<Words>,
}

/// Words of a sentence.
enum Words {
    /// Forms alone.
    Forms(Vec<String>),
    /// Lines of CoNLL-U.
    Lines(String),
}

/// Returns `true` if a line is a JSON object with a key that the reader knows.
pub(super) fn is_sentence(line: &str) -> bool {
    let object = serde_json::from_str::<Map<String, Value>>(line);
    object
        .is_ok_and(|object| ["tokens", "words", "text"].iter().any(|key| object.contains_key(*key)))
}

/// Returns the sentences of JSON Lines in memory.
pub(crate) fn json_lines(
    bytes: Vec<u8>,
    model: &Model<Compact>,
) -> impl Iterator<Item = Result<Sentence>> + '_ {
    let input: Input = Box::new(Cursor::new(bytes));
    let mut reader = Jsonl::new(Lines::new(input, "any.jsonl", Encoding::UTF_8), model, 0);
    let mut sentence = Sentence::default();
    std::iter::from_fn(move || match reader.read(&mut sentence) {
        Ok(is_read) => is_read.then(|| Ok(sentence.clone())),
        Err(error) => Some(Err(error)),
    })
}

impl<'a> Jsonl<'a> {
    pub(super) fn new(lines: Lines<Input>, model: &'a Model<Compact>, unnamed: u64) -> Self {
        Self { lines, model, unnamed, current: None }
    }

    /// Reads the next sentence of the current object; returns `false` if there is none.
    fn read_current(&mut self, sentence: &mut Sentence) -> Result<bool> {
        let Some(current) = &mut self.current else { return Ok(false) };
        if !current.source.read(sentence)? {
            self.current = None;
            return Ok(false);
        }
        current.sentences += 1;
        match &current.id {
            Some(id) => {
                let id = format!("{id}-{}", current.sentences);
                sentence.set_comment("sent_id", Some(&id))?;
            }
            None => self.unnamed += 1,
        }
        Ok(true)
    }
}

impl Source for Jsonl<'_> {
    fn read(&mut self, sentence: &mut Sentence) -> Result<bool> {
        loop {
            if self.read_current(sentence)? {
                return Ok(true);
            }
            let Some(line) = self.lines.next_line()? else { return Ok(false) };
            if line.trim().is_empty() {
                continue;
            }
            let object = Object::parse(line);
            let mut place = Place {
                file: self.lines.name().clone(),
                line: self.lines.number(),
                column: None,
                sent_id: None,
            };
            let unusable = |problem| advise(Unusable { place: place.clone(), problem }, HINT);
            let Object { id, comments, text, words } = object.map_err(unusable)?;
            match (words, text) {
                (Some(Words::Forms(forms)), _) if forms.len() > LONGEST => {
                    let tokens = forms.into_iter();
                    let source =
                        Box::new(SplitTokens { tokens, place, part: 0, unnamed: self.unnamed });
                    self.current = Some(SeveralSentences { source, id, sentences: 0 });
                }
                (Some(words), text) => {
                    self.unnamed += u64::from(id.is_none());
                    let id = id.unwrap_or_else(|| self.unnamed.to_string());
                    let text = text.as_deref();
                    let read = match words {
                        Words::Forms(forms) => {
                            place.sent_id = Some(id);
                            let forms = forms.iter().map(String::as_str);
                            sentence.assign_words(forms, text, &place)
                        }
                        Words::Lines(lines) => sentence.rewrite_text_at(&place, |out| {
                            write_comments(out, &comments, &id, text);
                            out.push_str(&lines);
                            out.push('\n');
                        }),
                    };
                    return match read {
                        Ok(()) => Ok(true),
                        Err(Error::Malformed { problem, .. }) => {
                            let problem = problem.to_string();
                            Err(advise(Unusable { place, problem }, HINT))
                        }
                        Err(error) => Err(error.into()),
                    };
                }
                (None, Some(text)) => {
                    let text = Box::new(Cursor::new(text));
                    let source = raw_text::sentences(
                        text,
                        &place.to_string(),
                        Encoding::UTF_8,
                        Cut::Text,
                        self.model,
                        self.unnamed,
                    );
                    self.current = Some(SeveralSentences { source, id, sentences: 0 });
                }
                (None, None) => {
                    let problem = r#"the object has neither "tokens" nor "text""#.to_owned();
                    return Err(unusable(problem));
                }
            }
        }
    }
}

/// Writes the comments of a sentence. The text becomes one line.
fn write_comments(out: &mut String, comments: &[String], id: &str, text: Option<&str>) {
    for comment in comments {
        out.extend(["# ", comment, "\n"]);
    }
    out.extend(["# sent_id = ", id, "\n"]);
    if let Some(text) = text {
        out.push_str("# text = ");
        if text.contains(['\n', '\r', '\t']) {
            out.push_str(&text.split_whitespace().collect::<Vec<_>>().join(" "));
        } else {
            out.push_str(text.trim());
        }
        out.push('\n');
    }
}

impl Object {
    /// Parses a line; the error says what is wrong with it.
    fn parse(line: &str) -> Result<Self, String> {
        let mut object: Map<String, Value> = match serde_json::from_str(line) {
            Ok(Value::Object(object)) => object,
            Ok(other) => return Err(format!("{} instead of an object", kind(&other))),
            Err(error) => {
                let said = error.to_string();
                let said = said.split(" at line ").next().unwrap_or(&said);
                return Err(format!("not JSON: {said}, at column {}", error.column()));
            }
        };
        let mut take = |names: [&str; 2]| {
            let found =
                names.into_iter().find_map(|name| Some((name.to_owned(), object.remove(name)?)));
            found.filter(|(_, value)| !value.is_null())
        };
        let id = match take(["id", "sent_id"]) {
            None => None,
            Some((_, Value::Number(number))) => Some(number.to_string()),
            Some((_, Value::String(id))) if !id.trim().is_empty() && !id.contains(['\n', '\r']) => {
                Some(id.trim().replace('\0', "\u{fffd}"))
            }
            Some((name, value)) => {
                return Err(format!(
                    "{name:?} is {value}, but must be a string on one line, or a number"
                ));
            }
        };
        let text = match take(["text", "text"]) {
            None => None,
            Some((_, Value::String(text))) => Some(text.replace('\0', "\u{fffd}")),
            Some((name, other)) => {
                return Err(format!("{name:?} is {}, but must be a string", kind(&other)));
            }
        };
        let comments = match take(["comments", "comments"]) {
            Some((name, Value::Array(comments))) => {
                let lines = comments.into_iter().map(|comment| one_line(&name, comment));
                lines.filter_map(Result::ok).collect()
            }
            // In lines of other programs, it may be anything.
            _ => Vec::new(),
        };
        let mut surface = take(["tokens", "tokens"]);
        let words = take(["words", "words"]).or_else(|| surface.take());
        let empty_nodes = take(["empty_nodes", "empty_nodes"]);
        let Some((name, words)) = words else {
            return Ok(Self { id, comments, text, words: None });
        };
        let mut rows = Vec::new();
        for (number, item, word) in list(&name, words)? {
            rows.push(Row::of_word(number, &item, word)?);
        }
        if rows.is_empty() {
            return Err(format!(
                "{name:?} is an empty list, but a sentence needs at least one word"
            ));
        }
        let mut multiword = Vec::new();
        if let Some((name, tokens)) = surface {
            for (_, item, token) in list(&name, tokens)? {
                multiword.extend(Row::of_multiword_token(&item, token, rows.len())?);
            }
        }
        let mut empty = Vec::new();
        if let Some((name, nodes)) = empty_nodes {
            for (_, item, node) in list(&name, nodes)? {
                empty.push(Row::of_empty_node(&item, node, rows.len())?);
            }
        }
        let is_plain = comments.is_empty()
            && multiword.is_empty()
            && empty.is_empty()
            && rows.iter().all(Row::is_only_form);
        let words = if is_plain {
            Words::Forms(rows.into_iter().map(|Row { columns: [form, ..], .. }| form).collect())
        } else {
            Words::Lines(lines(&rows, &multiword, &empty))
        };
        Ok(Self { id, comments, text, words: Some(words) })
    }
}

/// Returns the items of a list, each with its number and its name in messages.
fn list(name: &str, value: Value) -> Result<impl Iterator<Item = (usize, String, Value)>, String> {
    let Value::Array(items) = value else {
        return Err(format!("{name:?} is {}, but must be a list", kind(&value)));
    };
    let name = name.to_owned();
    Ok((1..)
        .zip(items)
        .map(move |(number, item)| (number, format!("item {number} of {name:?}"), item)))
}

/// Returns a string of one line. `item` is its name in messages.
fn one_line(item: &str, value: Value) -> Result<String, String> {
    match value {
        Value::String(text) if text.contains(['\t', '\n', '\r']) => {
            Err(format!("{item} is {text:?}, but must not contain tabs or line ends"))
        }
        Value::String(text) => Ok(text.replace('\0', "\u{fffd}")),
        other => Err(format!("{item} is {}, but must be a string", kind(&other))),
    }
}

/// A line of CoNLL-U.
struct Row {
    id: String,
    /// Number of the word that it belongs to: its own, that of the first word of a multiword token, or that of the word
    /// before an empty node.
    word: usize,
    /// The columns after the ID.
    columns: [String; 9],
}

impl Row {
    fn of_word(number: usize, item: &str, word: Value) -> Result<Self, String> {
        let mut word = match word {
            Value::String(_) => Map::from_iter([("form".to_owned(), word)]),
            Value::Object(word) => word,
            other => return Err(format!("{item} is {}, but must be a string", kind(&other))),
        };
        match word.remove("id") {
            None | Some(Value::Null) => {}
            Some(id) if id.as_u64() == Some(number as u64) => {}
            Some(id) => {
                return Err(format!("{item} has the id {id}, but words are numbered 1, 2, 3, …"));
            }
        }
        let row = Self { id: number.to_string(), word: number, columns: columns(item, word)? };
        if row.columns[0].is_empty() {
            return Err(format!("{item} has no form, but every word needs one"));
        }
        Ok(row)
    }

    /// Reads a token; `None` if it is a single word.
    fn of_multiword_token(item: &str, token: Value, words: usize) -> Result<Option<Self>, String> {
        let Value::Object(mut token) = token else { return Ok(None) };
        let Some(Value::Array(ids)) = token.remove("words") else { return Ok(None) };
        let ids: Vec<usize> = ids.iter().filter_map(Value::as_u64).map(|id| id as usize).collect();
        let (Some(&first), Some(&last)) = (ids.first(), ids.last()) else { return Ok(None) };
        if first == last {
            return Ok(None);
        }
        if first == 0 || last > words || !ids.iter().copied().eq(first..=last) {
            return Err(format!(
                "{item} has the words {ids:?}, but a token has neighbouring words"
            ));
        }
        let id = format!("{first}-{last}");
        Ok(Some(Self { id, word: first, columns: columns(item, token)? }))
    }

    fn of_empty_node(item: &str, node: Value, words: usize) -> Result<Self, String> {
        let Value::Object(mut node) = node else {
            return Err(format!("{item} is {}, but must be an object", kind(&node)));
        };
        let id = node.remove("id").unwrap_or_default();
        let id = id.as_str().unwrap_or_default().to_owned();
        let word = id.split_once('.').and_then(|(word, _)| word.parse().ok());
        let Some(word) = word.filter(|word| *word <= words) else {
            return Err(format!(
                "{item} needs an \"id\" such as \"{words}.1\" for a node after word {words}"
            ));
        };
        Ok(Self { id, word, columns: columns(item, node)? })
    }

    fn is_only_form(&self) -> bool {
        self.columns[1..].iter().all(|column| column == "_")
    }

    fn write(&self, out: &mut String) {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}\t{}", self.id, self.columns.join("\t"));
    }
}

/// Reads the columns of a word, by their keys.
fn columns(item: &str, mut word: Map<String, Value>) -> Result<[String; 9], String> {
    const KEYS: [&str; 9] =
        ["form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"];
    let mut columns = KEYS.map(|_| "_".to_owned());
    for (key, column) in KEYS.iter().zip(&mut columns) {
        match word.remove(*key) {
            None | Some(Value::Null) if *key == "form" => column.clear(),
            None | Some(Value::Null) => {}
            Some(Value::Number(head)) if *key == "head" => *column = head.to_string(),
            Some(value) => {
                let mut value = one_line(&format!("{key:?} of {item}"), value)?;
                if *key == "misc" {
                    // Spaces at the end of a line belong to the line end.
                    value.truncate(value.trim_end_matches(' ').len());
                }
                if !value.is_empty() || *key == "form" {
                    *column = value;
                }
            }
        }
    }
    Ok(columns)
}

/// Returns the lines of a sentence in their order.
fn lines(words: &[Row], multiword: &[Row], empty: &[Row]) -> String {
    let mut out = String::new();
    let of_word = |rows: &[Row], word: usize, out: &mut String| {
        rows.iter().filter(|row| row.word == word).for_each(|row| row.write(out));
    };
    of_word(empty, 0, &mut out);
    for word in words {
        of_word(multiword, word.word, &mut out);
        word.write(&mut out);
        of_word(empty, word.word, &mut out);
    }
    out
}

/// Names the type of a value.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
