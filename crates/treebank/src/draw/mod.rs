//! Dependency trees as pictures: SVG, TikZ, and Unicode art for terminals.
//!
//! A [`Drawing`] is made from a [`Sentence`], whatever its heads: a tree, half a tree, cycles. Arcs
//! stand above the words, packed by nesting, with their labels at the apex. Long sentences are
//! wrapped, right-to-left sentences drawn right to left, non-projective arcs stand out, arc
//! probabilities (`HeadProb` in MISC) show as opacity. Multiword tokens are bracketed under their
//! words; empty nodes stand among them, greyed. Enhanced dependencies are drawn below the words if
//! asked for.
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
//! [`Drawing::of_two`] puts two analyses of the same words into one picture, the first above, the
//! second below, where they differ in colour.
//!
//! # How it works
//!
//! A scene (nodes, arcs, groups) is taken from the sentence; a layout gives everything a place, in
//! pixels or in cells of a terminal; one module for each kind of output writes that down. The
//! module `layout` says how arcs are packed and lines broken.

mod layout;
mod measure;
mod scene;
mod svg;
mod text;
mod tikz;

pub use measure::{columns, printable};
pub use svg::escape;

use crate::diff::{self, WordDifference};
use crate::{Column, Sentence};
use scene::Scene;

/// What a drawing shows, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Style {
    /// Lines of small print under the words: UPOS by default; features take one line each.
    pub tags: Vec<Column>,
    /// Draw the enhanced dependencies of DEPS below the words.
    pub enhanced: bool,
    /// Show the probability of an arc, `HeadProb` in MISC, if there is one.
    pub probabilities: bool,
    /// From which side sentences are read.
    pub direction: Direction,
    /// SVG and TikZ are wrapped at this width.
    pub width_pixels: usize,
    /// Text is wrapped at this width.
    pub width_columns: usize,
    /// Which text art.
    pub text: TextArt,
    /// SVG for renderers that turn it into pixels or print: one set of colours, an opaque
    /// background, no style sheet, probabilities in numbers (nothing can hover).
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

/// From which side a sentence is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// From the side from which most of its words are.
    #[default]
    Auto,
    /// As English.
    LeftToRight,
    /// As Arabic.
    RightToLeft,
}

/// How trees are drawn with characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextArt {
    /// Arcs if the sentence fits on a line and is read from left to right, branches otherwise.
    #[default]
    Auto,
    /// Arcs above the words, wrapped if need be; branches if a word and its arcs are too wide for
    /// any line.
    Arcs,
    /// A word on each line, and branches to the left of them. Needs no wrapping, and keeps its
    /// shape in terminals that reorder right-to-left text.
    Branches,
}

/// A sentence, or two analyses of one, ready to be drawn. See the [module](self).
#[derive(Clone, Debug)]
pub struct Drawing {
    scene: Scene,
    style: Style,
    /// Of two analyses: where they differ.
    differences: Option<Vec<WordDifference>>,
}

impl Drawing {
    /// A drawing of a sentence. Words without head have no arc.
    pub fn new(sentence: &Sentence, style: &Style) -> Self {
        Self { scene: Scene::of(sentence, style), style: style.clone(), differences: None }
    }

    /// A drawing of two analyses of the same words: the first one's arcs above, the second one's
    /// below, in colour where the other has no such arc. `columns` says which differences count;
    /// without [`Column::Head`] and [`Column::Deprel`], say, arcs are all the same, and those of
    /// tags are shown in any case. As text it lists the words that differ. Words are paired by
    /// their number; what only one sentence has is left out.
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

    /// A drawing of any arcs between the words of a sentence, whatever its own: each has a head, 0 for the
    /// root, a dependent and a label, and a word may have several heads or none. `notes` stand under words, as
    /// the last of their tags. What is about words that are not there is left out.
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

    /// The drawing with a line of small print over it, the name of the sentence say.
    pub fn with_caption(mut self, caption: &str) -> Self {
        self.scene.caption = measure::printable(caption).into_owned();
        self
    }

    /// A standalone SVG image. Its colours follow the reader's preference for light or dark, and
    /// arcs say what they are when the pointer is over them, unless [`Style::fixed`] asks for an
    /// image that any renderer can turn into pixels.
    pub fn svg(&self) -> String {
        svg::page(std::slice::from_ref(self))
    }

    /// An `<svg>` element without style sheet and background, for a page that has [`CSS`] in its
    /// own. Arcs part where they cross in the colour of `tutte-halo`, which should be the page's
    /// background.
    pub fn svg_element(&self) -> String {
        svg::element(self)
    }

    /// A picture for LaTeX documents that say `\usepackage{tikz-dependency}`.
    pub fn tikz(&self) -> String {
        tikz::write(&self.scene, &self.style)
    }

    /// Text art, with a line end after every line. No line is wider than
    /// [`Style::width_columns`].
    pub fn text(&self) -> String {
        match &self.differences {
            Some(differences) => text::differences(&self.scene, differences, &self.style),
            None => text::write(&self.scene, &self.style),
        }
    }
}

/// One SVG image of several drawings, one below the other.
pub fn svg_of_all(drawings: &[Drawing]) -> String {
    svg::page(drawings)
}

/// The beginning of a text that fits into some columns of a terminal, with `…` if that is not all.
///
/// ```
/// assert_eq!(tutte_treebank::draw::shorten("お茶を飲む", 6), "お茶…");
/// ```
pub fn shorten(text: &str, columns: usize) -> String {
    measure::shorten(text, i32::try_from(columns).unwrap_or(i32::MAX))
}

/// The style sheet for [`Drawing::svg_element`]: light, and dark where readers prefer that. All
/// class names start with `tutte-`.
pub const CSS: &str = svg::CSS;

#[cfg(test)]
mod tests;
