//! One self-contained HTML page: no scripts, no links, light or dark as the reader's system is.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use tutte_treebank::AtomicFile;

use crate::report::{Table, escape};

const STYLE: &str = "\
:root { color-scheme: light dark; --ink: #1c1e21; --paper: #ffffff; --faint: #6b7280;
  --line: #d7dae0; --accent: #2563a8; --accent-2: #c2571a; --soft: #f4f6f9; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --paper: #16181c; --faint: #9aa3af;
  --line: #363b44; --accent: #74b0ee; --accent-2: #f0985c; --soft: #1f2329; } }
body { font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif;
  color: var(--ink); background: var(--paper); max-width: 62rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; } p { margin: .4rem 0; } .faint { color: var(--faint); }
table { border-collapse: collapse; margin: .6rem 0; font-size: .92rem; display: block;
  overflow-x: auto; }
th, td { padding: .2rem .7rem; text-align: start; border-bottom: 1px solid var(--line); }
th, td:not(:last-child) { white-space: nowrap; } th { font-weight: 600; } .number { text-align: end; font-variant-numeric: tabular-nums; }
tbody tr:hover { background: var(--soft); }
figure { margin: 1rem 0; overflow-x: auto; } figcaption { color: var(--faint); font-size: .9rem; }
.side { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem; align-items: flex-start; }
pre { background: var(--soft); padding: .6rem .8rem; overflow-x: auto; font-size: .88rem; }
code { font-size: .92em; }
details { margin: .4rem 0; } summary { cursor: pointer; color: var(--accent); }
footer { margin-top: 3rem; color: var(--faint); font-size: .85rem; }
";

/// An HTML page, built from top to bottom.
#[derive(Debug)]
pub(crate) struct HtmlPage {
    title: String,
    body: String,
}

impl HtmlPage {
    /// Starts a page with a title and a subtitle, for instance the names of the files.
    pub(crate) fn new(title: &str, subtitle: &str) -> Self {
        let mut page = Self { title: title.to_owned(), body: String::new() };
        let _ = write!(
            page.body,
            "<h1>{}</h1>\n<p class=\"faint\">{}</p>\n",
            escape(title),
            escape(subtitle)
        );
        page
    }

    /// Adds the title of a section.
    pub(crate) fn heading(&mut self, text: &str) {
        let _ = writeln!(self.body, "<h2>{}</h2>", escape(text));
    }

    /// Adds the title of a subsection.
    pub(crate) fn subheading(&mut self, text: &str) {
        let _ = writeln!(self.body, "<h3>{}</h3>", escape(text));
    }

    /// Adds plain text.
    pub(crate) fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p>{}</p>", escape(text));
    }

    /// Adds a table.
    pub(crate) fn table(&mut self, table: &Table) {
        self.body.push_str(&table.html());
    }

    /// Adds an SVG picture with a caption.
    pub(crate) fn figure(&mut self, svg: &str, caption: &str) {
        let caption = escape(caption);
        let _ =
            writeln!(self.body, "<figure>\n{svg}\n<figcaption>{caption}</figcaption>\n</figure>");
    }

    /// Adds a row of blocks, which `fill` adds. They stand side by side if the window is wide enough.
    pub(crate) fn side_by_side(&mut self, fill: impl FnOnce(&mut Self)) {
        self.body.push_str("<div class=\"side\">\n");
        fill(self);
        self.body.push_str("</div>\n");
    }

    /// Adds a block of `side_by_side`.
    pub(crate) fn block(&mut self, fill: impl FnOnce(&mut Self)) {
        self.body.push_str("<div>\n");
        fill(self);
        self.body.push_str("</div>\n");
    }

    /// Adds a part that is shown after a click on its summary.
    pub(crate) fn folded(&mut self, summary: &str, fill: impl FnOnce(&mut Self)) {
        let _ = writeln!(self.body, "<details>\n<summary>{}</summary>", escape(summary));
        fill(self);
        self.body.push_str("</details>\n");
    }

    /// Returns the whole page.
    pub(crate) fn html(&self) -> String {
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{}\
             <footer>tutte {}</footer>\n</body>\n</html>\n",
            escape(&self.title),
            self.body,
            env!("CARGO_PKG_VERSION"),
        )
    }

    /// Writes the page to a file, atomically.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        write_whole(path, self.html())
    }
}

/// Writes a file atomically.
pub(crate) fn write_whole(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(content.as_ref()).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(file.commit()?)
}
