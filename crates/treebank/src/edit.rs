//! Editing a sentence: only the named columns change.

use std::ops::Range;

use memchr::memchr;
use tutte_trees::Tree;

use crate::buffer::LONGEST;
use crate::id::number;
use crate::sentence::{Span, UNKNOWN, after_key, comment_value};
use crate::{Column, Error, Format, Id, Sentence};

/// The tags of a word, as a tagger assigns them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Morphology<'a> {
    /// The lemma. With `None`, the word keeps its own.
    pub lemma: Option<&'a str>,
    /// The coarse tag, UPOS.
    pub upos: &'a str,
    /// The fine tag, XPOS.
    pub xpos: &'a str,
    /// The morphological features.
    pub feats: &'a str,
}

impl<'a> Morphology<'a> {
    fn columns(self) -> impl Iterator<Item = (Column, &'a str)> {
        let columns = [Column::Lemma, Column::Upos, Column::Xpos, Column::Feats];
        columns.into_iter().filter_map(move |column| Some((column, self.value(column)?)))
    }

    fn value(self, column: Column) -> Option<&'a str> {
        match column {
            Column::Lemma => self.lemma,
            Column::Upos => Some(self.upos),
            Column::Xpos => Some(self.xpos),
            Column::Feats => Some(self.feats),
            _ => None,
        }
    }
}

impl Sentence {
    /// Sets the head of a word: 0 for the root, `None` for an unknown head. In CoNLL-X, PHEAD does
    /// not change.
    ///
    /// # Errors
    /// If the word or the head does not exist, or both are the same.
    pub fn set_head(&mut self, word: usize, head: Option<usize>) -> Result<(), Error> {
        match head {
            None => self.set(word, Column::Head, "_"),
            Some(head) => self.set(word, Column::Head, &head.to_string()),
        }
    }

    /// Sets the heads of all words, for instance to [`partial_heads`](Sentence::partial_heads) of
    /// another sentence.
    ///
    /// # Errors
    /// If the number of heads is not the number of words, or a head is not valid. Then nothing
    /// changes.
    pub fn set_heads(&mut self, heads: &[Option<usize>]) -> Result<(), Error> {
        self.check_length(heads.len())?;
        for (word, head) in (1..).zip(heads) {
            self.check_head(word, *head)?;
        }
        self.rewrite(Column::Head, 20 * heads.len(), |id, old, out| {
            match id.word().map(|word| heads[word - 1]) {
                None => out.push_str(old),
                Some(None) => out.push('_'),
                Some(Some(head)) => push_number(out, head),
            }
        })?;
        self.keep_heads(heads);
        Ok(())
    }

    /// Sets the heads and labels of all words, and clears DEPS unless `keeps_deps`: an enhanced graph belongs to the tree
    /// that was there before. CoNLL-X has no DEPS. Takes one pass, where the functions for single columns take three.
    ///
    /// ```
    /// use tutte_treebank::Sentence;
    /// let mut sentence: Sentence =
    ///     "1\tTea\ttea\tNOUN\t_\t_\t2\tobj\t2:obj\t_\n2\tcools\tcool\tVERB\t_\t_\t0\troot\t0:root\t_\n".parse()?;
    /// sentence.set_arcs(&[Some(2), Some(0)], &["nsubj", "root"], false)?;
    /// assert_eq!(sentence.word(1).unwrap().deprel(), "nsubj");
    /// assert_eq!(sentence.word(1).unwrap().deps(), "_");
    /// # Ok::<(), tutte_treebank::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the number of heads or labels is not that of words, a head is not a word or 0, or a label contains a tab or
    /// a line end. Then nothing changes.
    pub fn set_arcs<S: AsRef<str>>(
        &mut self,
        heads: &[Option<usize>],
        labels: &[S],
        keeps_deps: bool,
    ) -> Result<(), Error> {
        self.check_length(heads.len())?;
        self.check_length(labels.len())?;
        let mut added = 20 * heads.len();
        for ((word, head), label) in (1..).zip(heads).zip(labels) {
            self.check_head(word, *head)?;
            self.check_value(Id::Word(word), Column::Deprel, label.as_ref())?;
            added += label.as_ref().len();
        }
        // CoNLL-X has other columns after DEPREL.
        let is_last = keeps_deps || self.format() == Format::ConllX;
        let last = if is_last { Column::Deprel } else { Column::Deps };
        added += 2 * self.rows.len();
        self.rewrite_span(Column::Head, last, added, |id, column, old, out| {
            match (column, id.word()) {
                (Column::Deps, _) => out.push('_'),
                (_, None) => out.push_str(old),
                (Column::Head, Some(word)) => match heads[word - 1] {
                    None => out.push('_'),
                    Some(head) => push_number(out, head),
                },
                (_, Some(word)) => out.push_str(labels[word - 1].as_ref()),
            }
        })?;
        self.keep_heads(heads);
        Ok(())
    }

    /// Sets the heads that are kept beside the text.
    fn keep_heads(&mut self, heads: &[Option<usize>]) {
        self.heads.clear();
        self.heads.extend(heads.iter().map(|head| head.map_or(UNKNOWN, |head| head as u32)));
    }

    /// Sets the heads of all words to those of a tree.
    ///
    /// # Errors
    /// If the tree has another number of words.
    pub fn set_tree(&mut self, tree: &Tree) -> Result<(), Error> {
        let heads: Vec<Option<usize>> = tree.heads().iter().map(|&head| Some(head)).collect();
        self.set_heads(&heads)
    }

    /// Sets the label of a word.
    ///
    /// # Errors
    /// If there is no such word, or the label contains a tab or a line end.
    pub fn set_deprel(&mut self, word: usize, label: &str) -> Result<(), Error> {
        self.set(word, Column::Deprel, label)
    }

    /// Sets the labels of all words.
    ///
    /// # Errors
    /// If the number of labels is not the number of words, or a label is not valid. Then nothing
    /// changes.
    pub fn set_deprels<S: AsRef<str>>(&mut self, labels: &[S]) -> Result<(), Error> {
        self.check_length(labels.len())?;
        let mut added = 0;
        for (word, label) in (1..).zip(labels) {
            self.check_value(Id::Word(word), Column::Deprel, label.as_ref())?;
            added += label.as_ref().len();
        }
        self.rewrite(Column::Deprel, added, |id, old, out| {
            out.push_str(id.word().map_or(old, |word| labels[word - 1].as_ref()));
        })
    }

    /// Sets the tags of all words, and their lemmas where given.
    ///
    /// ```
    /// use tutte_treebank::{Morphology, Sentence};
    /// let mut sentence: Sentence = "1\tTea\ttea\t_\t_\t_\t0\troot\t_\t_\n".parse()?;
    /// let tags = Morphology { lemma: None, upos: "NOUN", xpos: "NN", feats: "Number=Sing" };
    /// sentence.set_morphology(&[tags])?;
    /// assert_eq!(sentence.as_str(), "1\tTea\ttea\tNOUN\tNN\tNumber=Sing\t0\troot\t_\t_\n");
    /// # Ok::<(), tutte_treebank::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the number of items is not the number of words, or a value is not valid. Then nothing
    /// changes.
    pub fn set_morphology(&mut self, words: &[Morphology<'_>]) -> Result<(), Error> {
        self.check_length(words.len())?;
        let mut added = 0;
        for (word, morphology) in (1..).zip(words) {
            for (column, value) in morphology.columns() {
                self.check_value(Id::Word(word), column, value)?;
                added += value.len();
            }
        }
        self.rewrite_span(Column::Lemma, Column::Feats, added, |id, column, old, out| {
            let new = id.word().and_then(|word| words[word - 1].value(column));
            out.push_str(new.unwrap_or(old));
        })
    }

    /// Sets any column except ID of a word (by its number), a multiword token or an empty node.
    ///
    /// # Errors
    /// If there is no such line, or the value is not valid in the column.
    pub fn set(&mut self, id: impl Into<Id>, column: Column, value: &str) -> Result<(), Error> {
        let id = id.into();
        if !self.rows.iter().any(|row| row.id == id) {
            return Err(Error::NoSuchLine { id, words: self.len() });
        }
        self.check_value(id, column, value)?;
        self.rewrite(column, value.len(), |other, old, out| {
            out.push_str(if other == id { value } else { old });
        })?;
        if let (Id::Word(word), Column::Head) = (id, column) {
            self.heads[word - 1] = number(value.as_bytes()).map_or(UNKNOWN, |head| head as u32);
        }
        Ok(())
    }

    /// Sets the entry `key=value` of MISC, in its place or at the end. With `None`, removes it.
    ///
    /// # Errors
    /// If there is no such line, the key or the value cannot be written, or the format is CoNLL-X,
    /// which has no MISC.
    pub fn set_misc(
        &mut self,
        id: impl Into<Id>,
        key: &str,
        value: Option<&str>,
    ) -> Result<(), Error> {
        let id = id.into();
        self.check_misc(id, key, value)?;
        let Some(token) = self.tokens().find(|token| token.id() == id) else {
            return Err(Error::NoSuchLine { id, words: self.len() });
        };
        let mut new = value.map(|value| format!("{key}={value}"));
        let old = if token.misc() == "_" { "" } else { token.misc() };
        let is_key = |entry: &str| entry.split_once('=').map_or(entry, |(key, _)| key) == key;
        if value.is_none() && !old.split('|').any(is_key) {
            return Ok(());
        }
        let mut entries = Vec::new();
        for entry in old.split('|').filter(|_| !old.is_empty()) {
            if is_key(entry) {
                entries.extend(new.take());
            } else {
                entries.push(entry.to_owned());
            }
        }
        entries.extend(new);
        let misc = entries.join("|");
        self.set(id, Column::Misc, if misc.is_empty() { "_" } else { &misc })
    }

    /// Sets the comment `# key = value`, in its place or after the other comments. With `None`,
    /// removes it. Only one of several comments with this key is kept. A new line has the line end
    /// of its neighbours. Nothing else changes.
    ///
    /// ```
    /// use tutte_treebank::Sentence;
    /// let mut sentence: Sentence =
    ///     "# text = Tea\n1\tTea\ttea\tNOUN\t_\t_\t0\troot\t_\t_\n".parse()?;
    /// sentence.set_comment("tutte_logprob", Some("-2.5"))?;
    /// sentence.set_comment("tutte_logprob", Some("-0.3"))?;
    /// assert!(sentence.as_str().starts_with("# text = Tea\n# tutte_logprob = -0.3\n1\tTea"));
    /// # Ok::<(), tutte_treebank::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the key or the value cannot be written, or the format is CoNLL-X, which has no comments.
    pub fn set_comment(&mut self, key: &str, value: Option<&str>) -> Result<(), Error> {
        self.check_comment(key, value)?;
        let mut line = value.map(|value| format!("# {key} = {value}"));
        self.check_size(line.as_ref().map_or(0, String::len) + 2)?;

        self.edit_comments(|comment| match line.take_if(|_| has_key(comment, key)) {
            Some(_) if comment_value(comment, key) == value => CommentEdit::Keep,
            Some(line) => CommentEdit::Replace(line),
            None if has_key(comment, key) => CommentEdit::Remove,
            None => CommentEdit::Keep,
        });
        if let Some(line) = line {
            self.insert_comment(&line);
        }
        Ok(())
    }

    /// Keeps, replaces or removes each comment.
    pub(crate) fn edit_comments(&mut self, mut edit: impl FnMut(&str) -> CommentEdit) {
        let mut patches: Vec<(Range<usize>, String)> = Vec::new();
        let Self { comments, text, .. } = self;
        comments.retain(|span| {
            let start = span.start as usize;
            let end = span.end as usize;
            match edit(&text[start..end]) {
                CommentEdit::Keep => true,
                CommentEdit::Replace(line) => {
                    patches.push((start..end, line));
                    true
                }
                CommentEdit::Remove => {
                    patches.push((start..end_of_line(text, end), String::new()));
                    false
                }
            }
        });
        self.patch(&patches);
    }

    /// Inserts a comment after the last one before the words.
    pub(crate) fn insert_comment(&mut self, comment: &str) {
        let words = self.rows.first().map_or(self.text.len(), |row| row.starts[0] as usize);
        let at = self.comments.partition_point(|span| (span.start as usize) < words);
        let start = match self.comments[..at].last() {
            Some(span) => end_of_line(&self.text, span.end as usize),
            None => words,
        };
        let crlf = self.text.contains("\r\n");
        let line = format!("{comment}{}", if crlf { "\r\n" } else { "\n" });
        self.patch(&[(start..start, line)]);
        let start = start as u32;
        self.comments.insert(at, Span { start, end: start + comment.len() as u32 });
    }

    /// Replaces pieces of the text, given in order, and adjusts all offsets. A piece starts and
    /// ends where lines or comments do.
    fn patch(&mut self, patches: &[(Range<usize>, String)]) {
        if patches.is_empty() {
            return;
        }
        let mut new = String::with_capacity(self.text.len());
        // For each patch, its end and the shift of the text behind it.
        let mut moves = Vec::with_capacity(patches.len());
        let mut done = 0;
        for (range, line) in patches {
            new.push_str(&self.text[done..range.start]);
            new.push_str(line);
            done = range.end;
            moves.push((done as u32, (new.len() as u32).wrapping_sub(done as u32)));
        }
        new.push_str(&self.text[done..]);
        self.text = new;
        let moved = |offset: &mut u32| {
            let before = moves.partition_point(|&(end, _)| end <= *offset);
            if let Some((_, by)) = before.checked_sub(1).map(|last| moves[last]) {
                *offset = offset.wrapping_add(by);
            }
        };
        self.rows.iter_mut().flat_map(|row| &mut row.starts).for_each(moved);
        self.comments.iter_mut().for_each(|span| {
            moved(&mut span.start);
            moved(&mut span.end);
        });
    }

    pub(crate) fn check_length(&self, found: usize) -> Result<(), Error> {
        let words = self.len();
        if found == words { Ok(()) } else { Err(Error::WrongLength { found, words }) }
    }

    fn check_head(&self, word: usize, head: Option<usize>) -> Result<(), Error> {
        match head {
            Some(head) if head > self.len() || head == word => Err(Error::BadValue {
                id: Id::Word(word),
                column: "HEAD",
                value: head.to_string(),
                expected: "a head is another word of the sentence, or 0 for the root",
            }),
            _ => Ok(()),
        }
    }

    pub(crate) fn check_value(&self, id: Id, column: Column, value: &str) -> Result<(), Error> {
        let bad = |expected| {
            let column = column.name(self.format);
            Err(Error::BadValue { id, column, value: value.to_owned(), expected })
        };
        // One look at each byte decides for nearly all values.
        if value.bytes().any(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b'\0')) {
            return bad(if value.contains(['\t', '\n', '\r']) {
                "a value must not contain tabs or line ends"
            } else {
                "a value must not contain NUL"
            });
        }
        match (column, id) {
            (Column::Id, _) => bad("an ID cannot be changed"),
            (Column::Form, Id::Word(_)) if value.is_empty() => bad("a form must not be empty"),
            (Column::Misc, _) if value.ends_with(' ') => bad("MISC must not end with a space"),
            (Column::Head, Id::Word(word)) if value != "_" => match number(value.as_bytes()) {
                None => bad("a head is the number of a word, 0 for the root, or _"),
                head => self.check_head(word, head),
            },
            (Column::Head, _) if value != "_" => bad("only words have heads"),
            _ => Ok(()),
        }
    }

    /// Checks that an entry of MISC can be written; without value, that it can be removed.
    pub(crate) fn check_misc(&self, id: Id, key: &str, value: Option<&str>) -> Result<(), Error> {
        let bad = |value: &str, expected| {
            let column = Column::Misc.name(Format::ConllU);
            Err(Error::BadValue { id, column, value: value.to_owned(), expected })
        };
        if self.format != Format::ConllU {
            return bad(key, "CoNLL-X has no column MISC; convert to CoNLL-U first");
        }
        if key.is_empty() || key == "_" || key.contains(['=', '|']) {
            return bad(key, "a key must not be empty, be _, or contain = or |");
        }
        if value.is_some_and(|value| value.contains('|')) {
            let expected = "a value must not contain |, which separates entries";
            return bad(value.unwrap_or_default(), expected);
        }
        Ok(())
    }

    /// Checks that a comment can be written; without value, that it can be removed.
    pub(crate) fn check_comment(&self, key: &str, value: Option<&str>) -> Result<(), Error> {
        let bad = |expected| {
            Err(Error::BadComment {
                key: key.to_owned(),
                value: value.unwrap_or_default().to_owned(),
                expected,
            })
        };
        if self.format != Format::ConllU {
            return bad("CoNLL-X has no comments; convert to CoNLL-U first");
        }
        if key.is_empty() || key.trim() != key || key.contains(['=', '\n', '\r']) {
            return bad(
                "a key must not be empty, contain = or a line end, or have spaces around it",
            );
        }
        if key.contains('\0') || value.is_some_and(|value| value.contains('\0')) {
            return bad("a comment must not contain NUL");
        }
        if value.is_some_and(|value| value.contains(['\n', '\r']) || value.trim() != value) {
            return bad("a value must be one line without spaces around it");
        }
        Ok(())
    }

    pub(crate) fn check_size(&self, added: usize) -> Result<(), Error> {
        let limit = 2 * LONGEST;
        if self.text.len() + added > limit {
            return Err(Error::TooLong { place: Box::new(self.place()), limit });
        }
        Ok(())
    }

    /// Rewrites one column of the text. `added` is an upper bound on how much longer the text gets.
    pub(crate) fn rewrite(
        &mut self,
        column: Column,
        added: usize,
        mut value: impl FnMut(Id, &str, &mut String),
    ) -> Result<(), Error> {
        self.rewrite_span(column, column, added, |id, _, old, out| value(id, old, out))
    }

    /// Rewrites the neighbouring columns `first` to `last`, and adjusts all offsets.
    fn rewrite_span(
        &mut self,
        first: Column,
        last: Column,
        added: usize,
        mut value: impl FnMut(Id, Column, &str, &mut String),
    ) -> Result<(), Error> {
        self.check_size(added)?;
        let first = first as usize;
        let last = last as usize;
        let old = std::mem::take(&mut self.text);
        let mut new = String::with_capacity(old.len() + added);
        // Length of the old text that is already in the new text, changed or not.
        let mut done = 0;
        let shift = |done: usize, new: &str| (new.len() as u32).wrapping_sub(done as u32);
        let mut comments = self.comments.iter_mut().peekable();
        let mut move_comments = |before: u32, by: u32| {
            while let Some(comment) = comments.next_if(|comment| comment.start < before) {
                comment.start = comment.start.wrapping_add(by);
                comment.end = comment.end.wrapping_add(by);
            }
        };
        for row in &mut self.rows {
            let by = shift(done, &new);
            move_comments(row.starts[0], by);
            let starts = row.starts;
            new.push_str(&old[done..starts[first] as usize]);
            for column in first..=last {
                row.starts[column] = new.len() as u32;
                let start = starts[column] as usize;
                let end = starts[column + 1] as usize - 1;
                value(row.id, Column::ALL[column], &old[start..end], &mut new);
                if column < last {
                    new.push('\t');
                }
                done = end;
            }
            let by_after = shift(done, &new);
            row.starts[..first].iter_mut().for_each(|start| *start = start.wrapping_add(by));
            row.starts[last + 1..]
                .iter_mut()
                .for_each(|start| *start = start.wrapping_add(by_after));
        }
        move_comments(u32::MAX, shift(done, &new));
        new.push_str(&old[done..]);
        self.text = new;
        Ok(())
    }
}

/// An action on a comment.
pub(crate) enum CommentEdit {
    Keep,
    /// Replaces it by another line, without line end.
    Replace(String),
    Remove,
}

/// True if a comment is `# key = …`, `# key`, or `# sent_id …` as in version 1.
fn has_key(comment: &str, key: &str) -> bool {
    after_key(comment, key).is_some_and(|rest| {
        let value = rest.trim_start();
        value.is_empty() || value.starts_with('=') || (key == "sent_id" && value != rest)
    })
}

/// Returns the position after the next newline, or the end of the text.
fn end_of_line(text: &str, from: usize) -> usize {
    memchr(b'\n', &text.as_bytes()[from..]).map_or(text.len(), |at| from + at + 1)
}

/// Appends a number. Every word has one, and general formatting of numbers is much slower.
fn push_number(out: &mut String, number: usize) {
    let digit = |number: usize| char::from(b'0' + (number % 10) as u8);
    if number >= 10 {
        push_number(out, number / 10);
    }
    out.push(digit(number));
}
