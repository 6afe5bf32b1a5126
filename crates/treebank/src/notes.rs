//! Annotations of a whole sentence: entries of MISC and comments, replaced together.
//!
//! Running a program again replaces its earlier annotations, so that they do not accumulate.

use std::borrow::Cow;

use crate::edit::CommentEdit;
use crate::{Column, Error, Id, Sentence, Token};

/// Keys of MISC for the probabilities of a parse: probability of the head, probability of the label
/// given the head, other heads as `head:label:probability`, and rank of the head.
pub const PROBABILITIES: [&str; 4] = ["HeadProb", "LabelProb", "AltHead", "HeadRank"];

/// Keys of MISC for the result of an audit: probability of head and label, and a more probable
/// alternative.
pub const AUDITED: [&str; 2] = ["AuditProb", "AuditAlt"];

impl<'a> Token<'a> {
    /// Returns MISC without the entries with one of these keys.
    pub fn misc_without(self, keys: &[&str]) -> Cow<'a, str> {
        without(self.misc(), keys)
    }
}

impl Sentence {
    /// Removes the entries of MISC with one of these keys from all words, and appends new entries.
    /// `entries[0]` are those of word 1. Other entries stay. Takes one pass, where
    /// [`set_misc`](Sentence::set_misc) would take one pass per entry.
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
    /// If the number of lists is not the number of words, an entry cannot be written, or the format
    /// is CoNLL-X, which has no MISC. Then nothing changes.
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

    /// Removes the comments whose keys start with a prefix, and appends new comments to the
    /// remaining ones.
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
    /// As [`set_comment`](Sentence::set_comment). Then nothing changes.
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
            if key.starts_with(prefix) { CommentEdit::Remove } else { CommentEdit::Keep }
        });
    }
}

/// Returns MISC without the entries of these keys; `_` if nothing is left.
pub(crate) fn without<'a>(misc: &'a str, keys: &[&str]) -> Cow<'a, str> {
    let is_removed = |entry: &str| {
        let key = entry.split_once('=').map_or(entry, |(key, _)| key);
        keys.contains(&key)
    };
    if !misc.split('|').any(is_removed) {
        return Cow::Borrowed(misc);
    }
    let kept: Vec<_> = misc.split('|').filter(|entry| !is_removed(entry)).collect();
    // Spaces at the end of a line belong to the line end.
    match kept.join("|").trim_end_matches(' ') {
        "" => Cow::Borrowed("_"),
        kept => Cow::Owned(kept.to_owned()),
    }
}
