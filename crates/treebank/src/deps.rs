//! Enhanced dependencies: the graph in column DEPS of CoNLL-U.
//!
//! A word or an empty node may have any number of heads: `4:nsubj|5.1:obj:of`. Each entry is a head
//! (a word, an empty node or 0 for the root), a colon and a label. A label may contain colons.
//! Entries are sorted by head (Schuster & Manning 2016; Nivre et al. 2020).

use crate::sentence::{bars, halves};
use crate::{Column, Error, Format, Id, Problem, Sentence, Token};

impl<'a> Token<'a> {
    /// Returns the enhanced dependencies as `(head, label)`, in the order of the file. The root is
    /// `Id::Word(0)`. There are none where DEPS is `_`, and in CoNLL-X.
    ///
    /// Reading a sentence does not check DEPS; this method does.
    ///
    /// ```
    /// use tutte_treebank::{Id, Sentence};
    /// let sentence: Sentence = "\
    /// 1\tTea\ttea\tNOUN\t_\t_\t0\troot\t0:root\t_
    /// 1.1\tis\tbe\tVERB\t_\t_\t_\t_\t1:cop\t_
    /// 2\thot\thot\tADJ\t_\t_\t1\tamod\t1:amod|1.1:xcomp|9:oops\t_
    /// ".parse()?;
    /// let mut heads = sentence.word(2).unwrap().enhanced();
    /// assert_eq!(heads.next().unwrap()?, (Id::Word(1), "amod"));
    /// assert_eq!(heads.next().unwrap()?, (Id::Empty(1, 1), "xcomp"));
    /// assert_eq!(
    ///     heads.next().unwrap().unwrap_err().to_string(),
    ///     "input:3:9: DEPS names the head 9, but this sentence has no such word"
    /// );
    /// # Ok::<(), tutte_treebank::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Malformed`] for an entry that is not a head and a label, or whose head is not in
    /// the sentence.
    pub fn enhanced(self) -> impl Iterator<Item = Result<(Id, &'a str), Error>> {
        let deps = if self.deps() == "_" { None } else { Some(self.deps()) };
        deps.into_iter().flat_map(bars).map(move |entry| {
            self.dependency(entry).map_err(|problem| self.malformed(Column::Deps, problem))
        })
    }

    fn dependency(self, entry: &'a str) -> Result<(Id, &'a str), Problem> {
        let parts = halves(entry, b':').filter(|(_, label)| !label.is_empty());
        let parsed = parts.and_then(|(head, label)| Some((head.parse().ok()?, label)));
        match parsed {
            Some((found, _)) if !self.sentence.is_head(found) => Err(Problem::NoSuchNode { found }),
            Some(dependency) => Ok(dependency),
            None => Err(Problem::BadDependency { found: entry.to_owned() }),
        }
    }
}

impl Sentence {
    /// Sets the enhanced dependencies of a word or an empty node. They are sorted by head and
    /// label, and duplicates are removed.
    ///
    /// # Errors
    /// If there is no such node, a head is not in the sentence, a label cannot be written, or the
    /// format is CoNLL-X, which has no DEPS.
    pub fn set_enhanced<S: AsRef<str>>(
        &mut self,
        id: impl Into<Id>,
        dependencies: &[(Id, S)],
    ) -> Result<(), Error> {
        let id = id.into();
        let bad = |value: String, expected| {
            let column = Column::Deps.name(Format::ConllU);
            Err(Error::BadValue { id, column, value, expected })
        };
        if self.format != Format::ConllU {
            return bad(String::new(), "CoNLL-X has no column DEPS; convert to CoNLL-U first");
        }
        if matches!(id, Id::Multiword(..)) && !dependencies.is_empty() {
            return bad(String::new(), "only words and empty nodes have heads");
        }
        let mut sorted: Vec<(Id, &str)> =
            dependencies.iter().map(|(head, label)| (*head, label.as_ref())).collect();
        for &(head, label) in &sorted {
            if !self.is_head(head) {
                return bad(
                    head.to_string(),
                    "a head is a word or empty node of the sentence, or 0",
                );
            }
            if label.is_empty() || label.contains('|') {
                return bad(label.to_owned(), "a label must not be empty or contain |");
            }
        }
        sorted.sort_by_key(|&(head, label)| match head {
            Id::Empty(after, number) => (after, number, label),
            _ => (head.first(), 0, label),
        });
        sorted.dedup();
        let entries: Vec<_> =
            sorted.iter().map(|(head, label)| format!("{head}:{label}")).collect();
        let deps = if entries.is_empty() { "_".to_owned() } else { entries.join("|") };
        self.set(id, Column::Deps, &deps)
    }

    /// True if a node can have dependents in the enhanced graph.
    fn is_head(&self, head: Id) -> bool {
        match head {
            Id::Word(word) => word <= self.len(),
            Id::Multiword(..) => false,
            Id::Empty(after, _) => {
                // Empty nodes stand between two words.
                let start = match after.checked_sub(1).map(|before| self.words.get(before)) {
                    None => 0,
                    Some(Some(&row)) => row as usize + 1,
                    Some(None) => return false,
                };
                let ids = self.rows[start..].iter().map(|row| row.id);
                ids.take_while(|id| id.word().is_none()).any(|id| id == head)
            }
        }
    }
}
