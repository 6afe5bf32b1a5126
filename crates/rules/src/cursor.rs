//! Lexer of one line of a rules file, and the parser of the word tests in it.

use regex::Regex;

use crate::condition::{Alternative, Attribute, Condition, Test, Value, regex_reason};
use crate::error::Problem;

/// Characters that end an unquoted value, besides spaces.
const SPECIAL: &[char] = &['|', '[', ']', ',', '"', '=', '~', '<'];

/// Words with a special meaning in the place of a tag.
const RESERVED: [&str; 3] = ["*", "ROOT", "nearest"];

/// Returns true if a value must be quoted. In the place of a tag (`is_tag`), reserved words must be too.
pub(crate) fn needs_quotes(value: &str, is_tag: bool) -> bool {
    value.is_empty()
        || value.starts_with('#')
        || value.contains(|c: char| c.is_whitespace() || SPECIAL.contains(&c))
        || (is_tag && RESERVED.contains(&value))
}

/// A position in a line.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    /// Byte offset.
    at: usize,
    line: usize,
    /// Column that bare tags belong to.
    tags: &'a Attribute,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str, line: usize, tags: &'a Attribute) -> Self {
        Self { text, at: 0, line, tags }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Returns the column of the next token, from 1.
    pub(crate) fn column(&mut self) -> usize {
        self.skip_space();
        self.here()
    }

    fn here(&self) -> usize {
        self.text[..self.at].chars().count() + 1
    }

    /// Returns true if only a comment or nothing is left.
    pub(crate) fn at_end(&mut self) -> bool {
        self.skip_space();
        self.rest().is_empty() || self.rest().starts_with('#')
    }

    /// Returns the text up to the next space without consuming it.
    pub(crate) fn peek(&mut self) -> &'a str {
        if self.at_end() { "" } else { self.rest().split_whitespace().next().unwrap_or_default() }
    }

    /// Consumes and returns the text up to the next space.
    pub(crate) fn word(&mut self) -> &'a str {
        let word = self.peek();
        self.at += word.len();
        word
    }

    /// Consumes `text` if it comes next.
    pub(crate) fn eat(&mut self, text: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// Consumes `word` and its end if they come next.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek() == word;
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// Returns the error "found …, expected …" for the next token.
    pub(crate) fn expected(&mut self, what: &str) -> Problem {
        let column = self.column();
        let found = match self.peek() {
            "" => "the end of the line".to_owned(),
            found => format!("{found:?}"),
        };
        Problem { line: self.line, column, message: format!("found {found}, expected {what}") }
    }

    /// Returns an error at a column.
    pub(crate) fn problem(&self, column: usize, message: String) -> Problem {
        Problem { line: self.line, column, message }
    }

    /// Consumes `name:` if it comes next.
    pub(crate) fn name(&mut self) -> Option<&'a str> {
        self.skip_space();
        let name = self.rest().split([':', ' ', '\t', '"', '#', '|', '[']).next()?;
        let after = self.rest()[name.len()..].trim_start();
        if name.is_empty() || !after.starts_with(':') {
            return None;
        }
        self.at += name.len();
        self.eat(":").then_some(name)
    }

    /// Reads a value. The flag is true if it was quoted.
    pub(crate) fn value(&mut self, what: &str) -> Result<(String, bool), Problem> {
        if self.at_end() || !self.rest().starts_with('"') {
            let ends = |c: char| c.is_whitespace() || SPECIAL.contains(&c);
            let value = self.rest().split(ends).next().unwrap_or_default();
            if value.is_empty() || value.starts_with('#') {
                return Err(self.expected(what));
            }
            self.at += value.len();
            return Ok((value.to_owned(), false));
        }
        let start = self.here();
        let mut value = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += at + 1;
                    return Ok((value, true));
                }
                '\\' => value.extend(chars.next().map(|(_, c)| c)),
                c => value.push(c),
            }
        }
        Err(self.problem(
            start,
            "found an opening `\"`, expected a closing one: add `\"` after the value".to_owned(),
        ))
    }

    /// Reads a test: alternatives separated by `|`.
    pub(crate) fn test(&mut self, what: &str) -> Result<Test, Problem> {
        let mut alternatives = vec![self.alternative(what)?];
        while self.eat("|") {
            alternatives.push(self.alternative("another tag after `|`")?);
        }
        Ok(Test { alternatives })
    }

    fn alternative(&mut self, what: &str) -> Result<Alternative, Problem> {
        let column = self.column();
        let mut conditions = Vec::new();
        match self.value(what)? {
            (any, false) if any == "*" => {}
            (root, false) if root == "ROOT" => {
                let message = "found ROOT, expected a test of words: ROOT can only be the whole head, as \
                               in `VERB <- ROOT` (for a tag of this name, write \"ROOT\" in quotes)";
                return Err(self.problem(column, message.to_owned()));
            }
            (name, false) if self.rest().starts_with(['=', '~']) => {
                conditions.push(self.comparison(name, column, false)?);
            }
            (tag, _) => {
                conditions.push(Condition { attribute: self.tags.clone(), value: Value::Is(tag) });
            }
        }
        if self.rest().starts_with('[') {
            self.at += 1;
            loop {
                let column = self.column();
                let name = self.feature_name()?;
                conditions.push(self.comparison(name, column, true)?);
                if !self.eat(",") {
                    break;
                }
            }
            if !self.eat("]") {
                return Err(self.expected("`,` or `]` after a condition"));
            }
        }
        Ok(Alternative { conditions })
    }

    /// Reads the name of a feature or column. A feature may have brackets in its name: `Number[psor]`.
    fn feature_name(&mut self) -> Result<String, Problem> {
        self.skip_space();
        let mut depth = 0;
        let ends = |c: char| {
            depth += i32::from(c == '[') - i32::from(c == ']');
            depth < 0 || c.is_whitespace() || matches!(c, '=' | '~' | ',' | '"' | '|')
        };
        let name = self.rest().split(ends).next().unwrap_or_default();
        if name.is_empty() {
            return Err(self.expected("a condition such as Case=Loc"));
        }
        self.at += name.len();
        Ok(name.to_owned())
    }

    /// Reads `=VALUE` or `~/REGEX/` after a name.
    fn comparison(
        &mut self,
        name: String,
        column: usize,
        in_brackets: bool,
    ) -> Result<Condition, Problem> {
        let attribute = match &*name {
            "upos" => Attribute::Upos,
            "xpos" => Attribute::Xpos,
            "lemma" => Attribute::Lemma,
            "form" => Attribute::Form,
            _ if in_brackets => Attribute::Feature(name),
            _ => {
                let message = format!(
                    "found {name:?}, expected upos, xpos, lemma or form: write a feature in brackets, as \
                     in NOUN[Case=Loc]"
                );
                return Err(self.problem(column, message));
            }
        };
        let value = if self.rest().starts_with('=') {
            self.at += 1;
            Value::Is(self.value("a value after `=`")?.0)
        } else if self.rest().starts_with("~/") {
            self.at += 2;
            Value::Like(self.pattern()?)
        } else {
            return Err(self.expected("`=` and a value, or `~/` and a regular expression"));
        };
        Ok(Condition { attribute, value })
    }

    /// Reads a regular expression and the slash that ends it.
    fn pattern(&mut self) -> Result<String, Problem> {
        let start = self.here();
        let mut pattern = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((at, c)) = chars.next() {
            match (c, chars.clone().next()) {
                ('/', _) => {
                    self.at += at + 1;
                    return match Regex::new(&pattern) {
                        Ok(_) => Ok(pattern),
                        Err(error) => {
                            let reason = regex_reason(&error);
                            Err(self
                                .problem(start, format!("invalid regular expression: {reason}")))
                        }
                    };
                }
                ('\\', Some((_, '/'))) => {
                    pattern.push('/');
                    chars.next();
                }
                ('\\', Some((_, next))) => {
                    pattern.extend([c, next]);
                    chars.next();
                }
                _ => pattern.push(c),
            }
        }
        let message = "found a regular expression without an end: add `/` after it";
        Err(self.problem(start, message.to_owned()))
    }
}
