//! A line of a rules file, read from left to right, and the tests that stand in it.

use regex::Regex;

use super::{Alternative, Attribute, Condition, Problem, Test, Value};

/// What ends a value that is not quoted, beside spaces.
const SPECIAL: &[char] = &['|', '[', ']', ',', '"', '=', '~', '<'];

/// Words that mean something where a tag is expected.
const RESERVED: [&str; 3] = ["*", "ROOT", "nearest"];

/// Whether a value must be quoted to be read back; `tag` where it stands for a tag.
pub(super) fn needs_quotes(value: &str, tag: bool) -> bool {
    value.is_empty()
        || value.starts_with('#')
        || value.contains(|c: char| c.is_whitespace() || SPECIAL.contains(&c))
        || (tag && RESERVED.contains(&value))
}

pub(super) struct Cursor<'a> {
    text: &'a str,
    /// In bytes.
    at: usize,
    line: usize,
    /// What a bare tag is a value of.
    tags: &'a Attribute,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, line: usize, tags: &'a Attribute) -> Self {
        Self { text, at: 0, line, tags }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// The column of what comes next, from 1.
    pub(super) fn column(&mut self) -> usize {
        self.skip_space();
        self.here()
    }

    fn here(&self) -> usize {
        self.text[..self.at].chars().count() + 1
    }

    /// Whether nothing is left but a comment.
    pub(super) fn at_end(&mut self) -> bool {
        self.skip_space();
        self.rest().is_empty() || self.rest().starts_with('#')
    }

    /// What comes next, up to a space.
    pub(super) fn peek(&mut self) -> &'a str {
        if self.at_end() { "" } else { self.rest().split_whitespace().next().unwrap_or_default() }
    }

    /// Goes past what `peek` has shown.
    pub(super) fn word(&mut self) -> &'a str {
        let word = self.peek();
        self.at += word.len();
        word
    }

    /// Goes past a text if it comes next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// Goes past a word if it comes next.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek() == word;
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// The error that something else was expected here.
    pub(super) fn expected(&mut self, what: &str) -> Problem {
        let (column, found) = (self.column(), self.peek());
        let found = match found {
            "" => "the end of the line".to_owned(),
            found => format!("{found:?}"),
        };
        Problem { line: self.line, column, message: format!("found {found}, expected {what}") }
    }

    /// An error at a column.
    pub(super) fn problem(&self, column: usize, message: String) -> Problem {
        Problem { line: self.line, column, message }
    }

    /// Goes past `name:`, if that is how the line begins.
    pub(super) fn name(&mut self) -> Option<&'a str> {
        self.skip_space();
        let name = self.rest().split([':', ' ', '\t', '"', '#', '|', '[']).next()?;
        let after = self.rest()[name.len()..].trim_start();
        if name.is_empty() || !after.starts_with(':') {
            return None;
        }
        self.at += name.len();
        self.eat(":").then_some(name)
    }

    /// A value, quoted or not, and whether it was.
    pub(super) fn value(&mut self, what: &str) -> Result<(String, bool), Problem> {
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
        Err(self.problem(start, "this quotation mark is never closed".to_owned()))
    }

    /// A test: alternatives with `|` between them.
    pub(super) fn test(&mut self, what: &str) -> Result<Test, Problem> {
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
                let message = "found ROOT, expected a test of words: the root can only be a head, and \
                               stands alone (quote the tag \"ROOT\" if there is one)";
                return Err(self.problem(column, message.to_owned()));
            }
            (name, false) if self.rest().starts_with(['=', '~']) => {
                conditions.push(self.comparison(name, column, false)?);
            }
            (tag, _) => {
                let (attribute, value) = (self.tags.clone(), Value::Is(tag));
                conditions.push(Condition { attribute, value });
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

    /// The name of a feature or column. It may have brackets of its own, as `Number[psor]`.
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

    /// `=VALUE` or `~/REGEX/`, after a name.
    fn comparison(
        &mut self,
        name: String,
        column: usize,
        features: bool,
    ) -> Result<Condition, Problem> {
        let attribute = match &*name {
            "upos" => Attribute::Upos,
            "xpos" => Attribute::Xpos,
            "lemma" => Attribute::Lemma,
            "form" => Attribute::Form,
            _ if features => Attribute::Feature(name),
            _ => {
                let message = format!(
                    "found {name:?}, expected upos, xpos, lemma or form; features stand in brackets, as \
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
            return Err(self.expected("`=` and a value or `~/` and a regular expression"));
        };
        Ok(Condition { attribute, value })
    }

    /// A regular expression and the slash that ends it.
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
                            Err(self
                                .problem(start, format!("this is no pattern: {}", reason(&error))))
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
        Err(self.problem(start, "this regular expression has no `/` at its end".to_owned()))
    }
}

/// The last line of an error about a pattern, which says why; those before it draw the pattern.
pub(super) fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}
