//! An output file, and counts of what was written to it.

use std::io::{self, Write};
use std::ops::AddAssign;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Serialize;
use tutte::{Familiarity, Repair};
use tutte_treebank::draw::Drawing;
use tutte_treebank::{Output, Sentence, Writer, create};

use super::long::OfAllTrees;
use super::options::{Decode, Task};
use super::result::{Done, ParseResult};
use crate::failure::{cannot_write, usage};
use crate::input::note_untagged;
use crate::report::{count, counted};
use crate::session::Session;
use crate::verbs::draw::Kind;

/// Counts of sentences and words.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Tally {
    pub(crate) sentences: usize,
    pub(crate) words: usize,
    /// Sentences whose constraints contradict each other; they are left as they were.
    pub(crate) contradictions: usize,
    /// Sentences whose greedy heads do not form a tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) no_trees: Option<usize>,
    /// Sentences that were parsed without tags.
    #[serde(skip_serializing_if = "is_none")]
    pub(crate) untagged: usize,
    /// Heads left open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) open_heads: Option<usize>,
    /// Sentences whose best tree was replaced because of --at-most-one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) repaired: Option<usize>,
    /// Those among them whose tree is not certified to be the best.
    #[serde(skip_serializing_if = "is_none")]
    pub(crate) uncertified: usize,
    /// Sentences whose tree does not satisfy --at-most-one.
    #[serde(skip_serializing_if = "is_none")]
    pub(crate) not_repaired: usize,
    /// Sentences too long for a distribution over all trees; they have their best tree.
    #[serde(skip_serializing_if = "is_none")]
    pub(crate) too_long: usize,
    /// Counts of what the model does not know.
    #[serde(skip)]
    pub(crate) familiarity: Familiarity,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

/// A file, or standard output, that results are written to. A file appears when it is finished.
pub(crate) struct Page {
    path: PathBuf,
    writer: Writer<Output>,
    /// Standard output, a pipe or a device: others can see what is written before the end.
    is_live: bool,
    /// Writes CoNLL, and so what followed the last sentence of the input.
    has_tail: bool,
    /// Drawings so far with their titles, and the format of the picture that they become.
    picture: Option<(Kind, Vec<(String, Drawing)>)>,
    of_all_trees: OfAllTrees,
    tally: Tally,
}

impl Page {
    /// Most drawings of a picture. They are all in memory, and nobody scrolls further.
    const MOST_DRAWINGS: usize = 1000;

    pub(crate) fn create(path: &Path, task: &Task<'_>) -> Result<Self> {
        let writer = create(path)?;
        let tally = Tally::new(task);
        let has_tail = !task.jsonl && task.style.is_none();
        let of_all_trees = OfAllTrees::new(task);
        let is_special = || path.metadata().is_ok_and(|about| !about.is_file());
        let is_live = path == Path::new("-") || is_special();
        let picture = task.picture.map(|kind| (kind, Vec::new()));
        Ok(Self { path: path.to_owned(), writer, is_live, has_tail, picture, of_all_trees, tally })
    }

    /// Flushes what was written, unless it goes to a file that appears when it is finished.
    pub(crate) fn flush(&mut self) -> Result<()> {
        let Self { writer, path, is_live, .. } = self;
        if *is_live { writer.flush().with_context(|| cannot_write(path)) } else { Ok(()) }
    }

    /// Writes the result for a sentence. Reports contradictions, and sentences that are too long, at once.
    pub(crate) fn write(
        &mut self,
        sentence: &Sentence,
        mut result: ParseResult,
        session: &Session,
    ) -> Result<()> {
        let first = self.tally.sentences == 0;
        self.tally.add(sentence, &result);
        if let Some(contradiction) = result.contradiction {
            session.complain(&contradiction.into());
        } else if let Some(left_out) = self.of_all_trees.left_out_of(sentence) {
            self.tally.too_long += 1;
            session.warn(&left_out);
        }
        let Self { writer, path, picture, .. } = self;
        if let (Done::Pictures(new), Some((_, drawings))) = (&mut result.done, picture) {
            drawings.append(new);
            if drawings.len() > Self::MOST_DRAWINGS {
                let name = path.display();
                return Err(usage(format!(
                    "{name} would show more than {} trees; write CoNLL-U with -o trees.conllu, and draw some with \
                     `tutte draw trees.conllu -n 10 -o {name}`",
                    count(Self::MOST_DRAWINGS)
                )));
            }
        }
        if !first && matches!(&result.done, Done::Drawings(drawings) if !drawings.is_empty()) {
            writer.write_tail("\n").with_context(|| cannot_write(path))?;
        }
        write(writer, sentence, result.done).with_context(|| cannot_write(path))
    }

    /// Finishes the file with the text that followed the last sentence of the input.
    pub(crate) fn finish(self, tail: &str) -> Result<Tally> {
        let Self { path, mut writer, has_tail, tally, picture, .. } = self;
        let cannot_write = || cannot_write(&path);
        if has_tail {
            writer.write_tail(tail).with_context(cannot_write)?;
        }
        let mut output = writer.finish().with_context(cannot_write)?;
        if let Some((kind, drawings)) = picture {
            let is_one = drawings.len() == 1;
            let captioned = |(number, (title, drawing)): (usize, (String, Drawing))| {
                if is_one {
                    drawing
                } else if title.is_empty() {
                    drawing.with_caption(&format!("sentence {number}"))
                } else {
                    drawing.with_caption(&title)
                }
            };
            let drawings: Vec<Drawing> = (1..).zip(drawings).map(captioned).collect();
            output.write_all(&kind.draw_all(&drawings)?).with_context(cannot_write)?;
        }
        output.commit()?;
        Ok(tally)
    }
}

/// Writes the output for a sentence. An empty line separates its drawings.
pub(crate) fn write<W: Write>(
    writer: &mut Writer<W>,
    sentence: &Sentence,
    done: Done,
) -> io::Result<()> {
    match done {
        Done::Sentence => writer.write(sentence),
        Done::Blocks(blocks) => blocks.iter().try_for_each(|block| writer.write(block)),
        Done::Line(line) => writer.write_tail(&line),
        Done::Drawings(drawings) => writer.write_tail(&drawings.join("\n")),
        // Written when all sentences are known.
        Done::Pictures(_) => Ok(()),
    }
}

impl Tally {
    /// Makes counts of zero.
    pub(crate) fn new(task: &Task<'_>) -> Self {
        Self {
            no_trees: (task.wanted.decode == Decode::Greedy).then_some(0),
            open_heads: task.min_prob.map(|_| 0),
            repaired: task.label_limits.as_ref().filter(|it| !it.is_empty()).map(|_| 0),
            ..Self::default()
        }
    }

    fn add(&mut self, sentence: &Sentence, result: &ParseResult) {
        self.sentences += 1;
        self.words += sentence.len();
        self.untagged += usize::from(result.is_untagged);
        self.familiarity += result.familiarity.clone();
        self.contradictions += usize::from(result.contradiction.is_some());
        self.no_trees = self.no_trees.map(|n| n + usize::from(result.not_a_tree));
        self.open_heads = self.open_heads.map(|n| n + result.open_heads);
        let is_repaired = matches!(result.repair, Repair::Certified | Repair::Uncertified);
        // The limits of the model are no wish of the user's, so nothing is reported of them.
        if let Some(repaired) = &mut self.repaired {
            *repaired += usize::from(is_repaired);
            self.uncertified += usize::from(result.repair == Repair::Uncertified);
            self.not_repaired += usize::from(result.repair == Repair::Failed);
        }
    }

    /// Prints notes about untagged sentences, contradictions and open heads.
    pub(crate) fn tell(&self, session: &Session) {
        note_untagged(self.untagged, self.sentences, session);
        if self.contradictions > 0 {
            let left = match self.contradictions {
                1 => "it is left as it was",
                _ => "they are left as they were",
            };
            let sentences = counted(self.contradictions, "sentence");
            session.note(format!("what is given for {sentences} cannot be; {left}"));
        }
        if let Some(no_trees) = self.no_trees.filter(|no_trees| *no_trees > 0) {
            let of = counted(self.sentences, "sentence");
            session.note(format!(
                "greedy heads are chosen word by word: those of {} of {of} make no tree",
                count(no_trees)
            ));
        }
        if let Some(open) = self.open_heads {
            let of = counted(self.words, "head");
            session.note(format!("{} of {of} left open", count(open)));
        }
        if let Some(repaired) = self.repaired {
            let of = counted(self.sentences, "sentence");
            let uncertified = match self.uncertified {
                0 => String::new(),
                some => format!("; {} may not be the best", count(some)),
            };
            session.note(format!(
                "--at-most-one changed the trees of {} of {of}{uncertified}",
                count(repaired)
            ));
        }
        if self.not_repaired > 0 {
            let sentences = counted(self.not_repaired, "sentence");
            session.note(format!(
                "what is given for {sentences} leaves no tree with --at-most-one; these have one without it"
            ));
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        let sum = |a: Option<usize>, b: Option<usize>| a.map(|a| a + b.unwrap_or(0)).or(b);
        self.sentences += other.sentences;
        self.words += other.words;
        self.contradictions += other.contradictions;
        self.untagged += other.untagged;
        self.too_long += other.too_long;
        self.familiarity += other.familiarity;
        self.no_trees = sum(self.no_trees, other.no_trees);
        self.open_heads = sum(self.open_heads, other.open_heads);
        self.repaired = sum(self.repaired, other.repaired);
        self.uncertified += other.uncertified;
        self.not_repaired += other.not_repaired;
    }
}
