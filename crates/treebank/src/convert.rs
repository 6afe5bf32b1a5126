//! Conversion between formats, and other changes that leave the words alone.
//!
//! Columns 1 to 8 mean the same in both formats and are copied value by value:
//!
//! ```text
//! CoNLL-U    ID  FORM  LEMMA  UPOS     XPOS    FEATS  HEAD  DEPREL  DEPS   MISC
//! CoNLL-X    ID  FORM  LEMMA  CPOSTAG  POSTAG  FEATS  HEAD  DEPREL  PHEAD  PDEPREL
//! ```
//!
//! CoNLL-X has no comments, multiword tokens, empty nodes, DEPS or MISC, so they are left out, and
//! white space inside a value becomes `_`. CoNLL-U has no PHEAD and PDEPREL, so they are left out.
//! Nothing is invented: PHEAD and DEPS are `_`, and labels and features are copied as they are
//! (they do not become universal). A blank value becomes `_`. Line ends are kept. A sentence that
//! is already in the target format stays the same, byte for byte. The converter counts what is
//! lost.
//!
//! Conversion costs one pass over the text. [`Sentence::projectivise`] costs O(n³) for a tree that
//! is not projective.

use crate::notes::{PROBABILITIES, without};
use crate::sentence::{Row, Span, UNKNOWN};
use crate::{Column, Error, Format, Id, Sentence};

/// Converts sentences to a format and counts what is lost.
///
/// ```
/// use tutte_treebank::{Converter, Format, Sentence};
///
/// let mut sentence: Sentence = "\
/// ## text = Wanna sip?
/// 1-2\tWanna\t_\t_\t_\t_\t_\t_\t_\t_
/// 1\tWan\twant\tVERB\tVBP\t_\t0\troot\t0:root\t_
/// 2\tna\tto\tPART\tTO\t_\t3\tmark\t3:mark\t_
/// 3\tsip\tsip\tVERB\tVB\t_\t1\txcomp\t1:xcomp\tSpaceAfter=No
///
/// "
/// .parse()?;
/// let mut converter = Converter::new(Format::ConllX);
/// converter.convert(&mut sentence);
/// assert_eq!(
///     sentence.as_str(),
///     "1\tWan\twant\tVERB\tVBP\t_\t0\troot\t_\t_\n\
///      2\tna\tto\tPART\tTO\t_\t3\tmark\t_\t_\n\
///      3\tsip\tsip\tVERB\tVB\t_\t1\txcomp\t_\t_\n\n"
/// );
/// let lost = converter.losses();
/// assert_eq!((lost.comments, lost.multiword_tokens, lost.deps, lost.misc), (1, 1, 3, 1));
/// # Ok::<(), tutte_treebank::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Converter {
    to: Format,
    pos: Option<ConllxPos>,
    losses: Losses,
}

/// Source of the two tags of CoNLL-X. By default, CPOSTAG comes from UPOS and POSTAG from XPOS.
///
/// Parsers that read CoNLL-X use POSTAG, and many CoNLL-U treebanks have no XPOS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConllxPos {
    /// POSTAG is XPOS, or UPOS where XPOS is `_`. CPOSTAG is UPOS, or XPOS where UPOS is `_`.
    Xpos,
    /// Both are UPOS, or XPOS where UPOS is `_`.
    Upos,
}

/// Counts of what was lost in a conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Losses {
    /// Comment lines.
    pub comments: usize,
    /// Multiword tokens; their words are kept.
    pub multiword_tokens: usize,
    /// Empty nodes.
    pub empty_nodes: usize,
    /// Words with a value in DEPS.
    pub deps: usize,
    /// Words with a value in MISC.
    pub misc: usize,
    /// Words with a value in PHEAD or PDEPREL.
    pub pheads: usize,
    /// Values in which white space became `_`.
    pub spaces: usize,
    /// Words with a universal tag whose POSTAG is `_`. Nothing is lost, but see [`ConllxPos`].
    pub without_postag: usize,
}

impl Converter {
    /// Returns a converter to a format that takes each tag from its own column.
    pub fn new(to: Format) -> Self {
        Self { to, pos: None, losses: Losses::default() }
    }

    /// Sets where the tags of CoNLL-X come from.
    pub fn with_conllx_pos(self, pos: ConllxPos) -> Self {
        Self { pos: Some(pos), ..self }
    }

    /// Target format.
    pub fn format(&self) -> Format {
        self.to
    }

    /// Returns the losses so far.
    pub fn losses(&self) -> Losses {
        self.losses
    }

    /// Converts a sentence.
    pub fn convert(&mut self, sentence: &mut Sentence) {
        if sentence.format == self.to {
            return;
        }
        let newline = if sentence.text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut text = String::with_capacity(sentence.text.len());
        let mut comments = Vec::new();
        if self.to == Format::ConllU {
            // A CoNLL-X sentence has comments only if the caller chose the format.
            for comment in sentence.comments() {
                let start = text.len() as u32;
                // A stray `\r` before the new line end would become part of it.
                text.push_str(comment.trim_end_matches('\r'));
                comments.push(Span { start, end: text.len() as u32 });
                text.push_str(newline);
            }
        } else {
            self.losses.comments += sentence.comments.len();
        }
        let mut rows = Vec::with_capacity(sentence.words.len());
        for (token, row) in sentence.tokens().zip(&sentence.rows) {
            let lost = match token.id() {
                Id::Word(_) => None,
                Id::Multiword(..) => Some(&mut self.losses.multiword_tokens),
                Id::Empty(..) => Some(&mut self.losses.empty_nodes),
            };
            if let Some(lost) = lost {
                *lost += 1;
                continue;
            }
            let mut values = Column::ALL.map(|column| token.column(column));
            self.convert_values(&mut values);
            let mut starts = [0; 11];
            for (start, value) in starts.iter_mut().zip(values) {
                *start = text.len() as u32;
                self.push(value, &mut text);
                text.push('\t');
            }
            text.pop();
            starts[10] = text.len() as u32 + 1;
            text.push_str(newline);
            rows.push(Row { id: row.id, line: row.line, starts });
        }
        text.push_str(newline);
        sentence.words = (0..rows.len() as u32).collect();
        sentence.rows = rows;
        sentence.comments = comments;
        sentence.text = text;
        sentence.format = self.to;
    }

    /// Changes the ten values of a word to those of the new format.
    fn convert_values(&mut self, values: &mut [&str; 10]) {
        let [.., upos, xpos, _, _, _, ninth, tenth] = values;
        match self.to {
            Format::ConllU => {
                self.losses.pheads += usize::from(has_value(ninth) || has_value(tenth));
            }
            Format::ConllX => {
                self.losses.deps += usize::from(has_value(ninth));
                self.losses.misc += usize::from(has_value(tenth));
                let or = |first, second| if has_value(first) { first } else { second };
                (*upos, *xpos) = match self.pos {
                    None => (*upos, *xpos),
                    Some(ConllxPos::Xpos) => (or(*upos, *xpos), or(*xpos, *upos)),
                    Some(ConllxPos::Upos) => (or(*upos, *xpos), or(*upos, *xpos)),
                };
                self.losses.without_postag += usize::from(has_value(upos) && !has_value(xpos));
            }
        }
        (*ninth, *tenth) = ("_", "_");
    }

    fn push(&mut self, value: &str, text: &mut String) {
        if !has_value(value) {
            self.losses.spaces += usize::from(!value.is_empty() && value != "_");
            text.push('_');
        } else if self.to == Format::ConllX && value.contains(char::is_whitespace) {
            self.losses.spaces += 1;
            text.extend(value.chars().map(|c| if c.is_whitespace() { '_' } else { c }));
        } else {
            text.push_str(value);
        }
    }
}

/// True if a value is neither `_` nor blank.
fn has_value(value: &str) -> bool {
    value != "_" && !value.trim().is_empty()
}

/// Prefix of the comments that tutte writes.
const TUTTE_COMMENT_PREFIX: &str = "tutte_";

impl Sentence {
    /// Makes the tree projective with as few new heads as possible, and returns their number.
    ///
    /// The new tree is that of [`Tree::projectivise`](tutte_trees::Tree::projectivise), the closest
    /// projective tree. Most moved words are lifted to an ancestor of their head. A word moves
    /// elsewhere if that keeps more of the other heads. Labels and all other bytes stay. A
    /// projective sentence does not change.
    ///
    /// # Errors
    /// If the heads are not a tree, see [`Sentence::tree`]. [`Error::TooManyWords`] for a sentence
    /// with crossing arcs and more than [`LONGEST_DISTRIBUTION`](crate::LONGEST_DISTRIBUTION) words.
    pub fn projectivise(&mut self) -> Result<usize, Error> {
        let tree = self.tree()?;
        if tree.is_projective() {
            return Ok(0);
        }
        self.check_words("projectivising")?;
        let projective = tree.projectivise();
        let moved = tree.heads().iter().zip(projective.heads()).filter(|(a, b)| a != b).count();
        self.set_tree(&projective)?;
        Ok(moved)
    }

    /// Removes the analysis. HEAD, DEPREL and DEPS (or PHEAD and PDEPREL) become `_` in all lines.
    /// The entries of MISC about the analysis ([`PROBABILITIES`]) and comments `# tutte_… = …` are
    /// removed. Everything else stays: the result is the input of a parser.
    ///
    /// # Errors
    /// [`Error::TooLong`] for a sentence of half a gigabyte with empty columns.
    pub fn strip_heads(&mut self) -> Result<(), Error> {
        let lines = self.rows.len();
        for column in [Column::Head, Column::Deprel, Column::Deps] {
            self.rewrite(column, lines, |_, _, out| out.push('_'))?;
        }
        self.heads.fill(UNKNOWN);
        match self.format {
            Format::ConllX => self.rewrite(Column::Misc, lines, |_, _, out| out.push('_')),
            Format::ConllU => {
                self.remove_comments(TUTTE_COMMENT_PREFIX);
                self.rewrite(Column::Misc, 0, |_, misc, out| {
                    out.push_str(&without(misc, &PROBABILITIES))
                })
            }
        }
    }
}
