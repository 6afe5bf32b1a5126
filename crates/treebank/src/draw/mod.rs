//! Drawings of dependency trees: SVG, TikZ, and Unicode art for terminals.
//!
//! A [`Drawing`] is made from a [`Sentence`] with any heads: a tree, a partial tree or cycles. Arcs
//! stand above the words, packed by nesting, with their labels at the apex. Long sentences are
//! wrapped, and right-to-left sentences are drawn from right to left. Non-projective arcs are
//! highlighted, and arc probabilities (`HeadProb` and `LabelProb` in MISC, see [`ArcProbability`])
//! are shown as opacity and, in text, as numbers. Multiword tokens are bracketed under their words. Empty nodes stand among the words, in grey. Enhanced
//! dependencies can be drawn below the words.
//!
//! ```
//! use tutte_treebank::{Sentence, draw::{Drawing, Style}};
//!
//! let sentence: Sentence = "\
//! 1\tShe\tshe\tPRON\t_\t_\t2\tnsubj\t_\t_
//! 2\tpoured\tpour\tVERB\t_\t_\t0\troot\t_\t_
//! 3\ttea\ttea\tNOUN\t_\t_\t2\tobj\t_\t_
//!
//! "
//! .parse()?;
//! let drawing = Drawing::new(&sentence, &Style::default());
//! assert_eq!(format!("\n{}", drawing.text()), "
//!           root
//!   ┌─nsubj─┐ │ ┌─obj─┐
//!   ▼       │ ▼ │     ▼
//!  She     poured    tea
//! PRON      VERB    NOUN
//! ");
//! assert!(drawing.svg().starts_with("<svg "));
//! assert!(drawing.tikz().contains("\\depedge"));
//! # Ok::<(), tutte_treebank::Error>(())
//! ```
//!
//! [`Drawing::of_two`] draws two analyses of the same words, the first above and the second below.
//! Differences are coloured.
//!
//! # How it works
//!
//! A scene (nodes, arcs, groups) is built from the sentence. A layout gives everything a place, in
//! pixels or in cells of a terminal. One module per output format writes the layout. The module
//! `layout` describes how arcs are packed and lines are broken.

mod layout;
mod measure;
mod scene;
mod svg;
mod text;
mod tikz;

pub use measure::{columns, printable};
pub use svg::escape;

use std::fmt;

use crate::diff::{self, WordDifference};
use crate::{Column, Sentence};
use scene::Scene;

/// Content and appearance of a drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns shown in small print under the words: UPOS by default. Each feature takes one line.
    pub tags: Vec<Column>,
    /// Draws the enhanced dependencies of DEPS below the words.
    pub enhanced: bool,
    /// Shows the probability of an arc, `HeadProb` and `LabelProb` in MISC.
    pub probabilities: bool,
    /// Reading direction of sentences.
    pub direction: Direction,
    /// Width in pixels at which SVG and TikZ are wrapped.
    pub width_pixels: usize,
    /// Width in columns at which text is wrapped.
    pub width_columns: usize,
    /// Shape of text art.
    pub text: TextArt,
    /// Writes SVG for renderers without style sheets or interaction, such as printers: light
    /// colours only, an opaque background, no style sheet, probabilities as numbers.
    pub fixed: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            tags: vec![Column::Upos],
            enhanced: false,
            probabilities: true,
            direction: Direction::Auto,
            width_pixels: 1000,
            width_columns: 80,
            text: TextArt::Auto,
            fixed: false,
        }
    }
}

/// Reading direction of a sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// The direction of most of its words.
    #[default]
    Auto,
    /// As in English.
    LeftToRight,
    /// As in Arabic.
    RightToLeft,
}

/// Shape of trees drawn with characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextArt {
    /// Arcs if the sentence fits on a line and is read from left to right, otherwise branches.
    #[default]
    Auto,
    /// Arcs above the words, wrapped if necessary; branches if a word and its arcs are too wide for
    /// any line.
    Arcs,
    /// One word per line, with branches on the left. Needs no wrapping, and keeps its shape in
    /// terminals that reorder right-to-left text.
    Branches,
}

/// Probability of an arc: that of its head, and that of its label given the head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArcProbability {
    /// Probability of the head.
    pub head: f64,
    /// Probability of the label given the head, if there is a label.
    pub label: Option<f64>,
}

impl ArcProbability {
    /// Returns the probability of head and label together.
    pub fn joint(self) -> f64 {
        self.head * self.label.unwrap_or(1.0)
    }
}

impl fmt::Display for ArcProbability {
    /// Writes the probability of head and label together, such as `.86`. If that of the head alone
    /// is higher by more than .01, writes the product of both: `.97×.86`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |probability: f64| {
            let number = format!("{probability:.2}");
            number.strip_prefix('0').map(str::to_owned).unwrap_or(number)
        };
        match self.label {
            Some(label) if self.head - self.joint() > 0.01 => {
                write!(f, "{}×{}", number(self.head), number(label))
            }
            _ => f.write_str(&number(self.joint())),
        }
    }
}

/// A sentence, or two analyses of one, ready to be drawn. See the [module](self).
#[derive(Clone, Debug)]
pub struct Drawing {
    scene: Scene,
    style: Style,
    /// Differences between two analyses.
    differences: Option<Vec<WordDifference>>,
}

impl Drawing {
    /// Draws a sentence. Words without head have no arc.
    pub fn new(sentence: &Sentence, style: &Style) -> Self {
        Self { scene: Scene::of(sentence, style), style: style.clone(), differences: None }
    }

    /// Draws a sentence with these probabilities of its arcs, instead of those in MISC. `[0]` is
    /// that of the arc to word 1.
    ///
    /// ```
    /// use tutte_treebank::{Sentence, draw::{ArcProbability, Drawing, Style}};
    ///
    /// let sentence: Sentence = "1\tTea\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n".parse()?;
    /// let probability = ArcProbability { head: 0.97, label: Some(0.86) };
    /// let drawing = Drawing::with_probabilities(&sentence, &[Some(probability)], &Style::default());
    /// assert!(drawing.text().contains("root .97×.86"));
    /// # Ok::<(), tutte_treebank::Error>(())
    /// ```
    pub fn with_probabilities(
        sentence: &Sentence,
        probabilities: &[Option<ArcProbability>],
        style: &Style,
    ) -> Self {
        let mut scene = Scene::of(sentence, style);
        scene.set_probabilities(probabilities, style);
        Self { scene, style: style.clone(), differences: None }
    }

    /// Draws two analyses of the same words: the arcs of the first above, those of the second
    /// below. Arcs that the other analysis does not have are coloured.
    ///
    /// `columns` selects the differences that count. For example, without [`Column::Head`] and
    /// [`Column::Deprel`] all arcs count as equal. Selected columns with tags are always shown. The
    /// text form lists the words that differ. Words are paired by their number; words that only one
    /// sentence has are left out.
    ///
    /// ```
    /// use tutte_treebank::{Column, Sentence, draw::{Drawing, Style}};
    ///
    /// let gold: Sentence = "1\tSo\t_\tADV\t_\t_\t2\tadvmod\t_\t_\n2\tbe\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n".parse()?;
    /// let mut system = gold.clone();
    /// system.set_deprel(1, "mark")?;
    /// let columns = [Column::Head, Column::Deprel];
    /// let drawing = Drawing::of_two(&gold, &system, &columns, &Style::default());
    /// assert_eq!(drawing.text(), "1 So  DEPREL  advmod  mark\n");
    /// # Ok::<(), tutte_treebank::Error>(())
    /// ```
    pub fn of_two(first: &Sentence, second: &Sentence, columns: &[Column], style: &Style) -> Self {
        let mut style = style.clone();
        for &column in columns {
            let is_tag =
                [Column::Lemma, Column::Upos, Column::Xpos, Column::Feats].contains(&column);
            if is_tag && !style.tags.contains(&column) {
                style.tags.push(column);
            }
        }
        let scene = Scene::of_two(first, second, columns, &style);
        let differences = Some(diff::words(first, second, columns));
        Self { scene, style, differences }
    }

    /// Draws arbitrary arcs between the words of a sentence instead of its own. Each arc is a head
    /// (0 for the root), a dependent and a label. A word may have several heads or none. `notes`
    /// stand under words, below their tags. Arcs and notes with words that do not exist are left
    /// out.
    ///
    /// ```
    /// use tutte_treebank::{Sentence, draw::{Drawing, Style}};
    ///
    /// let sentence: Sentence = "1\ta\t_\tDET\t_\t_\t_\t_\t_\t_\n2\tcat\t_\tNOUN\t_\t_\t_\t_\t_\t_\n\n".parse()?;
    /// let drawing = Drawing::of_arcs(&sentence, &[(2, 1, "?")], &[(2, "head")], &Style::default());
    /// assert_eq!(format!("\n{}", drawing.text()), "
    ///  ┌─?──┐
    ///  ▼    │
    ///  a   cat
    /// DET NOUN
    ///     head
    /// ");
    /// # Ok::<(), tutte_treebank::Error>(())
    /// ```
    pub fn of_arcs(
        sentence: &Sentence,
        arcs: &[(usize, usize, &str)],
        notes: &[(usize, &str)],
        style: &Style,
    ) -> Self {
        let scene = Scene::of_arcs(sentence, arcs, notes, style);
        Self { scene, style: style.clone(), differences: None }
    }

    /// Adds a line of small print above the drawing, such as the name of the sentence.
    pub fn with_caption(mut self, caption: &str) -> Self {
        self.scene.caption = measure::printable(caption).into_owned();
        self
    }

    /// Returns a standalone SVG image. Its colours follow the reader's preference for light or
    /// dark, and arcs show a description when the pointer is over them. With [`Style::fixed`], the
    /// image works in any renderer.
    pub fn svg(&self) -> String {
        svg::page(std::slice::from_ref(self))
    }

    /// Returns an `<svg>` element without style sheet and background, for a page that includes
    /// [`CSS`]. Crossing arcs are separated by a line in the colour of `tutte-halo`, which should
    /// be the background of the page.
    pub fn svg_element(&self) -> String {
        svg::element(self)
    }

    /// Returns a picture for LaTeX documents with `\usepackage{tikz-dependency}`.
    pub fn tikz(&self) -> String {
        tikz::write(&self.scene, &self.style)
    }

    /// Returns text art, with a line end after every line. No line is wider than
    /// [`Style::width_columns`].
    pub fn text(&self) -> String {
        match &self.differences {
            Some(differences) => text::differences(&self.scene, differences, &self.style),
            None => text::write(&self.scene, &self.style),
        }
    }
}

/// Returns one SVG image of several drawings, one below the other.
pub fn svg_of_all(drawings: &[Drawing]) -> String {
    svg::page(drawings)
}

/// Shortens a text to a number of columns of a terminal, with `…` at the end if it was longer.
///
/// ```
/// assert_eq!(tutte_treebank::draw::shorten("お茶を飲む", 6), "お茶…");
/// ```
pub fn shorten(text: &str, columns: usize) -> String {
    measure::shorten(text, i32::try_from(columns).unwrap_or(i32::MAX))
}

/// The style sheet for [`Drawing::svg_element`], with light and dark colours. All class names start
/// with `tutte-`.
pub const CSS: &str = svg::CSS;

#[cfg(test)]
mod tests;
