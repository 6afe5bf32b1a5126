//! The format of an input, recognised by its first lines.
//!
//! Text is text unless there is evidence of another format: ten columns separated by tabs, the first of which is an ID;
//! comments that only CoNLL-U has; a JSON object with a key that the reader knows. In doubt it is text, and a note
//! says which option overrides that.

use std::io::{self, Cursor, Read};
use std::path::Path;

use tutte_treebank::{Encoding, Input};

use super::jsonl;
use super::source::InputKind;

/// A format, and why it may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Recognised {
    /// [`InputKind::Auto`] stands for CoNLL-U or CoNLL-X; their reader recognises which of the two it is.
    pub(super) kind: InputKind,
    /// Evidence for another format, as the end of a sentence about the input.
    pub(super) doubt: Option<&'static str>,
}

impl Recognised {
    fn surely(kind: InputKind) -> Self {
        Self { kind, doubt: None }
    }

    /// Text that looks like something else.
    fn text_despite(doubt: &'static str) -> Self {
        Self { kind: InputKind::Text, doubt: Some(doubt) }
    }
}

const COLUMNS: &str = "has columns, but not the ten of a treebank, and is read as text; -i conllu reads it as \
                       CoNLL-U, -i vertical takes the first column as words";
const JSON: &str = "looks like JSON, but is not lines with \"tokens\" or \"text\", and is read as text; -i jsonl reads \
                    it as JSON Lines";
const NAMED_TEXT: &str =
    "has JSON objects, and is read as text because of its name; -i jsonl reads it as JSON Lines";

/// Looks at the first lines of an input, and puts them back.
pub(super) fn recognise(
    path: &Path,
    input: &mut Input,
    encoding: Encoding,
) -> io::Result<Recognised> {
    /// Bytes to look at; a file without a line end in them is taken for text. A line of JSON may hold a document.
    const ENOUGH: usize = 1 << 16;
    const ENOUGH_JSON: usize = 1 << 24;
    let mut first = Vec::new();
    let mut piece = [0; 1 << 12];
    // Reads no more than needed: the program at the other end of a pipe may wait for an answer.
    let found = loop {
        let read = match input.read(&mut piece) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let new = &piece[..read];
        first.extend_from_slice(new);
        let is_all = read == 0;
        if is_all || new.contains(&b'\n') {
            let text = encoding.preview(&first);
            if let Some(found) = of_lines(&text, is_all) {
                break found;
            }
        }
        let is_json = first.trim_ascii_start().starts_with(b"{");
        if first.len() > if is_json { ENOUGH_JSON } else { ENOUGH } {
            break Recognised::surely(InputKind::Text);
        }
    };
    let rest = std::mem::replace(input, Box::new(io::empty()));
    *input = Box::new(Cursor::new(first).chain(rest));
    let name = path.to_string_lossy().to_ascii_lowercase();
    let is_called = |end: &str| {
        ["", ".gz", ".zst"].iter().any(|packed| name.ends_with(&format!("{end}{packed}")))
    };
    Ok(match found.kind {
        InputKind::Jsonl if is_called(".txt") => Recognised::text_despite(NAMED_TEXT),
        // The name promises a format, so errors in it are reported.
        InputKind::Text if is_called(".jsonl") => Recognised::surely(InputKind::Jsonl),
        InputKind::Text if is_called(".conllu") || is_called(".conll") => {
            Recognised::surely(InputKind::Auto)
        }
        _ => found,
    })
}

/// Recognises a format by the first lines of an input; `None` if more lines are needed.
fn of_lines(first: &str, is_all: bool) -> Option<Recognised> {
    let first = first.strip_prefix('\u{feff}').unwrap_or(first);
    for line in first.split_inclusive('\n') {
        if !line.ends_with('\n') && !is_all {
            return None;
        }
        let line = line.trim_end_matches(['\n', '\r', ' ']);
        if line.trim().is_empty() {
            continue;
        }
        if let Some(comment) = line.strip_prefix('#') {
            if is_of_conllu(comment) {
                return Some(Recognised::surely(InputKind::Auto));
            }
            continue;
        }
        return Some(of_line(line));
    }
    // Only blank lines, and lines that start with #.
    is_all.then(|| Recognised::surely(InputKind::Text))
}

/// Returns `true` for a comment that only treebanks have, such as `# sent_id = 1`, given without its `#`.
fn is_of_conllu(comment: &str) -> bool {
    let (key, value) = match comment.split_once('=') {
        Some((key, value)) => (key.trim(), Some(value)),
        None => (comment.trim(), None),
    };
    match value {
        Some(_) => ["sent_id", "text", "newdoc id", "newpar id", "global.columns"].contains(&key),
        None => ["newdoc", "newpar"].contains(&key),
    }
}

/// Recognises a format by the first line that is neither blank nor a comment.
fn of_line(line: &str) -> Recognised {
    /// A line of this many columns that starts with an ID is a treebank, even if columns are missing: the error
    /// says so.
    const ALMOST_TEN: usize = 8;
    let columns: Vec<&str> = line.split('\t').collect();
    if is_id(columns[0]) && columns.len() >= ALMOST_TEN {
        return Recognised::surely(InputKind::Auto);
    }
    if columns.len() >= 4 || (is_id(columns[0]) && columns.len() >= 3) {
        return Recognised::text_despite(COLUMNS);
    }
    // Ten columns separated by spaces: an editor has replaced the tabs. The error says so.
    let fields: Vec<&str> = line.split_whitespace().collect();
    let is_number = |field: &str| field.bytes().all(|byte| byte.is_ascii_digit());
    if let [id, _, _, _, _, _, head, ..] = fields[..] {
        let has_head = head == "_" || is_number(head);
        if fields.len() == 10 && is_id(id) && has_head && fields.contains(&"_") {
            return Recognised::surely(InputKind::Auto);
        }
    }
    let line = line.trim();
    if line.starts_with('{') {
        return if jsonl::is_sentence(line) {
            Recognised::surely(InputKind::Jsonl)
        } else if line.starts_with("{\"") || line == "{" {
            Recognised::text_despite(JSON)
        } else {
            Recognised::surely(InputKind::Text)
        };
    }
    if line == "[" || line.starts_with("[{") || line.starts_with("[\"") {
        return Recognised::text_despite(JSON);
    }
    Recognised::surely(InputKind::Text)
}

/// Returns `true` for an ID of CoNLL-U: `3`, `3-4` or `5.1`.
fn is_id(field: &str) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || c == '-' || c == '.';
    field.starts_with(|c: char| c.is_ascii_digit()) && field.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_recognised_by_their_first_lines() {
        const WORD: &str = "1\tTea\ttea\tNOUN\t_\t_\t0\troot\t_\t_\n";
        let sure = [
            (WORD.to_owned(), InputKind::Auto),
            (format!("\u{feff}\n# anything\n{WORD}"), InputKind::Auto),
            ("1-2\tdon't\t_\t_\t_\t_\t_\t_\t_".to_owned(), InputKind::Auto),
            ("\n\n# sent_id = 1\n".to_owned(), InputKind::Auto),
            ("# newdoc\n".to_owned(), InputKind::Auto),
            ("# newpar id=3\n".to_owned(), InputKind::Auto),
            ("1 Tea tea NOUN _ _ 0 root _ _\r\n".to_owned(), InputKind::Auto),
            ("{\"text\": \"Tea.\"}\n".to_owned(), InputKind::Jsonl),
            (" {\"words\": []}\n".to_owned(), InputKind::Jsonl),
        ];
        let texts = [
            "",
            " \n\t\n",
            "100 people have died in the war since last May.\n",
            "1 2 3 4 5 6 7 8 9 10\n",
            "#MeToo is trending today.\n",
            "# Heading\n",
            "# Tea\n\nIt was late.\n",
            "# text messages\nx\n",
            "# newdoc is a comment\n",
            "12 o'clock\n",
            "Tea\tcools\n",
            "1\tI saw him.\n",
            "{sic} tea\n",
            "- a list\n- of points\n",
            "| a | table |\n|---|---|\n",
            "\0\u{fffd}\n",
        ];
        let doubtful = [
            "1\tTea\t_\tNOUN\n",
            "Tea\ttea\tNOUN\tNN\n",
            "[\"Tea\", \"cools\"]\n",
            "{\"title\": \"Tea\"}\n",
            "{\n",
            "{\"text\": \"Tea\"\n",
        ];
        for (first, kind) in sure {
            assert_eq!(of_lines(&first, true), Some(Recognised::surely(kind)), "{first:?}");
        }
        for first in texts {
            let text = Some(Recognised::surely(InputKind::Text));
            assert_eq!(of_lines(first, true), text, "{first:?}");
        }
        for first in doubtful {
            let found = of_lines(first, true).unwrap();
            assert!(found.kind == InputKind::Text && found.doubt.is_some(), "{first:?}: {found:?}");
        }
        // Half a line says nothing.
        assert_eq!(of_lines("1\tTea\ttea\tNOUN\t_\t_\t0\troot\t_\t_", false), None);
        assert_eq!(of_lines("# anything\n", false), None);
    }
}
