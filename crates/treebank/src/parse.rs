//! Parses lines into a [`Sentence`], in one pass.
//!
//! Checks what later steps rely on: the number of columns, the order of IDs, ranges, forms and
//! heads. Other possible mistakes (labels, cycles, several roots) are accepted, so that they can be
//! inspected.

use std::str::FromStr;
use std::sync::Arc;

use memchr::{memchr, memchr_iter};

use crate::id::number;
use crate::sentence::{Row, Span, UNKNOWN, find_sent_id};
use crate::{Column, Error, Format, Id, Place, Problem, Sentence};

/// The byte order mark at the start of some files.
pub(crate) const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// True if a line (without its newline) separates sentences.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

/// A problem, its line (from 0) and its column.
type Fault = (u32, Option<Column>, Problem);

impl Sentence {
    /// Parses `self.text`. A byte order mark is skipped at the start of the input.
    pub(crate) fn parse_text(
        &mut self,
        format: Option<Format>,
        source: &Arc<str>,
        first_line: u64,
    ) -> Result<(), Error> {
        self.format = format.or_else(|| Format::recognise(&self.text)).unwrap_or_default();
        self.source.clone_from(source);
        self.first_line = first_line;
        self.rows.clear();
        self.comments.clear();
        self.words.clear();
        self.heads.clear();
        self.split_lines().and_then(|()| self.check_ends()).map_err(|(line, column, problem)| {
            let text = self.text.lines().nth(line as usize).unwrap_or_default();
            let place = Place {
                file: source.clone(),
                line: first_line + u64::from(line),
                column,
                sent_id: find_sent_id(self.text.lines()).map(str::to_owned),
            };
            Error::Malformed { place: Box::new(place), problem, line: text.to_owned() }
        })
    }

    fn split_lines(&mut self) -> Result<(), Fault> {
        let bytes = self.text.as_bytes();
        let mut order = Order::default();
        let mut start = 0;
        if self.first_line == 1 && bytes.starts_with(BYTE_ORDER_MARK) {
            start = BYTE_ORDER_MARK.len();
        }
        let mut line = 0;
        let mut is_closed = false;
        while start < bytes.len() {
            let newline = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at);
            let mut end = newline;
            if end > start && bytes[end - 1] == b'\r' {
                end -= 1;
            }
            if is_blank(&bytes[start..end]) {
                is_closed = !self.rows.is_empty() || !self.comments.is_empty();
            } else if is_closed {
                return Err((line, None, Problem::SecondSentence));
            } else if bytes[start] == b'#' {
                self.comments.push(Span { start: start as u32, end: end as u32 });
            } else {
                let row = split_columns(bytes, start, end, line, self.format)?;
                let column = |column: Column| {
                    let at = column as usize;
                    &bytes[row.starts[at] as usize..row.starts[at + 1] as usize - 1]
                };
                order.check(row.id).map_err(|problem| (line, Some(Column::Id), problem))?;
                if let Id::Word(word) = row.id {
                    if column(Column::Form).is_empty() {
                        return Err((line, Some(Column::Form), Problem::EmptyForm));
                    }
                    let head = parse_head(column(Column::Head), word)
                        .map_err(|problem| (line, Some(Column::Head), problem))?;
                    self.words.push(self.rows.len() as u32);
                    self.heads.push(head);
                }
                self.rows.push(row);
            }
            start = newline + 1;
            line += 1;
        }
        Ok(())
    }

    /// Checks what depends on the number of words.
    fn check_ends(&self) -> Result<(), Fault> {
        let words = self.words.len();
        if words == 0 {
            let blank = self.text.lines().take_while(|line| is_blank(line.as_bytes())).count();
            return Err((blank as u32, None, Problem::NoWords));
        }
        let beyond = |&head: &u32| head as usize > words && head != UNKNOWN;
        if let Some(token) = self.heads.iter().position(beyond).and_then(|at| self.word(at + 1)) {
            let found = token.column(Column::Head).to_owned();
            let line = (token.line() - self.first_line) as u32;
            return Err((line, Some(Column::Head), Problem::HeadOutOfRange { found, words }));
        }
        // Only the last range can end after the sentence: each stands before its first word.
        if let Some(token) = self.multiword_tokens().last()
            && let Id::Multiword(_, last) = token.id()
            && last > words
        {
            let line = (token.line() - self.first_line) as u32;
            let problem = Problem::RangeOutOfSentence { found: token.id(), words };
            return Err((line, Some(Column::Id), problem));
        }
        Ok(())
    }
}

impl Sentence {
    /// Replaces the sentence by new lines of CoNLL-U, which `write` appends to an empty string.
    /// Reuses its memory.
    ///
    /// ```
    /// use tutte_treebank::Sentence;
    /// let mut sentence = Sentence::default();
    /// sentence.rewrite_text(|text| text.push_str("1\tTea\t_\t_\t_\t_\t_\t_\t_\t_\n\n"))?;
    /// assert_eq!(sentence.word(1).unwrap().form(), "Tea");
    /// # Ok::<(), tutte_treebank::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the lines are not one sentence.
    pub fn rewrite_text(&mut self, write: impl FnOnce(&mut String)) -> Result<(), Error> {
        self.text.clear();
        write(&mut self.text);
        self.parse_alone(Some(Format::ConllU))
    }

    /// Replaces the text of this sentence, as [`rewrite_text`](Self::rewrite_text) does. Messages
    /// about it name this place, which is that of its first word.
    ///
    /// # Errors
    /// If the lines are not one sentence.
    pub fn rewrite_text_at(
        &mut self,
        place: &Place,
        write: impl FnOnce(&mut String),
    ) -> Result<(), Error> {
        self.text.clear();
        write(&mut self.text);
        let comments = self.text.lines().take_while(|line| line.starts_with('#')).count() as u64;
        self.parse_text(Some(Format::ConllU), &place.file, place.line.saturating_sub(comments))
    }

    /// Parses `self.text`, which is not part of a larger input.
    fn parse_alone(&mut self, format: Option<Format>) -> Result<(), Error> {
        let limit = crate::buffer::LONGEST;
        let source = match &*self.source {
            "input" => self.source.clone(),
            _ => Arc::from("input"),
        };
        if self.text.len() > limit {
            let place = Place { file: source, line: 1, column: None, sent_id: None };
            return Err(Error::TooLong { place: Box::new(place), limit });
        }
        if let Some(nul) = memchr::memchr(0, self.text.as_bytes()) {
            return Err(crate::buffer::malformed(self.text.as_bytes(), nul, &source, 1, 0));
        }
        self.parse_text(format, &source, 1)
    }
}

impl FromStr for Sentence {
    type Err = Error;

    /// Parses one sentence in either format. The blank line at its end may be missing.
    fn from_str(lines: &str) -> Result<Self, Error> {
        let mut sentence = Sentence { text: lines.to_owned(), ..Sentence::default() };
        sentence.parse_alone(None)?;
        Ok(sentence)
    }
}

/// Finds the columns of the line `start..end`. Spaces at the end of the line are not part of the
/// last column.
fn split_columns(
    bytes: &[u8],
    start: usize,
    end: usize,
    line: u32,
    format: Format,
) -> Result<Row, Fault> {
    let content = trim_spaces_at_end(&bytes[start..end]);
    let mut starts = [start as u32; 11];
    let mut found = 1;
    for tab in memchr_iter(b'\t', content) {
        if found < 10 {
            starts[found] = (start + tab + 1) as u32;
        }
        found += 1;
    }
    if found != 10 {
        if content.starts_with(BYTE_ORDER_MARK) {
            return Err((line, None, Problem::ByteOrderMark));
        }
        return Err((line, None, Problem::ColumnCount { found, format }));
    }
    starts[10] = (start + content.len() + 1) as u32;
    let field = &bytes[start..starts[1] as usize - 1];
    match Id::parse(field) {
        Some(id) if format == Format::ConllU || id.word().is_some() => Ok(Row { id, line, starts }),
        _ if content.starts_with(BYTE_ORDER_MARK) => Err((line, None, Problem::ByteOrderMark)),
        _ => {
            let found = String::from_utf8_lossy(field).into_owned();
            Err((line, Some(Column::Id), Problem::BadId { found, format }))
        }
    }
}

fn trim_spaces_at_end(line: &[u8]) -> &[u8] {
    &line[..line.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1)]
}

fn parse_head(field: &[u8], word: usize) -> Result<u32, Problem> {
    match field {
        b"_" => Ok(UNKNOWN),
        _ => match number(field) {
            Some(head) if head == word => Err(Problem::OwnHead { word }),
            Some(head) => Ok(head.min(UNKNOWN as usize - 1) as u32),
            None => Err(Problem::BadHead { found: String::from_utf8_lossy(field).into_owned() }),
        },
    }
}

/// Position in the sequence of IDs.
#[derive(Default)]
struct Order {
    /// Number of the last word.
    word: usize,
    /// Number of empty nodes after the last word.
    empty: usize,
    /// First and last word of the last multiword token.
    range: Option<(usize, usize)>,
}

impl Order {
    fn check(&mut self, found: Id) -> Result<(), Problem> {
        let next = self.word + 1;
        match found {
            Id::Word(word) if word == next => {
                self.word = word;
                self.empty = 0;
            }
            Id::Word(_) => return Err(Problem::IdOrder { found, expected: Id::Word(next) }),
            Id::Empty(after, number) if after == self.word && number == self.empty + 1 => {
                self.empty += 1;
            }
            Id::Empty(..) => {
                let expected = Id::Empty(self.word, self.empty + 1);
                return Err(Problem::IdOrder { found, expected });
            }
            Id::Multiword(first, last) => {
                if last < first {
                    return Err(Problem::DescendingRange { found });
                }
                if let Some((start, end)) = self.range
                    && first <= end
                    && start <= last
                {
                    let previous = Id::Multiword(start, end);
                    return Err(Problem::OverlappingRange { found, previous });
                }
                if first != next {
                    return Err(Problem::MisplacedRange { found, next });
                }
                self.range = Some((first, last));
            }
        }
        Ok(())
    }
}
