//! Where results go: sections are described once, and come out on the terminal, on the page and in
//! the JSON document.

use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{HtmlPage, Table};
use crate::session::Session;

/// Everything that was found out.
#[derive(Debug)]
pub(crate) struct Results {
    text: String,
    /// Whether what is added is for the page alone.
    page_only: bool,
    page: HtmlPage,
    /// What concerns all that is judged.
    json: Map<String, Value>,
    /// What they are called in the JSON document, and what concerns each.
    systems: (&'static str, Vec<Map<String, Value>>),
}

impl Results {
    /// Nothing found yet. `systems` is what those that are judged are called in the JSON document, and
    /// the first entry of each.
    pub(crate) fn new(
        title: &str,
        subtitle: &str,
        (kind, systems): (&'static str, Vec<(&'static str, String)>),
    ) -> Self {
        let systems = systems.into_iter();
        let systems = systems.map(|(key, name)| Map::from_iter([(key.to_owned(), name.into())]));
        Results {
            text: String::new(),
            page_only: false,
            page: HtmlPage::new(title, subtitle),
            json: Map::new(),
            systems: (kind, systems.collect()),
        }
    }

    /// From here on, whether what is added is for the page alone: a page has room for what nobody
    /// asked for.
    pub(crate) fn set_page_only(&mut self, page_only: bool) {
        self.page_only = page_only;
    }

    /// A section. On the terminal, a blank line and the title.
    pub(crate) fn heading(&mut self, title: &str) {
        self.gap();
        self.terminal(&format!("{title}\n"));
        self.page.heading(title);
    }

    /// A part of a section. On the terminal it looks like a section.
    pub(crate) fn subheading(&mut self, title: &str) {
        self.gap();
        self.terminal(&format!("{title}\n"));
        self.page.subheading(title);
    }

    /// A blank line on the terminal, unless nothing stands above it.
    pub(crate) fn gap(&mut self) {
        if !self.text.is_empty() {
            self.terminal("\n");
        }
    }

    /// A table.
    pub(crate) fn table(&mut self, table: &Table) {
        self.terminal(&table.text(0));
        self.page.table(table);
    }

    /// Tables below each other on the terminal, side by side on a page where there is room.
    pub(crate) fn tables(&mut self, tables: &[Table]) {
        for (at, table) in tables.iter().enumerate() {
            if at > 0 {
                self.gap();
            }
            self.terminal(&table.text(0));
        }
        self.page.side_by_side(|page| tables.iter().for_each(|table| page.table(table)));
    }

    /// A sentence or two.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.terminal(&format!("{text}\n"));
        self.page.paragraph(text);
    }

    /// Lines for the terminal alone, where the page shows the same in another way.
    pub(crate) fn terminal(&mut self, text: &str) {
        if !self.page_only {
            self.text.push_str(text);
        }
    }

    /// The page alone, for charts and what else a terminal cannot show.
    pub(crate) fn page(&mut self) -> &mut HtmlPage {
        &mut self.page
    }

    /// An entry of the JSON document.
    pub(crate) fn record(&mut self, key: &str, value: &impl Serialize) -> Result<()> {
        self.json.insert(key.to_owned(), serde_json::to_value(value)?);
        Ok(())
    }

    /// An entry of a system's part of the JSON document.
    pub(crate) fn record_of(
        &mut self,
        system: usize,
        key: &str,
        value: &impl Serialize,
    ) -> Result<()> {
        if let Some(entries) = self.systems.1.get_mut(system) {
            entries.insert(key.to_owned(), serde_json::to_value(value)?);
        }
        Ok(())
    }

    /// Further entries of an object in a system's part of the JSON document.
    pub(crate) fn extend_of(&mut self, system: usize, key: &str, entries: Map<String, Value>) {
        let Some(system) = self.systems.1.get_mut(system) else { return };
        match system.entry(key).or_insert_with(|| Value::Object(Map::new())) {
            Value::Object(object) => object.extend(entries),
            other => *other = Value::Object(entries),
        }
    }

    /// Prints what was found out, and writes the page if one was asked for.
    pub(crate) fn publish(mut self, session: &Session, html: Option<&Path>) -> Result<()> {
        if let Some(path) = html {
            self.page.write(path)?;
            session.note(format!("{} written", path.display()));
        }
        if session.json() {
            let (kind, systems) = std::mem::take(&mut self.systems);
            self.record(kind, &systems)?;
            return session.print_report(&self.json);
        }
        let mut out = session.stdout();
        out.write_all(self.text.as_bytes())?;
        Ok(out.flush()?)
    }
}
