//! A sentence: its lines as they were read, and views of what they say.
//!
//! The text of a sentence is kept as one string, from the end of the previous sentence to the
//! blank line that closes this one, together with the offsets of its columns. Views are slices of
//! that string; writing a sentence is writing the string. What nobody changes therefore comes out
//! byte for byte as it came in.

use std::fmt;
use std::sync::Arc;

use tutte_trees::Tree;

use crate::{Column, Error, Format, Id, Place, Problem};

/// A sentence of a treebank. It remembers every byte it was read from.
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
/// assert_eq!(sentence.word(2).unwrap().head(), None); // nobody knows yet
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
    /// Everything: blank lines left over before it, comments, lines, the blank line after it.
    pub(crate) text: String,
    pub(crate) format: Format,
    /// What it was read from.
    pub(crate) source: Arc<str>,
    /// Number of the first line of `text` in the source, from 1.
    pub(crate) first_line: u64,
    /// Lines with columns, in the order of the file.
    pub(crate) rows: Vec<Row>,
    /// Comment lines, without line ends.
    pub(crate) comments: Vec<Span>,
    /// The rows of the words.
    pub(crate) words: Vec<u32>,
    /// The heads of the words.
    pub(crate) heads: Vec<u32>,
}

/// Where the columns of a line are.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) id: Id,
    /// Number of the line in the sentence's text, from 0.
    pub(crate) line: u32,
    /// Column c starts at `starts[c]` and ends, with its tab, at `starts[c + 1]`.
    pub(crate) starts: [u32; 11],
}

/// A piece of the text.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// The entry of `Sentence::heads` for `_`.
pub(crate) const UNKNOWN: u32 = u32::MAX;

impl Sentence {
    /// The lines as they will be written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The format the lines are in.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The number of words: lines with a whole number as ID.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are no words, as in `Sentence::default()`. What is read always has some.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The words, in order.
    pub fn words(&self) -> impl ExactSizeIterator<Item = Token<'_>> + DoubleEndedIterator + Clone {
        self.words.iter().map(|&row| Token { sentence: self, row: row as usize })
    }

    /// A word by its number, from 1.
    pub fn word(&self, number: usize) -> Option<Token<'_>> {
        let row = *self.words.get(number.checked_sub(1)?)?;
        Some(Token { sentence: self, row: row as usize })
    }

    /// All lines with columns, in the order of the file: words, multiword tokens, empty nodes.
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = Token<'_>> + DoubleEndedIterator {
        (0..self.rows.len()).map(|row| Token { sentence: self, row })
    }

    /// The multiword tokens.
    pub fn multiword_tokens(&self) -> impl Iterator<Item = Token<'_>> {
        self.tokens().filter(|token| matches!(token.id(), Id::Multiword(..)))
    }

    /// The empty nodes.
    pub fn empty_nodes(&self) -> impl Iterator<Item = Token<'_>> {
        self.tokens().filter(|token| matches!(token.id(), Id::Empty(..)))
    }

    /// The comment lines, with their `#`, without their line ends.
    pub fn comments(&self) -> impl Iterator<Item = &str> {
        self.comments.iter().map(|span| &self.text[span.start as usize..span.end as usize])
    }

    /// The value of the first comment `# key = value`.
    pub fn comment(&self, key: &str) -> Option<&str> {
        self.comments().find_map(|comment| comment_value(comment, key))
    }

    /// The sentence's name: `# sent_id = …`, or `# sent_id …` as in version 1.
    pub fn sent_id(&self) -> Option<&str> {
        find_sent_id(self.comments())
    }

    /// The sentence before tokenisation: `# text = …`.
    pub fn text(&self) -> Option<&str> {
        self.comment("text")
    }

    /// Whether a document starts here: the id of `# newdoc id = …`, or `""` for `# newdoc`.
    pub fn newdoc(&self) -> Option<&str> {
        self.boundary("newdoc", "newdoc id")
    }

    /// Whether a paragraph starts here: the id of `# newpar id = …`, or `""` for `# newpar`.
    pub fn newpar(&self) -> Option<&str> {
        self.boundary("newpar", "newpar id")
    }

    fn boundary(&self, bare: &str, with_id: &str) -> Option<&str> {
        self.comment(with_id).or_else(|| {
            self.comments()
                .find_map(|comment| after_key(comment, bare)?.trim().is_empty().then_some(""))
        })
    }

    /// The heads of all words (`heads[0]` is the head of word 1), or `None` if one is unknown.
    pub fn heads(&self) -> Option<Vec<usize>> {
        self.partial_heads().collect()
    }

    /// The heads that are known, word by word.
    pub fn partial_heads(&self) -> impl ExactSizeIterator<Item = Option<usize>> + '_ {
        self.heads.iter().map(|&head| (head != UNKNOWN).then_some(head as usize))
    }

    /// The dependency tree, which can be checked further, measured and projectivised.
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

    /// Where the sentence's first word stands in what it was read from, for messages about it.
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

/// Sentences are equal if their lines are, wherever they were read.
impl PartialEq for Sentence {
    fn eq(&self, other: &Self) -> bool {
        self.format == other.format && self.text == other.text
    }
}

impl Eq for Sentence {}

impl fmt::Display for Sentence {
    /// The lines as they will be written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A line of a sentence: a word, a multiword token or an empty node. Columns are given as they
/// stand in the file, `_` where nothing is said.
#[derive(Clone, Copy)]
pub struct Token<'a> {
    pub(crate) sentence: &'a Sentence,
    row: usize,
}

impl<'a> Token<'a> {
    fn row(self) -> &'a Row {
        &self.sentence.rows[self.row]
    }

    /// Any column.
    pub fn column(self, column: Column) -> &'a str {
        let starts = &self.row().starts;
        let (start, end) = (starts[column as usize], starts[column as usize + 1] - 1);
        &self.sentence.text[start as usize..end as usize]
    }

    /// Which word, multiword token or empty node this is.
    pub fn id(self) -> Id {
        self.row().id
    }

    /// The number of the line in what was read, from 1.
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

    /// The morphological features, undivided.
    pub fn feats(self) -> &'a str {
        self.column(Column::Feats)
    }

    /// The features as `(name, value)`; the value is empty where there is no `=`, as in CoNLL-X.
    pub fn features(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        entries(self.feats())
    }

    /// The head of a word, 0 for the root; `None` if unknown, and for lines that are not words.
    pub fn head(self) -> Option<usize> {
        let head = self.sentence.heads[self.id().word()? - 1];
        (head != UNKNOWN).then_some(head as usize)
    }

    /// The relation to the head.
    pub fn deprel(self) -> &'a str {
        self.column(Column::Deprel)
    }

    /// The enhanced dependencies of CoNLL-U, undivided; `_` in CoNLL-X.
    pub fn deps(self) -> &'a str {
        self.column_in(Format::ConllU, Column::Deps)
    }

    /// The last column of CoNLL-U, undivided; `_` in CoNLL-X.
    pub fn misc(self) -> &'a str {
        self.column_in(Format::ConllU, Column::Misc)
    }

    /// The entries of MISC as `(key, value)`; the value is empty where there is no `=`.
    pub fn misc_entries(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        entries(self.misc())
    }

    /// The value of an entry of MISC.
    pub fn misc_entry(self, key: &str) -> Option<&'a str> {
        self.misc_entries().find(|(found, _)| *found == key).map(|(_, value)| value)
    }

    /// The projective head of CoNLL-X, as written; `_` in CoNLL-U.
    pub fn phead(self) -> &'a str {
        self.column_in(Format::ConllX, Column::Deps)
    }

    /// The relation to the projective head of CoNLL-X; `_` in CoNLL-U.
    pub fn pdeprel(self) -> &'a str {
        self.column_in(Format::ConllX, Column::Misc)
    }

    /// An error about a column of this line.
    pub(crate) fn malformed(self, column: Column, problem: Problem) -> Error {
        let place = Place { line: self.line(), column: Some(column), ..self.sentence.place() };
        Error::Malformed { place: Box::new(place), problem, line: self.as_str().to_owned() }
    }

    /// The whole line, without its end.
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

/// `a=b|c` as `(a, b), (c, "")`, `_` as nothing.
fn entries(field: &str) -> impl Iterator<Item = (&str, &str)> {
    let field = if field == "_" { "" } else { field };
    bars(field).filter(|entry| !entry.is_empty()).map(|e| halves(e, b'=').unwrap_or((e, "")))
}

/// What stands between the bars of a field. Fields are short and many: twice as fast as `split`.
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

/// What stands before and after the first of an ASCII character.
pub(crate) fn halves(text: &str, separator: u8) -> Option<(&str, &str)> {
    let at = text.bytes().position(|byte| byte == separator)?;
    Some((&text[..at], &text[at + 1..]))
}

/// The value of a comment `# key = value`.
pub(crate) fn comment_value<'a>(comment: &'a str, key: &str) -> Option<&'a str> {
    Some(after_key(comment, key)?.trim_start().strip_prefix('=')?.trim())
}

/// What follows the key of a comment.
pub(crate) fn after_key<'a>(comment: &'a str, key: &str) -> Option<&'a str> {
    comment.strip_prefix('#')?.trim_start().strip_prefix(key)
}

/// The `sent_id` among comments (and other lines, which are passed over).
pub(crate) fn find_sent_id<'a>(mut comments: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    comments.find_map(|comment| {
        let rest = after_key(comment, "sent_id")?;
        if !rest.starts_with([' ', '\t', '=']) {
            return None;
        }
        let rest = rest.trim();
        let id = rest.strip_prefix('=').unwrap_or(rest).trim();
        (!id.is_empty()).then_some(id)
    })
}
