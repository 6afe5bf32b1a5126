//! Parsers from rules, from a few trees, and from raw text: `docs/results/weak-supervision.md`.
//!
//! A section is a list of trials and a text about what they found; the text's verdicts are computed.

mod combined;
mod corpus;
mod correlation;
mod curve;
mod entropic;
mod errors;
mod floors;
mod groups;
mod human;
mod lengths;
mod short;
mod trial;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use tutte_charts::{Axes, Line, Scale, lines};

use self::correlation::Correlation;
use self::groups::Groups;
use self::trial::Weak;
use crate::data::Data;
use crate::lab::Lab;

/// Learning without a treebank
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The page to write; pictures go into `images` beside its folder
    #[arg(short, long, value_name = "FILE", default_value = "docs/results/weak-supervision.md")]
    output: PathBuf,

    /// Trials run at once [default: one for each processor]
    #[arg(short = 'j', long, value_name = "N")]
    threads: Option<usize>,

    /// Where to keep what was found
    #[arg(long, value_name = "DIR", default_value = "target/experiments")]
    cache: PathBuf,
}

/// A part of the page: what it needs to be tried, and its text, with pictures that go into a folder.
type Section = (fn() -> Vec<Weak>, fn(&Lab<Weak>, &Path) -> Result<String>);

/// Runs all trials and writes the page.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let threads = arguments
        .threads
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let lab = Lab::<Weak>::open(Data::find()?, arguments.cache.join("weak"), threads)?;
    let doubts = arguments.cache.join("weak-correlation");
    let doubts = Lab::<Correlation>::open(Data::find()?, doubts, threads)?;
    let sections: [Section; 5] = [
        (short::trials, short::section),
        (lengths::trials, lengths::section),
        (curve::trials, curve::section),
        (human::trials, human::section),
        (combined::trials, combined::section),
    ];
    for (trials, _) in sections {
        lab.run(&trials())?;
    }
    lab.run(&[floors::nearest()])?;
    lab.run(&entropic::trials())?;
    doubts.run(&correlation::trials())?;
    let kept = arguments.cache.join("weak-groups");
    let kept = Lab::<Groups>::open(Data::find()?, kept, threads)?;
    kept.run(&groups::trials())?;

    let folder = arguments.output.parent().map(PathBuf::from).unwrap_or_default();
    let images = folder.join("../images");
    let minutes = (lab.seconds() + doubts.seconds() + kept.seconds()) / 60.0;
    let mut text = introduction(minutes);
    text += &floors::section(&lab)?;
    let [short, lengths, curve, human, combined] = sections;
    for (_, section) in [short, lengths, curve, human] {
        text += &section(&lab, &images)?;
    }
    text += &entropic::section(&lab, &doubts, &kept)?;
    text += &(combined.1)(&lab, &images)?;
    text += DIFFERENCES;
    let path = &arguments.output;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn introduction(minutes: f64) -> String {
    format!(
        "# Parsers without a treebank: rules, a few trees, raw text\n\n\
         Written by `scripts/record-experiments weak-supervision`; do not edit. Every number is computed by \
         it, in {minutes:.0} minutes of processor time.\n\n\
         What is reproduced here: G. Druck, G. Mann & A. McCallum (2009), *Semi-supervised learning of \
         dependency parsers using generalized expectation criteria* (GE), and D. Smith & J. Eisner (2007), \
         *Bootstrapping feature-rich dependency parsers with entropic priors*. Numbers are the share of \
         words, in percent, that have the right head (UAS). Unless something else is said:\n\n\
         - *baseline*: the rules alone, without learning: the score of an arc is the sum of the targets of \
         the rules it fulfils, and the best tree is taken. Most arcs have equal scores; the tie rule is the \
         nearest head, the left one of two, the root last. It moves results by many points.\n\
         - *GE restricted*, *GE full*: learnt as in the paper, with its restricted features (two tags and a \
         direction) or all of McDonald et al. (2005) that see tags and no words; squared error, prior \
         variance 10, trees that may cross and have several roots, the best tree.\n\
         - *ours*: the same objective with the features that `tutte learn` has (`tags`) and variance 30; where \
         rules are few and sentences long, 300 is better, and the default of `tutte learn` (it was chosen on \
         six corpora of section 4, by accuracy); *one root*: with trees of one root, from which the tree with most expected arcs is \
         taken, which is what `tutte learn` and `tutte parse` do if nothing is said.\n\
         - *oracle rules* are counted in the training trees (`tutte rules suggest`); binned targets are \
         rounded to 0, .1, .25, .5, .75 or 1 as in the paper.\n\n"
    )
}

/// What must be known to compare with the papers.
const DIFFERENCES: &str = "
## Differences from the papers' data and methods

- The papers had WSJ10 (Penn Treebank) and the CoNLL-X files; here are UD treebanks, Spanish of CoNLL 2007 (a \
subset), and Dutch and Danish in CoNLL-X columns rebuilt from their source treebanks with splits of their own. \
There is no German or Czech with enough sentences; Danish and Dutch stand for them.
- UD heads are content words, those of WSJ10 often function words: the rules that the oracle finds, and the \
numbers, cannot be compared one by one, only the order of methods.
- The papers' Turkish and Dutch rules use their tag sets; ours are UPOS, or CPOSTAG in CoNLL files.
- GE here is exact: the paper computed the same covariances in O(n⁵), or approximated them. The optimiser is \
L-BFGS from zero, which the paper does not state.
- Smith & Eisner trained by stochastic gradient with early stopping on 200 sentences; here all is one objective \
made small by L-BFGS, first without entropy, then with it, and its weight is chosen on the dev file. Seeds are \
random sentences of the training file, and at most 1,500 of the others are raw text.
- Where trees of one root are asked for, those that have several after punctuation is taken out are not learnt from. \
Parsers from fewer than 200 trees and no raw text have all features; others those that are seen on ten arcs.
- Supervised parsers (and self-training) are conditional log-linear models with the same features and a \
Gaussian prior of variance 1, which suits trees better than 10 does; not the papers' own.
";

/// A picture of accuracy against something, into a folder.
fn picture(images: &Path, name: &str, x_name: &str, curves: &[Line]) -> Result<()> {
    let all = || curves.iter().flat_map(|line| &line.points);
    let least = all().map(|point| point.0).fold(f64::INFINITY, f64::min);
    let most = all().map(|point| point.0).fold(0.0, f64::max);
    let low = all().map(|point| point.1).fold(100.0, f64::min);
    let high = all().map(|point| point.1).fold(0.0, f64::max);
    let step = 10.0;
    // Room for the names above the lines.
    let room = if curves.len() > 2 { 2.0 * step } else { step };
    let axes = Axes {
        x_name: x_name.to_owned(),
        y_name: "UAS".to_owned(),
        x: (least, most),
        scale: Scale::Doubling,
        y: ((low / step).floor() * step, ((high / step).ceil() * step + room).min(100.0)),
        diagonal: false,
    };
    let path = images.join(name);
    fs::write(&path, lines(&axes, curves)).with_context(|| path.display().to_string())
}
