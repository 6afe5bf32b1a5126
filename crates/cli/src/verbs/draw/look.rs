//! Appearance of drawings: arguments that `draw` and `diff` share.

use clap::{Args, ValueEnum};
use tutte_treebank::Column;
use tutte_treebank::draw::{self, Direction, Drawing, Style, TextArt};

use super::destination::Kind;
use crate::session::Session;

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Appearance")]
pub(crate) struct Look {
    /// Width of drawings, in columns of text or in pixels [default: the terminal's width, 1000 pixels]
    #[arg(long, value_name = "N")]
    width: Option<usize>,

    /// Columns below the words: upos, xpos, lemma and feats, separated by commas, or none
    #[arg(long, value_name = "COLUMNS", default_value = "upos", value_parser = columns)]
    tags: Columns,

    /// Hide the probabilities of arcs
    #[arg(long)]
    no_probs: bool,

    /// Direction of the writing
    #[arg(long, value_name = "SIDE", default_value = "auto")]
    direction: Side,
}

/// Appearance of drawings that only `draw` has.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Appearance")]
pub(super) struct TreeLook {
    /// Draw enhanced dependencies below the words
    #[arg(long)]
    enhanced: bool,

    /// Draw text as arcs above the words, or as branches with one word per line; auto uses branches if arcs do not fit
    #[arg(long, value_name = "SHAPE", default_value = "auto")]
    shape: Shape,
}

impl TreeLook {
    pub(super) fn style(&self, look: Style) -> Style {
        let text = match self.shape {
            Shape::Auto => TextArt::Auto,
            Shape::Arcs => TextArt::Arcs,
            Shape::Branches => TextArt::Branches,
        };
        Style { enhanced: self.enhanced, text, ..look }
    }
}

/// Columns by name; `Vec` itself would make clap take several arguments.
pub(crate) type Columns = std::sync::Arc<[Column]>;

/// Reads `head,deprel`; `none` is no column.
pub(crate) fn columns(names: &str) -> Result<Columns, String> {
    if names == "none" {
        return Ok([].into());
    }
    let column = |name: &str| match name.trim().to_lowercase().as_str() {
        "lemma" => Ok(Column::Lemma),
        "upos" | "cpostag" => Ok(Column::Upos),
        "xpos" | "postag" => Ok(Column::Xpos),
        "feats" => Ok(Column::Feats),
        "head" => Ok(Column::Head),
        "deprel" => Ok(Column::Deprel),
        "deps" => Ok(Column::Deps),
        "misc" => Ok(Column::Misc),
        _ => Err(format!(
            "no column is called {name:?}; there are lemma, upos, xpos, feats, head, deprel, \
             deps and misc"
        )),
    };
    names.split(',').map(column).collect()
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Side {
    Auto,
    Ltr,
    Rtl,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shape {
    Auto,
    Arcs,
    Branches,
}

impl Look {
    /// Returns the style; drawings on a `page` have its margins.
    pub(crate) fn style(&self, kind: Kind, page: bool, session: &Session) -> Style {
        let standard = if page { 940 } else { Style::default().width_pixels };
        let width_columns = self.width.unwrap_or_else(|| session.width());
        Style {
            tags: self.tags.to_vec(),
            probabilities: !self.no_probs,
            direction: match self.direction {
                Side::Auto => Direction::Auto,
                Side::Ltr => Direction::LeftToRight,
                Side::Rtl => Direction::RightToLeft,
            },
            width_pixels: self.width.unwrap_or(standard),
            width_columns,
            fixed: kind.is_fixed(),
            ..Style::default()
        }
    }
}

/// A drawing on a page; the first one brings the style sheet for all.
pub(crate) fn figure(drawing: &Drawing, first: bool) -> String {
    let sheet = if first {
        format!("<style>\n{}.tutte-halo{{stroke:var(--paper)}}\n</style>\n", draw::CSS)
    } else {
        String::new()
    };
    sheet + &drawing.svg_element()
}
