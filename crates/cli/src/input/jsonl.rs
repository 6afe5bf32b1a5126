//! Sentences as JSON objects, one per line.
//!
//! ```json
//! {"id": "tea-1", "tokens": ["Tea", "helps", "."]}
//! {"id": "tea-2", "words": [{"form": "Tea"}, {"form": "cools"}], "text": "Tea cools"}
//! {"id": "letter", "text": "Dear Ann, tea helps. It always did."}
//! ```
//!
//! Tokens become words unchanged; `tutte parse --to jsonl` writes such lines. A text without tokens is raw text, and
//! may become several sentences: `letter-1`, `letter-2`, …. A list of more tokens than one sentence may have is split
//! in the same way.

use std::io::Cursor;

use anyhow::Result;
use serde_json::{Map, Value};
use tutte::{Compact, Model};
use tutte_treebank::{Encoding, Input, Lines, Place, Sentence, WordReader};

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
    source: Box<dyn Source + 'a>,
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
    tokens: Option<Vec<String>>,
    text: Option<String>,
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
            let Object { id, tokens, text } = object.map_err(unusable)?;
            match (tokens, text) {
                (Some(tokens), _) if tokens.len() > LONGEST => {
                    let tokens = tokens.into_iter();
                    let source =
                        Box::new(SplitTokens { tokens, place, part: 0, unnamed: self.unnamed });
                    self.current = Some(SeveralSentences { source, id, sentences: 0 });
                }
                (Some(tokens), text) => {
                    self.unnamed += u64::from(id.is_none());
                    place.sent_id = Some(id.unwrap_or_else(|| self.unnamed.to_string()));
                    let words = tokens.iter().map(String::as_str);
                    sentence.assign_words(words, text.as_deref(), &place)?;
                    return Ok(true);
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
                Some(id.trim().to_owned())
            }
            Some((name, value)) => {
                return Err(format!(
                    "{name:?} is {value}, but must be a string on one line, or a number"
                ));
            }
        };
        let text = match take(["text", "text"]) {
            None => None,
            Some((_, Value::String(text))) => Some(text),
            Some((name, other)) => {
                return Err(format!("{name:?} is {}, but must be a string", kind(&other)));
            }
        };
        let tokens = match take(["tokens", "words"]) {
            None => None,
            Some((name, Value::Array(tokens))) => {
                if tokens.is_empty() {
                    return Err(format!(
                        "{name:?} is an empty list, but a sentence needs at least one word"
                    ));
                }
                let token = |(number, token)| {
                    let wrong = |what: &str| Err(format!("item {number} of {name:?} is {what}"));
                    let form = match token {
                        Value::String(form) => form,
                        Value::Object(mut word) => match word.remove("form") {
                            Some(Value::String(form)) => form,
                            _ => return wrong("an object without a \"form\""),
                        },
                        other => {
                            return wrong(&format!("{}, but must be a string", kind(&other)));
                        }
                    };
                    if form.is_empty() || form.contains(['\t', '\n', '\r']) {
                        wrong(&format!(
                            "{form:?}, but a word must not be empty or contain tabs or line ends"
                        ))
                    } else {
                        Ok(form)
                    }
                };
                Some((1..).zip(tokens).map(token).collect::<Result<Vec<_>, _>>()?)
            }
            Some((name, other)) => {
                return Err(format!("{name:?} is {}, but must be a list of strings", kind(&other)));
            }
        };
        Ok(Self { id, tokens, text })
    }
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
