//! A sentence in the other format, and other changes that leave its words alone.
//!
//! Columns 1 to 8 mean the same in both formats and are copied, value by value:
//!
//! ```text
//! CoNLL-U    ID  FORM  LEMMA  UPOS     XPOS    FEATS  HEAD  DEPREL  DEPS   MISC
//! CoNLL-X    ID  FORM  LEMMA  CPOSTAG  POSTAG  FEATS  HEAD  DEPREL  PHEAD  PDEPREL
//! ```
//!
//! To CoNLL-X, which has no room for them, comments, multiword tokens, empty nodes, DEPS and MISC
//! are left out, and white space inside a value becomes `_`. To CoNLL-U, PHEAD and PDEPREL are left
//! out. Nothing is made up: PHEAD and DEPS are `_`, labels and features stay what they were (those
//! of an old treebank do not become universal by a change of format). A blank value becomes `_`.
//! Lines end as they did in the sentence. A sentence that is in the format already stays as it is,
//! to the byte. What is lost is counted.
//!
//! All of it costs one pass over the text; [`Sentence::projectivise`] costs O(n³) where the tree is
//! not projective.

use crate::notes::{PROBABILITIES, without};
use crate::sentence::{Row, Span, UNKNOWN};
use crate::{Column, Error, Format, Id, Sentence};

/// Turns sentences into a format and counts what is lost on the way.
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

/// Where the tags of CoNLL-X come from, if not each from its own column: CPOSTAG from UPOS, POSTAG
/// from XPOS. Parsers that read CoNLL-X look at POSTAG, and many a CoNLL-U treebank has no XPOS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConllxPos {
    /// POSTAG is XPOS, and where that is `_`, UPOS; CPOSTAG is UPOS, and where that is `_`, XPOS.
    Xpos,
    /// Both are UPOS, and where that is `_`, XPOS.
    Upos,
}

/// What did not survive a conversion.
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
    /// Words whose DEPS said something.
    pub deps: usize,
    /// Words whose MISC said something.
    pub misc: usize,
    /// Words whose PHEAD or PDEPREL said something.
    pub pheads: usize,
    /// Values in which white space became `_`.
    pub spaces: usize,
    /// Words with a universal tag whose POSTAG is `_`. Not lost, but missed: see [`ConllxPos`].
    pub without_postag: usize,
}

impl Converter {
    /// Converts to that format, tags each from its own column.
    pub fn new(to: Format) -> Self {
        Self { to, pos: None, losses: Losses::default() }
    }

    /// Takes the tags of CoNLL-X from elsewhere.
    pub fn with_conllx_pos(self, pos: ConllxPos) -> Self {
        Self { pos: Some(pos), ..self }
    }

    /// The format to convert to.
    pub fn format(&self) -> Format {
        self.to
    }

    /// What was lost so far.
    pub fn losses(&self) -> Losses {
        self.losses
    }

    /// Puts a sentence into the format.
    pub fn convert(&mut self, sentence: &mut Sentence) {
        if sentence.format == self.to {
            return;
        }
        let newline = if sentence.text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut text = String::with_capacity(sentence.text.len());
        let mut comments = Vec::new();
        if self.to == Format::ConllU {
            // In CoNLL-X only if someone said that this is CoNLL-X.
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
            self.choose(&mut values);
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

    /// The ten values of a word in the new format.
    fn choose(&mut self, values: &mut [&str; 10]) {
        let [.., upos, xpos, _, _, _, ninth, tenth] = values;
        match self.to {
            Format::ConllU => {
                self.losses.pheads += usize::from(!says_nothing(ninth) || !says_nothing(tenth));
            }
            Format::ConllX => {
                self.losses.deps += usize::from(!says_nothing(ninth));
                self.losses.misc += usize::from(!says_nothing(tenth));
                let or = |first, second| if says_nothing(first) { second } else { first };
                (*upos, *xpos) = match self.pos {
                    None => (*upos, *xpos),
                    Some(ConllxPos::Xpos) => (or(*upos, *xpos), or(*xpos, *upos)),
                    Some(ConllxPos::Upos) => (or(*upos, *xpos), or(*upos, *xpos)),
                };
                self.losses.without_postag +=
                    usize::from(says_nothing(xpos) && !says_nothing(upos));
            }
        }
        (*ninth, *tenth) = ("_", "_");
    }

    fn push(&mut self, value: &str, text: &mut String) {
        if says_nothing(value) {
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

/// Whether a value is `_`, or should have been.
fn says_nothing(value: &str) -> bool {
    value == "_" || value.trim().is_empty()
}

/// Comments that a parser of ours leaves.
const PARSER_COMMENTS: &str = "tutte_";

impl Sentence {
    /// Changes as few heads as possible so that no two arcs cross, and says how many: the heads become
    /// those of [`Tree::projectivise`](tutte_trees::Tree::projectivise), the closest projective tree.
    /// Most words that move are lifted to an ancestor of their head, but not all: where that keeps
    /// more of the other heads, a word moves elsewhere. Labels, and every other byte, stay; a
    /// projective sentence stays as it is.
    ///
    /// # Errors
    /// If the heads are no tree, see [`Sentence::tree`]; [`Error::TooManyWords`] for a sentence with
    /// crossing arcs and more than 5,000 words, which would take minutes and gigabytes.
    pub fn projectivise(&mut self) -> Result<usize, Error> {
        const MOST_WORDS: usize = 5_000;
        let tree = self.tree()?;
        if tree.is_projective() {
            return Ok(0);
        }
        if self.len() > MOST_WORDS {
            return Err(Error::TooManyWords {
                place: Box::new(self.place()),
                words: self.len(),
                task: "projectivising",
                limit: MOST_WORDS,
            });
        }
        let projective = tree.projectivise();
        let moved = tree.heads().iter().zip(projective.heads()).filter(|(a, b)| a != b).count();
        self.set_tree(&projective)?;
        Ok(moved)
    }

    /// Removes the analysis: HEAD, DEPREL, DEPS or PHEAD and PDEPREL become `_` in all lines, the
    /// entries of MISC that speak of it ([`PROBABILITIES`]) and comments `# tutte_… = …` go.
    /// Everything else stays: what a parser is given, not what it gives.
    ///
    /// # Errors
    /// [`Error::TooLong`], for a sentence of half a gigabyte with empty columns.
    pub fn strip_heads(&mut self) -> Result<(), Error> {
        let lines = self.rows.len();
        for column in [Column::Head, Column::Deprel, Column::Deps] {
            self.rewrite(column, lines, |_, _, out| out.push('_'))?;
        }
        self.heads.fill(UNKNOWN);
        match self.format {
            Format::ConllX => self.rewrite(Column::Misc, lines, |_, _, out| out.push('_')),
            Format::ConllU => {
                self.remove_comments(PARSER_COMMENTS);
                self.rewrite(Column::Misc, 0, |_, misc, out| {
                    out.push_str(&without(misc, &PROBABILITIES))
                })
            }
        }
    }
}
