//! Taggers in model files: a document of everything but the tables, and tables of numbers.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tutte_linear::Compact;

use super::Tagger;
use super::chain::Chain;
use super::columns::RowLayout;
use super::lexicon::{Entry, Lexicon};
use super::morphology::{Bundles, Morphology};
use crate::DocumentProblem;
use crate::lemma::LemmaDocument;

/// A tagger without its tables, for a model file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TaggerDocument {
    upos: Vec<String>,
    /// XPOS and FEATS of the words of each coarse tag.
    fine: Vec<Vec<(String, String)>>,
    bits: u32,
    fine_bits: u32,
    lemmas: Option<LemmaDocument>,
}

/// Rows and columns of the tables of weights of a tagger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaggerShapes {
    /// Table of coarse tags.
    pub coarse: (usize, usize),
    /// Table of fine tags and features.
    pub fine: (usize, usize),
}

/// Tables of a tagger, for a model file.
#[derive(Clone, Debug)]
pub struct TaggerTables {
    /// Weights of coarse tags.
    pub weights: Compact,
    /// Weights of fine tags and morphological features.
    pub fine: Compact,
    /// Scores of pairs of neighbouring tags.
    pub pairs: Vec<f32>,
    /// Keys of the words of the lexicon, ascending.
    pub words: Vec<u64>,
    /// Class of each word of the lexicon.
    pub classes: Vec<u32>,
    /// Most frequent tag of each word of the lexicon, plus 1.
    pub usual: Vec<u8>,
    /// Keys of the contexts that choose lemma rules, ascending.
    pub lemmas: Vec<u64>,
    /// Index of the lemma rule of each entry of `lemmas`.
    pub rules: Vec<u16>,
}

impl Tagger<Compact> {
    /// Returns everything but the tables.
    pub fn document(&self) -> TaggerDocument {
        let bundles = |tag| {
            let list = self.fine.bundles().of_tag(tag).iter();
            list.map(|bundle| (bundle.xpos.clone(), bundle.feats.clone())).collect()
        };
        TaggerDocument {
            upos: self.upos.clone(),
            fine: (0..self.upos.len()).map(bundles).collect(),
            bits: self.rows.bits,
            fine_bits: self.fine.rows.bits,
            lemmas: self.lemmas.as_ref().map(|lemmas| lemmas.document()),
        }
    }

    /// Returns the shapes of the tables of weights, as [`TaggerDocument::shapes`] does.
    pub fn shapes(&self) -> TaggerShapes {
        let shape = |rows: RowLayout| (1 << rows.bits, rows.width);
        TaggerShapes { coarse: shape(self.rows), fine: shape(self.fine.rows) }
    }

    /// Returns the tables.
    pub fn tables(&self) -> TaggerTables {
        let words = self.lexicon.sorted();
        let lemmas = self.lemmas.as_ref().map(|lemmas| lemmas.sorted()).unwrap_or_default();
        let (lemmas, rules) = lemmas.into_iter().unzip();
        TaggerTables {
            weights: self.weights.clone(),
            fine: self.fine.weights.clone(),
            pairs: self.chain.scores().to_vec(),
            words: words.iter().map(|(key, _)| *key).collect(),
            classes: words.iter().map(|(_, entry)| entry.class).collect(),
            usual: words.iter().map(|(_, entry)| entry.tag).collect(),
            lemmas,
            rules,
        }
    }
}

impl TaggerDocument {
    /// Allowed binary logarithms of the number of rows.
    const BITS: std::ops::RangeInclusive<u32> = 1..=28;

    fn rows(&self) -> RowLayout {
        RowLayout { bits: self.bits, width: self.upos.len() }
    }

    /// Returns the shapes of the tables of weights.
    ///
    /// # Errors
    /// [`DocumentProblem::Altered`] if this is not a document of [`Tagger::document`].
    pub fn shapes(&self) -> Result<TaggerShapes, DocumentProblem> {
        let is_possible = (1..=super::MAX_TAGS).contains(&self.upos.len())
            && self.fine.len() == self.upos.len()
            && self.fine.iter().all(|bundles| !bundles.is_empty())
            && [self.bits, self.fine_bits].iter().all(|bits| Self::BITS.contains(bits));
        if !is_possible {
            let what = format!(
                "its tagger has {} tags, {} lists of features and tables of 2^{} and 2^{} rows",
                self.upos.len(),
                self.fine.len(),
                self.bits,
                self.fine_bits
            );
            return Err(DocumentProblem::Altered { what });
        }
        let width = Bundles::new(self.fine.clone()).width();
        Ok(TaggerShapes {
            coarse: (1 << self.bits, self.rows().width),
            fine: (1 << self.fine_bits, width),
        })
    }

    /// Returns the number of scores of pairs of neighbouring tags.
    pub fn pairs(&self) -> usize {
        (self.upos.len() + 1) * self.upos.len()
    }

    /// Returns the tagger with these tables. The tables of weights must have the [`shapes`](Self::shapes) of this
    /// document.
    ///
    /// # Errors
    /// [`DocumentProblem::Altered`] if the tables do not fit the document.
    pub fn tagger(self, tables: TaggerTables) -> Result<Tagger<Compact>, DocumentProblem> {
        let altered = |what: &str| Err(DocumentProblem::Altered { what: what.to_owned() });
        let TaggerTables { weights, fine, pairs, words, classes, usual, lemmas, rules } = tables;
        if pairs.len() != self.pairs() || pairs.iter().any(|score| !score.is_finite()) {
            return altered("its tagger has pairs of tags without a finite score");
        }
        if usual.iter().any(|tag| usize::from(*tag) > self.upos.len()) {
            return altered("its lexicon has a tag that its tagger does not have");
        }
        let names = self.upos.iter().chain(self.fine.iter().flatten().flat_map(|(a, b)| [a, b]));
        if names.into_iter().any(|name| name.contains(['\t', '\n', '\r'])) {
            return altered("its tagger has a tag that no column can hold");
        }
        let rows = self.rows();
        let entries = classes.into_iter().zip(usual).map(|(class, tag)| Entry { class, tag });
        Ok(Tagger {
            rows,
            weights,
            chain: Chain::new(self.upos.len(), pairs),
            lexicon: Arc::new(Lexicon::from_entries(words.into_iter().zip(entries))),
            fine: Morphology::new(Bundles::new(self.fine), self.fine_bits, fine),
            lemmas: self
                .lemmas
                .map(|document| Arc::new(document.lemmatizer(lemmas.into_iter().zip(rules)))),
            upos: self.upos,
        })
    }
}
