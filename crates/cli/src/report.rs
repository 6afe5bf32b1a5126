//! Layout of results: tables for terminals and pages, charts as SVG, pages as HTML.
//!
//! A verb describes a [`Table`] once, then prints it or puts it on a [`HtmlPage`]. A [`chart`] is an SVG string, for a
//! page or a file of its own. [`Results`] takes both, and JSON.

mod page;
pub(crate) mod png;
pub(crate) mod reliability;
mod results;
mod table;

pub(crate) use page::{HtmlPage, write_whole};
pub(crate) use results::Results;
pub(crate) use table::{Align, Table};
pub(crate) use tutte_charts as chart;
pub(crate) use tutte_treebank::draw::{columns, escape, printable as visible, shorten};

pub(crate) use crate::numbers::{count, counted, hundredths, percent, rounded};
