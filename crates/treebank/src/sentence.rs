//! A sentence: its lines as they were read, and views of their columns.
//!
//! A sentence is one string and the offsets of its columns. The string starts at the end of the
//! previous sentence and ends with the blank line that closes this one. Views are slices of that
//! string, and writing a sentence writes the string. Unchanged text is therefore written byte for
//! byte as it was read.

use std::fmt;
use std::sync::Arc;

use tutte_trees::Tree;

use crate::{Column, Error, Format, Id, Place, Problem};

/// Greatest number of words of a sentence whose trees are looked at together: for a distribution, for training, for
/// projectivising. Time grows with the cube of the number of words, and memory with its square: half a gigabyte at this
/// length.
pub const LONGEST_DISTRIBUTION: usize = 1000;

/// A sentence of a treebank. It keeps every byte it was read from.
///
/// ```
/// use tutte_treebank::{Id, Sentence};
///
/// let mut sentence: Sentence = "\
/// ## sent_id = tea-1
/// 1-2\tWanna\t_\t_\t_\t_\t_\t_\t_\t_
/// 1\tWan\twant\tVERB\t_\t_\t0\troot\t_\t_
/// 2\tna\tto\tPART\t_\t_\t_\t_\t_\t_
/// 3\tsip\tsip\tVERB\t_\t_\t1\txcomp\t_\tSpaceAfter=No|Gloss=drink
///
/// "
/// .parse()?;
///
/// assert_eq!(sentence.sent_id(), Some("tea-1"));
/// assert_eq!(sentence.len(), 3);
/// assert_eq!(sentence.multiword_tokens().next().unwrap().id(), Id::Multiword(1, 2));
/// assert_eq!(sentence.word(2).unwrap().head(), None); // not known yet
///
/// sentence.set_head(2, Some(3))?;
/// sentence.set_deprel(2, "mark")?;
/// sentence.set_misc(3, "HeadProb", Some("0.93"))?;
/// assert!(sentence.as_str().contains("2\tna\tto\tPART\t_\t_\t3\tmark\t_\t_\n"));
/// assert!(sentence.as_str().contains("SpaceAfter=No|Gloss=drink|HeadProb=0.93\n"));
/// assert_eq!(sentence.tree()?.heads(), [0, 3, 1]);
/// # Ok::<(), tutte_treebank::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sentence {
    /// The whole text: blank lines before the sentence, comments, lines, the blank line after it.
    pub(crate) text: String,
    pub(crate) format: Format,
    /// Name of the input it was read from.
    pub(crate) source: Arc<str>,
    /// Number of the first line of `text` in the source, from 1.
    pub(crate) first_line: u64,
    /// Lines with columns, in the order of the file.
    pub(crate) rows: Vec<Row>,
    /// Comment lines, without line ends.
    pub(crate) comments: Vec<Span>,
    /// Row of each word.
    pub(crate) words: Vec<u32>,
    /// Head of each word, or `UNKNOWN`.
    pub(crate) heads: Vec<u32>,
}

/// Positions of the columns of a line.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) id: Id,
    /// Number of the line in the sentence's text, from 0.
    pub(crate) line: u32,
    /// Column c starts at `starts[c]` and ends, including its tab, at `starts[c + 1]`.
    pub(crate) starts: [u32; 11],
}

/// A range of the text.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// Entry of `Sentence::heads` for the head `_`.
pub(crate) const UNKNOWN: u32 = u32::MAX;

impl Sentence {
    /// Returns the lines as they will be written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Format of the lines.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Number of words: lines with a whole number as ID.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// True if there are no words, as in `Sentence::default()`. A sentence that was read has at
    /// least one.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the words, in order.
    pub fn words(&self) -> impl ExactSizeIterator<Item = Token<'_>> + DoubleEndedIterator + Clone {
        self.words.iter().map(|&row| Token { sentence: self, row: row as usize })
    }

    /// Returns a word by its number, from 1.
    pub fn word(&self, number: usize) -> Option<Token<'_>> {
        let row = *self.words.get(number.checked_sub(1)?)?;
        Some(Token { sentence: self, row: row as usize })
    }

    /// Returns all lines with columns, in the order of the file: words, multiword tokens, empty
    /// nodes.
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = Token<'_>> + DoubleEndedIterator {
        (0..self.rows.len()).map(|row| Token { sentence: self, row })
    }

    /// Returns the multiword tokens.
    pub fn multiword_tokens(&self) -> impl Iterator<Item = Token<'_>> {
        self.tokens().filter(|token| matches!(token.id(), Id::Multiword(..)))
    }

    /// Returns the empty nodes.
    pub fn empty_nodes(&self) -> impl Iterator<Item = Token<'_>> {
        self.tokens().filter(|token| matches!(token.id(), Id::Empty(..)))
    }

    /// Returns the comment lines, with their `#`, without their line ends.
    pub fn comments(&self) -> impl Iterator<Item = &str> {
        self.comments.iter().map(|span| &self.text[span.start as usize..span.end as usize])
    }

    /// Returns the value of the first comment `# key = value`.
    pub fn comment(&self, key: &str) -> Option<&str> {
        self.comments().find_map(|comment| comment_value(comment, key))
    }

    /// Returns the identifier of the sentence: `# sent_id = …`, or `# sent_id …` as in version 1.
    pub fn sent_id(&self) -> Option<&str> {
        find_sent_id(self.comments())
    }

    /// Returns the text before tokenisation: `# text = …`.
    pub fn text(&self) -> Option<&str> {
        self.comment("text")
    }

    /// Returns the id of the document that starts here, if one does: that of `# newdoc id = …`, or
    /// `""` for `# newdoc`.
    pub fn newdoc(&self) -> Option<&str> {
        self.boundary("newdoc", "newdoc id")
    }

    /// Returns the id of the paragraph that starts here, if one does: that of `# newpar id = …`, or
    /// `""` for `# newpar`.
    pub fn newpar(&self) -> Option<&str> {
        self.boundary("newpar", "newpar id")
    }

    fn boundary(&self, bare: &str, with_id: &str) -> Option<&str> {
        self.comment(with_id).or_else(|| {
            self.comments()
                .find_map(|comment| after_key(comment, bare)?.trim().is_empty().then_some(""))
        })
    }

    /// Returns the heads of all words (`heads[0]` is the head of word 1), or `None` if one is
    /// unknown.
    pub fn heads(&self) -> Option<Vec<usize>> {
        self.partial_heads().collect()
    }

    /// Returns the head of each word, `None` where it is unknown.
    pub fn partial_heads(&self) -> impl ExactSizeIterator<Item = Option<usize>> + '_ {
        self.heads.iter().map(|&head| (head != UNKNOWN).then_some(head as usize))
    }

    /// Checks that the sentence is short enough for a task that looks at all its trees together.
    ///
    /// # Errors
    /// [`Error::TooManyWords`] above [`LONGEST_DISTRIBUTION`] words.
    pub fn check_words(&self, task: &'static str) -> Result<(), Error> {
        let words = self.len();
        if words <= LONGEST_DISTRIBUTION {
            return Ok(());
        }
        let place = Box::new(self.place());
        Err(Error::TooManyWords { place, words, task, limit: LONGEST_DISTRIBUTION })
    }

    /// Returns the dependency tree.
    ///
    /// # Errors
    /// [`Error::NoHead`] if a head is unknown, [`Error::NotATree`] if the heads form a cycle.
    pub fn tree(&self) -> Result<Tree, Error> {
        let Some(heads) = self.heads() else {
            let word = 1 + self.heads.iter().position(|&head| head == UNKNOWN).unwrap_or(0);
            return Err(Error::NoHead { place: Box::new(self.place_of_head(word)), word });
        };
        Tree::new(&heads).map_err(|source| {
            use tutte_trees::{Error::NotATree, NotATree::Cycle};
            let word = match &source {
                NotATree(Cycle { words }) => words.first().copied().unwrap_or(1),
                _ => 1,
            };
            Error::NotATree { place: Box::new(self.place_of_head(word)), source }
        })
    }

    /// Returns the place of the first word in the input, for messages.
    pub fn place(&self) -> Place {
        Place { column: None, ..self.place_of_head(1) }
    }

    fn place_of_head(&self, word: usize) -> Place {
        Place {
            file: self.source.clone(),
            line: self.word(word).map_or(self.first_line, |token| token.line()),
            column: Some(Column::Head),
            sent_id: self.sent_id().map(str::to_owned),
        }
    }
}

/// Sentences are equal if their formats and lines are. Their origin does not matter.
impl PartialEq for Sentence {
    fn eq(&self, other: &Self) -> bool {
        self.format == other.format && self.text == other.text
    }
}

impl Eq for Sentence {}

impl fmt::Display for Sentence {
    /// Writes the lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A line of a sentence: a word, a multiword token or an empty node. Columns are returned as they
/// stand in the file, `_` where they are empty.
#[derive(Clone, Copy)]
pub struct Token<'a> {
    pub(crate) sentence: &'a Sentence,
    row: usize,
}

impl<'a> Token<'a> {
    fn row(self) -> &'a Row {
        &self.sentence.rows[self.row]
    }

    /// Returns any column.
    pub fn column(self, column: Column) -> &'a str {
        let starts = &self.row().starts;
        let start = starts[column as usize];
        let end = starts[column as usize + 1] - 1;
        &self.sentence.text[start as usize..end as usize]
    }

    /// The ID: which word, multiword token or empty node this is.
    pub fn id(self) -> Id {
        self.row().id
    }

    /// Number of the line in the input, from 1.
    pub fn line(self) -> u64 {
        self.sentence.first_line + u64::from(self.row().line)
    }

    /// The word as written.
    pub fn form(self) -> &'a str {
        self.column(Column::Form)
    }

    /// The dictionary form.
    pub fn lemma(self) -> &'a str {
        self.column(Column::Lemma)
    }

    /// The universal part of speech; in CoNLL-X, the coarse tag.
    pub fn upos(self) -> &'a str {
        self.column(Column::Upos)
    }

    /// The language-specific tag; in CoNLL-X, the fine tag.
    pub fn xpos(self) -> &'a str {
        self.column(Column::Xpos)
    }

    /// The morphological features, as one string.
    pub fn feats(self) -> &'a str {
        self.column(Column::Feats)
    }

    /// Returns the features as `(name, value)`. The value is empty where there is no `=`, as in
    /// CoNLL-X.
    pub fn features(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        entries(self.feats())
    }

    /// The head of a word, 0 for the root; `None` if it is unknown or the line is not a word.
    pub fn head(self) -> Option<usize> {
        let head = self.sentence.heads[self.id().word()? - 1];
        (head != UNKNOWN).then_some(head as usize)
    }

    /// The label of the arc from the head.
    pub fn deprel(self) -> &'a str {
        self.column(Column::Deprel)
    }

    /// The enhanced dependencies of CoNLL-U, as one string; `_` in CoNLL-X.
    pub fn deps(self) -> &'a str {
        self.column_in(Format::ConllU, Column::Deps)
    }

    /// The last column of CoNLL-U, as one string; `_` in CoNLL-X.
    pub fn misc(self) -> &'a str {
        self.column_in(Format::ConllU, Column::Misc)
    }

    /// Returns the entries of MISC as `(key, value)`. The value is empty where there is no `=`.
    pub fn misc_entries(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        entries(self.misc())
    }

    /// Returns the value of an entry of MISC.
    pub fn misc_entry(self, key: &str) -> Option<&'a str> {
        self.misc_entries().find(|(found, _)| *found == key).map(|(_, value)| value)
    }

    /// The projective head of CoNLL-X, as written; `_` in CoNLL-U.
    pub fn phead(self) -> &'a str {
        self.column_in(Format::ConllX, Column::Deps)
    }

    /// The label of the projective head of CoNLL-X; `_` in CoNLL-U.
    pub fn pdeprel(self) -> &'a str {
        self.column_in(Format::ConllX, Column::Misc)
    }

    /// Returns an error about a column of this line.
    pub(crate) fn malformed(self, column: Column, problem: Problem) -> Error {
        let place = Place { line: self.line(), column: Some(column), ..self.sentence.place() };
        Error::Malformed { place: Box::new(place), problem, line: self.as_str().to_owned() }
    }

    /// Returns the whole line, without its end.
    pub(crate) fn as_str(self) -> &'a str {
        let starts = &self.row().starts;
        &self.sentence.text[starts[0] as usize..starts[10] as usize - 1]
    }

    fn column_in(self, format: Format, column: Column) -> &'a str {
        if self.sentence.format == format { self.column(column) } else { "_" }
    }
}

impl fmt::Debug for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(Column::ALL.map(|column| self.column(column))).finish()
    }
}

/// Returns the entries of `a=b|c` as `(a, b), (c, "")`; none for `_`.
fn entries(field: &str) -> impl Iterator<Item = (&str, &str)> {
    let field = if field == "_" { "" } else { field };
    bars(field).filter(|entry| !entry.is_empty()).map(|e| halves(e, b'=').unwrap_or((e, "")))
}

/// Splits a field at its bars. Faster than `split`, since fields are short and many.
pub(crate) fn bars(field: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(field);
    std::iter::from_fn(move || {
        let (entry, others) = match halves(rest?, b'|') {
            Some((entry, others)) => (entry, Some(others)),
            None => (rest?, None),
        };
        rest = others;
        Some(entry)
    })
}

/// Splits a text at the first occurrence of an ASCII character.
pub(crate) fn halves(text: &str, separator: u8) -> Option<(&str, &str)> {
    let at = text.bytes().position(|byte| byte == separator)?;
    Some((&text[..at], &text[at + 1..]))
}

/// Returns the value of a comment `# key = value`.
pub(crate) fn comment_value<'a>(comment: &'a str, key: &str) -> Option<&'a str> {
    Some(after_key(comment, key)?.trim_start().strip_prefix('=')?.trim())
}

/// Returns the text after the key of a comment.
pub(crate) fn after_key<'a>(comment: &'a str, key: &str) -> Option<&'a str> {
    comment.strip_prefix('#')?.trim_start().strip_prefix(key)
}

/// Returns the first `sent_id` among lines. Lines that are not comments are skipped.
pub(crate) fn find_sent_id<'a>(mut lines: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    lines.find_map(|line| {
        let rest = after_key(line, "sent_id")?;
        if !rest.starts_with([' ', '\t', '=']) {
            return None;
        }
        let rest = rest.trim();
        let id = rest.strip_prefix('=').unwrap_or(rest).trim();
        (!id.is_empty()).then_some(id)
    })
}
