//! Parsers trained from rules, a few trees and raw text: `docs/results/weak-supervision.md`.
//!
//! Each section is a list of trials and a text about their outcomes. Its verdicts are computed.

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

/// Train parsers from rules, a few trees and raw text
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The page to write; charts go into `images` beside its folder
    #[arg(short, long, value_name = "FILE", default_value = "docs/results/weak-supervision.md")]
    output: PathBuf,

    /// Trials run at once [default: one for each processor]
    #[arg(short = 'j', long, value_name = "N")]
    threads: Option<usize>,

    /// Folder for cached outcomes
    #[arg(long, value_name = "DIR", default_value = "target/experiments")]
    cache: PathBuf,
}

/// A section of the page: its trials, and a function that writes its text and puts its charts into a folder.
type Section = (fn() -> Vec<Weak>, fn(&Lab<Weak>, &Path) -> Result<String>);

/// Runs all trials and writes the page.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let threads = arguments
        .threads
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let lab = Lab::<Weak>::open(Data::find()?, arguments.cache.join("weak"), threads)?;
    let folder = arguments.cache.join("weak-correlation");
    let correlation_lab = Lab::<Correlation>::open(Data::find()?, folder, threads)?;
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
    correlation_lab.run(&correlation::trials())?;
    let folder = arguments.cache.join("weak-groups");
    let groups_lab = Lab::<Groups>::open(Data::find()?, folder, threads)?;
    groups_lab.run(&groups::trials())?;

    let folder = arguments.output.parent().map(PathBuf::from).unwrap_or_default();
    let images = folder.join("../images");
    let minutes = (lab.seconds() + correlation_lab.seconds() + groups_lab.seconds()) / 60.0;
    let mut text = introduction(minutes);
    text += &floors::section(&lab)?;
    let [short, lengths, curve, human, combined] = sections;
    for (_, section) in [short, lengths, curve, human] {
        text += &section(&lab, &images)?;
    }
    text += &entropic::section(&lab, &correlation_lab, &groups_lab)?;
    text += &(combined.1)(&lab, &images)?;
    text += DIFFERENCES;
    let path = &arguments.output;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn introduction(minutes: f64) -> String {
    format!(
        "# Parsers without a treebank: rules, a few trees, raw text\n\n\
         Written by `scripts/record-experiments weak-supervision`; do not edit. The script computes every \
         number, in {minutes:.0} minutes of processor time.\n\n\
         This page reproduces two papers: G. Druck, G. Mann & A. McCallum (2009), *Semi-supervised learning of \
         dependency parsers using generalized expectation criteria* (GE), and D. Smith & J. Eisner (2007), \
         *Bootstrapping feature-rich dependency parsers with entropic priors*. Numbers are UAS: the share of \
         words with the right head, in percent. Unless stated otherwise:\n\n\
         - *baseline*: the rules without training. The score of an arc is the sum of the targets of the rules \
         it matches, and decoding takes the best tree. Most arcs have equal scores. Ties go to the nearest \
         head, then to the left one, and the root comes last; this choice changes results by many points.\n\
         - *GE restricted*, *GE full*: trained as in the paper, with its restricted features (two tags and a \
         direction) or with all features of McDonald et al. (2005) that use tags and no words. Squared error, \
         prior variance 10, crossing arcs and several roots allowed, MAP decoding.\n\
         - *ours*: the same objective with the features of `tutte learn` (`tags`) and variance 30. If rules are \
         few and sentences long, variance 300 is better, and it is the default of `tutte learn` (chosen by \
         accuracy on six corpora of section 4). *One root*: single-root trees and MBR decoding, the defaults \
         of `tutte learn` and `tutte parse`.\n\
         - *oracle rules*: rules counted in the training trees (`tutte rules suggest`). Binned targets are \
         rounded to 0, .1, .25, .5, .75 or 1, as in the paper.\n\n"
    )
}

/// Differences that matter for a comparison with the papers.
const DIFFERENCES: &str = "
## Differences from the papers' data and methods

- The papers used WSJ10 (Penn Treebank) and the CoNLL-X files. This page uses UD treebanks, a subset of the Spanish \
of CoNLL 2007, and Dutch and Danish in CoNLL-X columns. The latter two were rebuilt from their source treebanks, \
with other splits. No German or Czech treebank with enough sentences was available; Danish and Dutch replace them.
- UD heads are content words; those of WSJ10 are often function words. So oracle rules and numbers cannot be \
compared one by one. Only the order of methods can.
- The papers' Turkish and Dutch rules use their own tag sets. Ours use UPOS, or CPOSTAG in CoNLL files.
- GE is exact here. The paper computed the same covariances in O(n⁵), or approximated them. Here the optimiser is \
L-BFGS from zero; the paper does not state its own.
- Smith & Eisner trained by stochastic gradient with early stopping on 200 sentences. Here L-BFGS minimises one \
objective, first without entropy, then with it; the weight of the entropy is chosen on the dev file. Seeds are random \
sentences of the training file. At most 1,500 of the other sentences are raw text.
- Single-root parsers are not trained on trees that have several roots after punctuation is removed. Parsers from \
fewer than 200 trees and no raw text use all features; others use features that occur on at least ten arcs.
- Supervised parsers and self-training are not the papers' own. They are conditional log-linear models with the same \
features and a Gaussian prior of variance 1, which is better for trees than 10.
";

/// Draws accuracy by `x_name` into a file of a folder.
fn write_chart(images: &Path, name: &str, x_name: &str, curves: &[Line]) -> Result<()> {
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
