//! Tables that are described once, for terminals and for pages.

use std::fmt::Write as _;

use crate::report::{columns, escape, visible};

/// Alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table of strings.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Makes a table with these columns. By convention, names are aligned left and numbers right.
    pub(crate) fn new<S: Into<String>>(columns: impl IntoIterator<Item = (S, Align)>) -> Self {
        let shown = |name: S| visible(&name.into()).into_owned();
        let columns = columns.into_iter().map(|(name, align)| (shown(name), align)).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row. Cells beyond the last column are dropped; missing cells are empty.
    pub(crate) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut cells: Vec<String> =
            cells.into_iter().map(|cell| visible(&cell.into()).into_owned()).collect();
        cells.resize(self.columns.len(), String::new());
        self.rows.push(cells);
    }

    /// Returns `true` if there are no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Formats the table for a terminal: columns padded to their widest cell, two spaces between them, each line
    /// indented.
    pub(crate) fn text(&self, indent: usize) -> String {
        let names = self.columns.iter().map(|(name, _)| name.as_str());
        let widths: Vec<usize> = names
            .clone()
            .enumerate()
            .map(|(column, name)| {
                let cells = self.rows.iter().map(|row| columns(&row[column]));
                cells.chain([columns(name)]).max().unwrap_or(0)
            })
            .collect();
        let mut text = String::new();
        let mut line = |cells: &mut dyn Iterator<Item = &str>| {
            let mut line = " ".repeat(indent);
            for (column, cell) in cells.enumerate() {
                let padding = " ".repeat(widths[column] - columns(cell));
                let gap = if column == 0 { "" } else { "  " };
                let _ = match self.columns[column].1 {
                    Align::Left => write!(line, "{gap}{cell}{padding}"),
                    Align::Right => write!(line, "{gap}{padding}{cell}"),
                };
            }
            let _ = writeln!(text, "{}", line.trim_end());
        };
        if self.columns.iter().any(|(name, _)| !name.is_empty()) {
            line(&mut names.clone());
        }
        for row in &self.rows {
            line(&mut row.iter().map(String::as_str));
        }
        text
    }

    /// Formats the table for a page.
    pub(crate) fn html(&self) -> String {
        let class = |column: usize| match self.columns[column].1 {
            Align::Left => "",
            Align::Right => " class=\"number\"",
        };
        let mut html = String::from("<table>\n<thead><tr>");
        for (column, (name, _)) in self.columns.iter().enumerate() {
            let _ = write!(html, "<th{}>{}</th>", class(column), escape(name));
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            html.push_str("<tr>");
            for (column, cell) in row.iter().enumerate() {
                let _ = write!(html, "<td{}>{}</td>", class(column), escape(cell));
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody>\n</table>\n");
        html
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new([("label", Align::Left), ("n", Align::Right)]);
        table.row(["nsubj", "12"]);
        table.row(["日本", "3"]);
        table.row(["<b>"]);
        table
    }

    #[test]
    fn columns_are_aligned_by_width_on_screen() {
        assert_eq!(table().text(1), " label   n\n nsubj  12\n 日本    3\n <b>\n");
    }

    #[test]
    fn cells_are_escaped_in_pages() {
        assert!(table().html().contains("<td>&lt;b&gt;</td><td class=\"number\"></td>"));
    }
}
