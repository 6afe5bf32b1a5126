//! `tutte draw`: dependency trees as pictures.

mod look;
mod selection;

use std::collections::HashSet;
use std::fs;
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;
use serde::Serialize;
use tutte_treebank::Sentence;
use tutte_treebank::draw::{self, Drawing};

use crate::failure::Outcome;
use crate::input::TreebankArgs;
use crate::report::{HtmlPage, counted, write_whole};
use crate::session::Session;
use look::TreeLook;
pub(super) use look::{Columns, Kind, Look, columns, figure};
pub(super) use selection::number;
use selection::{Selection, SelectionArgs};

/// Draw dependency trees, in the terminal or as SVG or TikZ
///
/// Long sentences are wrapped, right-to-left sentences are drawn right to left, non-projective
/// arcs have another colour, and probabilities of arcs (HeadProb and LabelProb in MISC) are shown as
/// opacity, and in text as numbers: nsubj .93, or nsubj .97×.86 for a head of probability .97 whose label has .86.
///
///   tutte draw tea.conllu                      the first ten, as text
///   tutte draw tea.conllu --only 3 > tree.svg  one, for a web page
///   tutte draw tea.conllu --only 3 -o png-svg | rsvg-convert > tree.png
///   tutte draw tea.conllu -n all --html trees.html
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Draw {
    /// Treebanks [default: standard input]
    #[arg(value_name = "FILES")]
    files: Vec<PathBuf>,

    /// Format: text, svg, tikz, or png-svg, which is SVG that any renderer can convert to PNG [default: text in a
    /// terminal, svg otherwise]
    #[arg(short = 'o', long = "output", value_name = "KIND")]
    kind: Option<Kind>,

    /// Write one file per sentence into this folder, named after its sent_id
    #[arg(long, value_name = "DIR", conflicts_with = "html")]
    out_dir: Option<PathBuf>,

    /// Write an HTML page with all drawings
    #[arg(long, value_name = "FILE", conflicts_with = "kind")]
    html: Option<PathBuf>,

    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten)]
    look: Look,

    #[command(flatten)]
    tree_look: TreeLook,

    #[command(flatten)]
    reading: TreebankArgs,
}

/// A drawing for programs.
#[derive(Serialize)]
struct Entry {
    /// Number from 1, over all files.
    sentence: usize,
    sent_id: Option<String>,
    kind: &'static str,
    drawing: String,
}

pub(crate) fn run(arguments: &Draw, session: &Session) -> Result<Outcome> {
    let to_terminal = io::stdout().is_terminal() && arguments.out_dir.is_none();
    let default = if to_terminal && !session.json() { Kind::Text } else { Kind::Svg };
    let kind = if arguments.html.is_some() { Kind::Svg } else { arguments.kind.unwrap_or(default) };
    let style = arguments.look.style(kind, arguments.html.is_some(), session);
    let style = arguments.tree_look.style(style);
    let files = session.files(&arguments.files)?;
    let mut selection = Selection::new(session, &files, &arguments.reading, &arguments.selection);

    if session.json() || arguments.html.is_some() || arguments.out_dir.is_some() {
        collect(arguments, session, &files, &mut selection, kind, &style)?;
    } else {
        print(&mut selection, kind, &style)?;
    }
    if let Some(note) = selection.note() {
        session.note(note);
    }
    Ok(session.end(Outcome::Good))
}

/// Writes drawings onto a page, into a folder, or as JSON, which may come with either.
fn collect(
    arguments: &Draw,
    session: &Session,
    files: &[PathBuf],
    selection: &mut Selection<'_>,
    kind: Kind,
    style: &draw::Style,
) -> Result<()> {
    if let Some(folder) = &arguments.out_dir {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let mut page = HtmlPage::new("Dependency trees", &names.join(", "));
    let mut entries = Vec::new();
    let mut taken = HashSet::new();
    for (at, item) in selection.enumerate() {
        let (place, sentence) = item?;
        let drawing = Drawing::new(&sentence, style);
        if arguments.html.is_some() {
            page.figure(
                &figure(&drawing, at == 0),
                &title(&format!("sentence {place}"), &sentence, style),
            );
        }
        if let Some(folder) = &arguments.out_dir {
            let path = folder.join(file_name(place, sentence.sent_id(), kind, &mut taken));
            write_whole(&path, &kind.draw(&drawing))?;
        }
        if session.json() {
            entries.push(Entry {
                sentence: place,
                sent_id: sentence.sent_id().map(str::to_owned),
                kind: kind.name(),
                drawing: kind.draw(&drawing),
            });
        }
    }
    if let Some(path) = &arguments.html {
        page.write(path)?;
        session.note(format!("{} written", path.display()));
    }
    if let Some(folder) = &arguments.out_dir {
        let files = counted(taken.len(), "file");
        session.note(format!("{files} written to {}", folder.display()));
    }
    if session.json() {
        session.print_json(&entries)?;
    }
    Ok(())
}

/// Writes everything to standard output: text drawing by drawing, SVG as one image.
fn print(selection: &mut Selection<'_>, kind: Kind, style: &draw::Style) -> Result<()> {
    // Drawings hold no colours, so they are not searched for colour codes.
    let mut out = BufWriter::new(io::stdout().lock());
    let mut sentences = selection.peekable();
    let mut several = false;
    let mut drawings = Vec::new();
    while let Some(item) = sentences.next() {
        let (place, sentence) = item?;
        let first = !several;
        several |= sentences.peek().is_some();
        let mut drawing = Drawing::new(&sentence, style);
        if several {
            drawing = drawing.with_caption(&title(&format!("sentence {place}"), &sentence, style));
        }
        if matches!(kind, Kind::Svg | Kind::PngSvg) {
            drawings.push(drawing);
            continue;
        }
        if !first {
            out.write_all(b"\n")?;
        }
        out.write_all(kind.draw(&drawing).as_bytes())?;
        out.flush()?;
    }
    if matches!(kind, Kind::Svg | Kind::PngSvg) {
        out.write_all(draw::svg_of_all(&drawings).as_bytes())?;
    }
    Ok(out.flush()?)
}

/// Returns the title of a sentence: its `sent_id`, or another name if it has none, and the probability of its tree if
/// it is one of several (`parse --kbest`).
pub(super) fn title(unnamed: &str, sentence: &Sentence, style: &draw::Style) -> String {
    let name = sentence.sent_id().unwrap_or(unnamed).to_owned();
    match sentence.comment("tutte_prob").filter(|_| style.probabilities) {
        Some(probability) => format!("{name}, probability {probability}"),
        None => name,
    }
}

/// Returns a unique file name: the `sent_id` in letters that file systems allow, or the number of the
/// sentence; both if that name is taken.
fn file_name(
    place: usize,
    sent_id: Option<&str>,
    kind: Kind,
    taken: &mut HashSet<String>,
) -> String {
    // File names have at most 255 bytes, and an extension follows.
    const LONGEST: usize = 160;
    let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let mut stem = String::new();
    for character in sent_id.unwrap_or("").trim_start_matches('.').chars().map(safe) {
        if stem.len() + character.len_utf8() > LONGEST {
            break;
        }
        stem.push(character);
    }
    let extension = kind.extension();
    let plain = if stem.is_empty() { place.to_string() } else { stem };
    let mut name = format!("{plain}.{extension}");
    let mut tries = 0;
    // Some file systems do not distinguish a from A.
    while !taken.insert(name.to_lowercase()) {
        let again = if tries == 0 { String::new() } else { format!("-{tries}") };
        name = format!("{plain}-{place}{again}.{extension}");
        tries += 1;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_safe_and_each_is_given_once() {
        let long = "漢".repeat(200);
        let ids = ["../a/b", "..", "dup-4", "dup", "DUP", "dup", "5", "", &long, &long, "dup-6"];
        let mut taken = HashSet::new();
        let names: Vec<String> = (1..)
            .zip(ids)
            .map(|(place, id)| {
                let id = if id.is_empty() { None } else { Some(id) };
                file_name(place, id, Kind::Text, &mut taken)
            })
            .collect();
        let cut = "漢".repeat(53);
        let expected = [
            "_a_b.txt",
            "2.txt",
            "dup-4.txt",
            "dup.txt",
            "DUP-5.txt",
            "dup-6.txt",
            "5.txt",
            "8.txt",
            &format!("{cut}.txt"),
            &format!("{cut}-10.txt"),
            "dup-6-11.txt",
        ];
        assert_eq!(names, expected);
        let mut taken: HashSet<String> = ["a.txt".to_owned(), "a-3.txt".to_owned()].into();
        assert_eq!(file_name(3, Some("a"), Kind::Text, &mut taken), "a-3-1.txt");
    }
}
