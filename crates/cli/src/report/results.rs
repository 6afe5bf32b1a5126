//! Results that are described once and shown on the terminal, on an HTML page and in a JSON document.

use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{HtmlPage, Table};
use crate::session::Session;

/// Results of a verb, section by section.
#[derive(Debug)]
pub(crate) struct Results {
    text: String,
    /// `true` while additions go to the page alone.
    is_page_only: bool,
    page: HtmlPage,
    /// JSON entries about all systems.
    json: Map<String, Value>,
    /// Key of the systems in the JSON document, and the entries about each.
    systems: (&'static str, Vec<Map<String, Value>>),
}

impl Results {
    /// Starts without results. The last argument is the key of the systems in the JSON document, and the first
    /// entry of each.
    pub(crate) fn new(
        title: &str,
        subtitle: &str,
        (kind, systems): (&'static str, Vec<(&'static str, String)>),
    ) -> Self {
        let systems = systems.into_iter();
        let systems = systems.map(|(key, name)| Map::from_iter([(key.to_owned(), name.into())]));
        Results {
            text: String::new(),
            is_page_only: false,
            page: HtmlPage::new(title, subtitle),
            json: Map::new(),
            systems: (kind, systems.collect()),
        }
    }

    /// Sends all further additions to the page alone, or to the terminal too. A page shows all analyses, a terminal
    /// only the requested ones.
    pub(crate) fn set_page_only(&mut self, is_page_only: bool) {
        self.is_page_only = is_page_only;
    }

    /// Adds the title of a section, on the terminal after a blank line.
    pub(crate) fn heading(&mut self, title: &str) {
        self.gap();
        self.terminal(&format!("{title}\n"));
        self.page.heading(title);
    }

    /// Adds the title of a subsection. On the terminal it looks like a section.
    pub(crate) fn subheading(&mut self, title: &str) {
        self.gap();
        self.terminal(&format!("{title}\n"));
        self.page.subheading(title);
    }

    /// Adds a blank line on the terminal, unless it is the first line.
    pub(crate) fn gap(&mut self) {
        if !self.text.is_empty() {
            self.terminal("\n");
        }
    }

    /// Adds a table.
    pub(crate) fn table(&mut self, table: &Table) {
        self.terminal(&table.text(0));
        self.page.table(table);
    }

    /// Adds tables, below each other on the terminal and side by side on the page.
    pub(crate) fn tables(&mut self, tables: &[Table]) {
        for (at, table) in tables.iter().enumerate() {
            if at > 0 {
                self.gap();
            }
            self.terminal(&table.text(0));
        }
        self.page.side_by_side(|page| tables.iter().for_each(|table| page.table(table)));
    }

    /// Adds a paragraph.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.terminal(&format!("{text}\n"));
        self.page.paragraph(text);
    }

    /// Adds lines to the terminal alone, where the page shows the same in another way.
    pub(crate) fn terminal(&mut self, text: &str) {
        if !self.is_page_only {
            self.text.push_str(text);
        }
    }

    /// Returns the page, for charts and whatever else a terminal cannot show.
    pub(crate) fn page(&mut self) -> &mut HtmlPage {
        &mut self.page
    }

    /// Adds an entry to the JSON document.
    pub(crate) fn record(&mut self, key: &str, value: &impl Serialize) -> Result<()> {
        self.json.insert(key.to_owned(), serde_json::to_value(value)?);
        Ok(())
    }

    /// Adds an entry to a system's part of the JSON document.
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

    /// Adds entries to an object in a system's part of the JSON document.
    pub(crate) fn extend_of(&mut self, system: usize, key: &str, entries: Map<String, Value>) {
        let Some(system) = self.systems.1.get_mut(system) else { return };
        match system.entry(key).or_insert_with(|| Value::Object(Map::new())) {
            Value::Object(object) => object.extend(entries),
            other => *other = Value::Object(entries),
        }
    }

    /// Prints the results, and writes the page if a path is given.
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
