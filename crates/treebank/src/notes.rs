//! What a program notes about a whole sentence: entries of MISC and comments, replaced together, so
//! that running it again replaces what it noted and piles nothing up.

use std::borrow::Cow;

use crate::edit::CommentEdit;
use crate::{Column, Error, Format, Id, Sentence};

/// The entries of MISC in which a parser says how sure it is of heads and labels: the probability of the
/// head, that of the label given the head, other heads as `head:label:probability`, the head's rank.
pub const PROBABILITIES: [&str; 4] = ["HeadProb", "LabelProb", "AltHead", "HeadRank"];

/// The entries of MISC in which an audit says so: the probability of head and label, and what is more
/// probable.
pub const AUDITED: [&str; 2] = ["AuditProb", "AuditAlt"];

impl Sentence {
    /// Removes the entries of MISC that have one of these keys from all words, and appends others:
    /// `entries[0]` are those of word 1. What else MISC holds stays. One pass, where
    /// [`set_misc`](Sentence::set_misc) would take one for each entry.
    ///
    /// ```
    /// use tutte_treebank::Sentence;
    /// let mut sentence: Sentence =
    ///     "1\tTea\ttea\tNOUN\t_\t_\t0\troot\t_\tHeadProb=0.2|SpaceAfter=No\n".parse()?;
    /// sentence.replace_misc(&["HeadProb"], &[vec![("HeadProb", "0.97".to_owned())]])?;
    /// assert_eq!(sentence.word(1).unwrap().misc(), "SpaceAfter=No|HeadProb=0.97");
    /// # Ok::<(), tutte_treebank::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there are not as many lists as words, an entry cannot be written, or the format is CoNLL-X,
    /// which has no MISC; nothing is changed then.
    pub fn replace_misc(
        &mut self,
        keys: &[&str],
        entries: &[Vec<(&str, String)>],
    ) -> Result<(), Error> {
        self.check_length(entries.len())?;
        for key in keys {
            self.check_misc(Id::Word(1), key, None)?;
        }
        let mut added = 0;
        for (word, entries) in (1..).zip(entries) {
            for (key, value) in entries {
                self.check_misc(Id::Word(word), key, Some(value))?;
                self.check_value(Id::Word(word), Column::Misc, key)?;
                self.check_value(Id::Word(word), Column::Misc, value)?;
                added += key.len() + value.len() + 2;
            }
        }
        self.rewrite(Column::Misc, added, |id, old, out| {
            let Some(word) = id.word() else { return out.push_str(old) };
            let start = out.len();
            let kept = without(old, keys);
            out.push_str(if kept == "_" { "" } else { &kept });
            for (key, value) in &entries[word - 1] {
                if out.len() > start {
                    out.push('|');
                }
                out.extend([key, "=", value]);
            }
            if out.len() == start {
                out.push('_');
            }
        })
    }

    /// Removes the comments whose keys start with a prefix, and puts others after the comments that
    /// are left.
    ///
    /// ```
    /// use tutte_treebank::Sentence;
    /// let mut sentence: Sentence =
    ///     "# my_score = 1\n# text = Tea\n1\tTea\ttea\tNOUN\t_\t_\t0\troot\t_\t_\n".parse()?;
    /// sentence.replace_comments("my_", &[("my_rank", "2")])?;
    /// assert!(sentence.as_str().starts_with("# text = Tea\n# my_rank = 2\n1\tTea"));
    /// # Ok::<(), tutte_treebank::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`set_comment`](Sentence::set_comment); nothing is changed then.
    pub fn replace_comments<S: AsRef<str>>(
        &mut self,
        prefix: &str,
        comments: &[(&str, S)],
    ) -> Result<(), Error> {
        let mut added = 0;
        for (key, value) in comments {
            self.check_comment(key, Some(value.as_ref()))?;
            added += key.len() + value.as_ref().len() + 7;
        }
        self.check_size(added)?;
        self.remove_comments(prefix);
        for (key, value) in comments {
            self.insert_comment(&format!("# {key} = {}", value.as_ref()));
        }
        Ok(())
    }

    /// Removes the comments whose keys start with a prefix.
    pub(crate) fn remove_comments(&mut self, prefix: &str) {
        self.edit_comments(|comment| {
            let key = comment.trim_start_matches('#').trim_start();
            match key.starts_with(prefix) {
                true => CommentEdit::Remove,
                false => CommentEdit::Keep,
            }
        });
    }

    /// Whether an entry of MISC can be written; without value, whether it can be removed.
    pub(crate) fn check_misc(&self, id: Id, key: &str, value: Option<&str>) -> Result<(), Error> {
        let bad = |value: &str, expected| {
            let column = Column::Misc.name(Format::ConllU);
            Err(Error::BadValue { id, column, value: value.to_owned(), expected })
        };
        if self.format != Format::ConllU {
            return bad(key, "CoNLL-X has no column MISC; convert to CoNLL-U first");
        }
        if key.is_empty() || key == "_" || key.contains(['=', '|']) {
            return bad(key, "a key is not empty, not _, and holds no = and no |");
        }
        if value.is_some_and(|value| value.contains('|')) {
            return bad(value.unwrap_or_default(), "| separates entries");
        }
        Ok(())
    }

    /// Whether a comment can be written; without value, whether it can be removed.
    pub(crate) fn check_comment(&self, key: &str, value: Option<&str>) -> Result<(), Error> {
        let bad = |expected| {
            let (key, value) = (key.to_owned(), value.unwrap_or_default().to_owned());
            Err(Error::BadComment { key, value, expected })
        };
        if self.format != Format::ConllU {
            return bad("CoNLL-X has no comments; convert to CoNLL-U first");
        }
        if key.is_empty() || key.trim() != key || key.contains(['=', '\n', '\r']) {
            return bad("a key is not empty, holds no = and no line end, and no spaces around it");
        }
        if value.is_some_and(|value| value.contains(['\n', '\r']) || value.trim() != value) {
            return bad("a value is one line, without spaces around it");
        }
        Ok(())
    }
}

/// MISC without the entries of these keys; `_` if nothing is left.
pub(crate) fn without<'a>(misc: &'a str, keys: &[&str]) -> Cow<'a, str> {
    let is_one = |entry: &str| {
        let key = entry.split_once('=').map_or(entry, |(key, _)| key);
        keys.contains(&key)
    };
    if !misc.split('|').any(is_one) {
        return Cow::Borrowed(misc);
    }
    let kept: Vec<_> = misc.split('|').filter(|entry| !is_one(entry)).collect();
    // Spaces at the end of a line are not part of it.
    match kept.join("|").trim_end_matches(' ') {
        "" => Cow::Borrowed("_"),
        kept => Cow::Owned(kept.to_owned()),
    }
}
