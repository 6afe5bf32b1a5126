//! `tutte draw`: dependency trees as pictures.

mod destination;
mod look;
mod selection;

use std::collections::HashSet;
use std::fs;
use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;
use serde::Serialize;
use tutte_treebank::Sentence;
use tutte_treebank::draw::{self, Drawing};

use crate::failure::{Outcome, usage};
use crate::files::Files;
use crate::input::TreebankArgs;
use crate::report::{HtmlPage, counted, write_whole};
use crate::session::Session;
pub(super) use destination::{Destination, DestinationArgs, Kind};
use look::TreeLook;
pub(super) use look::{Columns, Look, columns, figure};
pub(super) use selection::number;
use selection::{Selection, SelectionArgs};

/// Draw dependency trees, in the terminal or as SVG, PNG or TikZ
///
/// Long sentences are wrapped, right-to-left sentences are drawn right to left, non-projective
/// arcs have another colour, and probabilities of arcs (HeadProb and LabelProb in MISC) are shown as
/// opacity, and in text as numbers: nsubj .93, or nsubj .97×.86 for a head of probability .97 whose label has .86.
///
///   tutte draw tea.conllu                       the first ten, as text
///   tutte draw tea.conllu --only 3 -o tree.svg  one, for a web page
///   tutte draw tea.conllu --only 3 -o tree.png  one, for a document
///   tutte draw tea.conllu -n all -o trees.html
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Draw {
    /// Treebanks [default: standard input]
    #[arg(value_name = "FILES")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    destination: DestinationArgs,

    /// Write one file per sentence into this folder, named after its sent_id [default format: svg]
    #[arg(long, value_name = "DIR", conflicts_with_all = ["html", "output"])]
    out_dir: Option<PathBuf>,

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

impl Draw {
    /// Returns the files of the run.
    pub(super) fn files(&self) -> Files {
        let files = Files::default().reads_or_stdin(&self.files);
        self.destination.add_to(files).fills(&self.out_dir)
    }
}

pub(crate) fn run(arguments: &Draw, session: &Session) -> Result<Outcome> {
    let default =
        if arguments.out_dir.is_some() || session.json() { Kind::Svg } else { Kind::Text };
    let destination = arguments.destination.destination(default)?;
    if session.json() && destination.kind == Kind::Png {
        return Err(usage("JSON has no room for PNG; use --to svg, or leave out --json"));
    }
    let style = arguments.look.style(destination.kind, destination.page.is_some(), session);
    let style = arguments.tree_look.style(style);
    let files = session.files(&arguments.files)?;
    let mut selection = Selection::new(session, &files, &arguments.reading, &arguments.selection);

    if session.json() || destination.page.is_some() || arguments.out_dir.is_some() {
        collect(arguments, session, &files, &mut selection, &destination, &style)?;
    } else {
        print(&mut selection, &destination, &style, session)?;
    }
    if let Some(note) = selection.note() {
        session.note(note);
    }
    Ok(session.end(Outcome::Good))
}

/// Writes drawings onto a page, into a folder, or as JSON, which may come with a page, a folder or a file.
fn collect(
    arguments: &Draw,
    session: &Session,
    files: &[PathBuf],
    selection: &mut Selection<'_>,
    destination: &Destination,
    style: &draw::Style,
) -> Result<()> {
    let kind = destination.kind;
    if let Some(folder) = &arguments.out_dir {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let mut page = HtmlPage::new("Dependency trees", &names.join(", "));
    let mut entries = Vec::new();
    let mut drawings = Vec::new();
    let mut taken = HashSet::new();
    let inputs = arguments.files();
    for (at, item) in selection.enumerate() {
        let (place, sentence) = item?;
        let drawing = Drawing::new(&sentence, style);
        if destination.page.is_some() {
            page.figure(
                &figure(&drawing, at == 0),
                &title(&format!("sentence {place}"), &sentence, style),
            );
        }
        if let Some(folder) = &arguments.out_dir {
            let path = folder.join(file_name(place, sentence.sent_id(), kind, &mut taken));
            inputs.check_inside(&path)?;
            write_whole(&path, kind.draw(&drawing)?)?;
        }
        if session.json() {
            entries.push(Entry {
                sentence: place,
                sent_id: sentence.sent_id().map(str::to_owned),
                kind: kind.name(),
                drawing: String::from_utf8_lossy(&kind.draw(&drawing)?).into_owned(),
            });
        }
        if destination.file.is_some() {
            drawings.push(drawing.with_caption(&title(
                &format!("sentence {place}"),
                &sentence,
                style,
            )));
        }
    }
    if destination.file.is_some() {
        destination.write(&kind.draw_all(&drawings)?, session)?;
    }
    if let Some(path) = &destination.page {
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

/// Writes everything to one file or to standard output: an image is written as a whole, text drawing by drawing.
fn print(
    selection: &mut Selection<'_>,
    destination: &Destination,
    style: &draw::Style,
    session: &Session,
) -> Result<()> {
    let kind = destination.kind;
    let is_whole = kind.is_image() || destination.file.is_some();
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
        if is_whole {
            drawings.push(drawing);
            continue;
        }
        if !first {
            out.write_all(b"\n")?;
        }
        out.write_all(&kind.draw(&drawing)?)?;
        out.flush()?;
    }
    drop(out);
    if is_whole {
        destination.write(&kind.draw_all(&drawings)?, session)?;
    }
    Ok(())
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
