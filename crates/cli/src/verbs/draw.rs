//! `tutte draw`: dependency trees as pictures.

mod look;
mod selection;

use std::collections::HashSet;
use std::fs;
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use serde::Serialize;
use tutte_treebank::draw::{self, Drawing};
use tutte_treebank::{AtomicFile, Sentence};

pub(super) use look::{Columns, Kind, Look, columns, figure};
use selection::{Selection, Which};

use crate::failure::Outcome;
use crate::report::Page;
use crate::session::{Reading, Session};

/// Draw dependency trees, in the terminal or as SVG or TikZ
///
/// Arcs above the words, long sentences wrapped, right-to-left sentences drawn right to left,
/// non-projective arcs in another colour, probabilities of arcs (HeadProb in MISC) as opacity.
///
///   tutte draw tea.conllu                          the first ten, in the terminal
///   tutte draw tea.conllu --only 3 > tree.svg      one, for a web page or an editor
///   tutte draw tea.conllu --only 3 -o png-svg | rsvg-convert > tree.png
///   tutte draw tea.conllu -n all --html trees.html
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Draw {
    /// Treebanks; standard input if there are none
    #[arg(value_name = "FILES")]
    files: Vec<PathBuf>,

    /// What to make: text, svg, tikz, or png-svg, which is SVG that any renderer can turn into
    /// pixels [default: text in a terminal, svg otherwise]
    #[arg(short = 'o', long = "output", value_name = "KIND")]
    kind: Option<Kind>,

    /// Write a file for every sentence into this folder, named after its sent_id
    #[arg(long, value_name = "DIR", conflicts_with = "html")]
    out_dir: Option<PathBuf>,

    /// Write a page with all drawings
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    #[command(flatten)]
    which: Which,

    #[command(flatten)]
    look: Look,

    #[command(flatten)]
    reading: Reading,
}

/// A drawing for programs.
#[derive(Serialize)]
struct Entry {
    /// From 1, over all files.
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
    let files = session.files(&arguments.files)?;
    let mut selection = Selection::new(session, &files, &arguments.reading, &arguments.which);

    if session.json() {
        let mut entries = Vec::new();
        for item in &mut selection {
            let (place, sentence) = item?;
            entries.push(Entry {
                sentence: place,
                sent_id: sentence.sent_id().map(str::to_owned),
                kind: kind.name(),
                drawing: kind.draw(&Drawing::new(&sentence, &style)),
            });
        }
        session.print_json(&entries)?;
    } else if let Some(path) = &arguments.html {
        let names: Vec<String> =
            arguments.files.iter().map(|file| file.display().to_string()).collect();
        let mut page = Page::new("Dependency trees", &names.join(", "));
        for (at, item) in (&mut selection).enumerate() {
            let (place, sentence) = item?;
            let drawing = Drawing::new(&sentence, &style);
            page.figure(&figure(&drawing, at == 0), &name(place, &sentence));
        }
        page.write(path)?;
        session.note(format!("{} written", path.display()));
    } else if let Some(folder) = &arguments.out_dir {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let mut taken = HashSet::new();
        for item in &mut selection {
            let (place, sentence) = item?;
            let path = folder.join(file_name(place, &sentence, kind, &mut taken));
            write_file(&path, &kind.draw(&Drawing::new(&sentence, &style)))?;
        }
        let files = if taken.len() == 1 { "file" } else { "files" };
        session.note(format!("{} {files} written to {}", taken.len(), folder.display()));
    } else {
        print(&mut selection, kind, &style)?;
    }
    if let Some(note) = selection.note() {
        session.note(note);
    }
    Ok(session.end(Outcome::Good))
}

/// Everything to standard output: text as it comes, SVG as one image.
fn print(selection: &mut Selection<'_>, kind: Kind, style: &draw::Style) -> Result<()> {
    // Drawings hold no colours, and megabytes of them are not searched for some.
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
            drawing = drawing.with_caption(&name(place, &sentence));
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
    if !drawings.is_empty() {
        out.write_all(draw::svg_of_all(&drawings).as_bytes())?;
    }
    Ok(out.flush()?)
}

/// What people call a sentence.
fn name(place: usize, sentence: &Sentence) -> String {
    match sentence.sent_id() {
        Some(id) => id.to_owned(),
        None => format!("sentence {place}"),
    }
}

/// The name of a file that no other sentence has: its `sent_id`, as far as file systems have its
/// letters, or its number.
fn file_name(place: usize, sentence: &Sentence, kind: Kind, taken: &mut HashSet<String>) -> String {
    const LONGEST: usize = 100;
    let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let id: String = sentence.sent_id().unwrap_or("").chars().map(safe).take(LONGEST).collect();
    let id = id.trim_start_matches('.');
    let extension = kind.extension();
    let mut name = match id {
        "" => format!("{place}.{extension}"),
        id => format!("{id}.{extension}"),
    };
    if !taken.insert(name.to_lowercase()) {
        name = format!("{id}-{place}.{extension}");
        taken.insert(name.to_lowercase());
    }
    name
}

fn write_file(path: &Path, text: &str) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(file.commit()?)
}
