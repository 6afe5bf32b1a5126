//! Where drawings go, and in which format: the arguments that `draw` and `diff` share.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use tutte_treebank::draw::{self, Drawing};

use crate::failure::usage;
use crate::files::Files;
use crate::output::output_file;
use crate::report::{png, write_whole};
use crate::session::Session;

/// Format of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Unicode art
    Text,
    /// SVG, for web pages
    Svg,
    /// TikZ, for LaTeX
    Tikz,
    /// PNG, with the fonts of this computer
    Png,
    /// SVG for renderers without style sheets, such as printers
    PngSvg,
}

impl Kind {
    /// Returns the name of the format.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Svg => "svg",
            Kind::Tikz => "tikz",
            Kind::Png => "png",
            Kind::PngSvg => "png-svg",
        }
    }

    /// Returns the extension of files in this format.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Kind::Text => "txt",
            Kind::Svg | Kind::PngSvg => "svg",
            Kind::Tikz => "tex",
            Kind::Png => "png",
        }
    }

    /// Returns the format of files with this extension.
    pub(crate) fn of_extension(extension: &str) -> Option<Self> {
        let all = [Kind::Text, Kind::Svg, Kind::Tikz, Kind::Png];
        all.into_iter().find(|kind| kind.extension().eq_ignore_ascii_case(extension))
    }

    /// Returns `true` if several drawings are one image.
    pub(crate) fn is_image(self) -> bool {
        matches!(self, Kind::Svg | Kind::Png | Kind::PngSvg)
    }

    /// Returns `true` if drawings must not need style sheets.
    pub(crate) fn is_fixed(self) -> bool {
        matches!(self, Kind::Png | Kind::PngSvg)
    }

    /// Returns a drawing in this format.
    pub(crate) fn draw(self, drawing: &Drawing) -> Result<Vec<u8>> {
        Ok(match self {
            Kind::Text => drawing.text().into_bytes(),
            Kind::Svg | Kind::PngSvg => drawing.svg().into_bytes(),
            Kind::Tikz => drawing.tikz().into_bytes(),
            Kind::Png => png::render(&drawing.svg())?,
        })
    }

    /// Returns several drawings in this format: one image, or text with blank lines between drawings.
    pub(crate) fn draw_all(self, drawings: &[Drawing]) -> Result<Vec<u8>> {
        match self {
            Kind::Svg | Kind::PngSvg => Ok(draw::svg_of_all(drawings).into_bytes()),
            Kind::Png => png::render(&draw::svg_of_all(drawings)),
            Kind::Text | Kind::Tikz => {
                let mut text = Vec::new();
                for (at, drawing) in drawings.iter().enumerate() {
                    text.extend_from_slice(if at > 0 { b"\n" } else { b"" });
                    text.append(&mut self.draw(drawing)?);
                }
                Ok(text)
            }
        }
    }
}

/// File and format of drawings.
#[derive(Args, Clone, Debug)]
pub(crate) struct DestinationArgs {
    /// File to write; .txt, .svg, .tex, .png and .html choose the format [default: standard output]
    #[arg(short, long, value_name = "FILE", value_parser = output_file())]
    output: Option<PathBuf>,

    /// Format: text, svg, tikz, png, or png-svg, which is SVG for renderers without style sheets [default: by the name
    /// of FILE, or else text]
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true)]
    to: Option<Kind>,

    /// Write an HTML page with all drawings
    #[arg(long, value_name = "FILE", conflicts_with_all = ["to", "output"], value_parser = output_file())]
    html: Option<PathBuf>,
}

/// Destination and format of drawings.
#[derive(Clone, Debug)]
pub(crate) struct Destination {
    pub(crate) kind: Kind,
    /// HTML page for all drawings.
    pub(crate) page: Option<PathBuf>,
    /// File for all drawings; `None` is standard output.
    pub(crate) file: Option<PathBuf>,
}

impl DestinationArgs {
    /// Adds the files to write.
    pub(crate) fn add_to(&self, files: Files) -> Files {
        files.writes("-o", &self.output).writes("--html", &self.html)
    }

    /// Checks the arguments. `default` is the format if nothing chooses one.
    pub(crate) fn destination(&self, default: Kind) -> Result<Destination> {
        let output = self.output.as_deref().filter(|path| *path != Path::new("-"));
        let extension = output.and_then(Path::extension).and_then(|end| end.to_str());
        let is_page =
            self.to.is_none() && extension.is_some_and(|end| end.eq_ignore_ascii_case("html"));
        let page = if is_page { output } else { self.html.as_deref() };
        if let Some(page) = page {
            return Ok(Destination { kind: Kind::Svg, page: Some(page.to_owned()), file: None });
        }
        let kind = match (self.to, output) {
            (Some(kind), _) => kind,
            (None, None) => default,
            (None, Some(path)) => {
                extension.and_then(Kind::of_extension).ok_or_else(|| unknown(path))?
            }
        };
        if kind == Kind::Png {
            png::check()?;
            if output.is_none() && io::stdout().is_terminal() {
                return Err(usage(
                    "a terminal does not show PNG; write to a file with -o tree.png",
                ));
            }
        }
        Ok(Destination { kind, page: None, file: output.map(Path::to_owned) })
    }
}

/// Returns the error for a name that no format has.
fn unknown(path: &Path) -> anyhow::Error {
    let name = path.display().to_string();
    if Kind::from_str(&name, true).is_ok() {
        return usage(format!("-o names a file; choose the format with --to {name}"));
    }
    usage(format!(
        "the name {name} does not tell the format: end it in .txt, .svg, .tex, .png or .html, or add --to text, svg, \
         tikz or png"
    ))
}

impl Destination {
    /// Writes drawings to the file or to standard output.
    pub(crate) fn write(&self, content: &[u8], session: &Session) -> Result<()> {
        match &self.file {
            Some(path) => {
                write_whole(path, content)?;
                session.note(format!("{} written", path.display()));
                Ok(())
            }
            None => {
                let mut out = io::stdout().lock();
                out.write_all(content)?;
                Ok(out.flush()?)
            }
        }
    }
}
