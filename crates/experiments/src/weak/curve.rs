//! Accuracy on Spanish by number of rules, and an error analysis (Druck, Mann & McCallum 2009, figure and table 3).

use std::path::Path;

use anyhow::{Context, Result};
use tutte_charts::Line;

use super::corpus::Corpus;
use super::errors::DISTANCES;
use super::trial::{Evaluated, Features, How, Oracle, RuleSource, Set, Weak};
use super::write_chart;
use crate::lab::Lab;
use crate::page::{Finding, Table, Verdict, count, decimals, percent};

const COUNTS: [usize; 6] = [25, 50, 100, 200, 400, 800];

fn corpus() -> Corpus {
    Corpus::whole("conll2007/spanish", 60)
}

type Curve = (&'static str, fn(usize) -> Weak);

const CURVES: [Curve; 3] = [
    ("baseline", |top| Weak { how: How::Rules, ..ge(top) }),
    ("GE full", ge),
    ("GE ours, exact, σ² 100, one root", |top| Weak {
        rules: RuleSource::Oracle { kind: Oracle::Curve, top, least: None, exact: true },
        features: Features::Ours,
        variance: Some(100.0),
        set: Set::One,
        ..ge(top)
    }),
];

fn ge(top: usize) -> Weak {
    let rules = RuleSource::Oracle { kind: Oracle::Curve, top, least: None, exact: false };
    Weak { evaluated: Evaluated::HeldOut, ..Weak::new(corpus(), rules) }
}

/// Returns the trial of the error analysis: possible parents and sequences, as in the paper.
fn analysed() -> Weak {
    let rules = RuleSource::Oracle {
        kind: Oracle::ParentsSequence,
        top: usize::MAX,
        least: Some(100),
        exact: false,
    };
    Weak { evaluated: Evaluated::Errors, ..Weak::new(corpus(), rules) }
}

pub(crate) fn trials() -> Vec<Weak> {
    let mut all = vec![analysed()];
    for count in COUNTS {
        all.extend(CURVES.iter().map(|(_, trial)| trial(count)));
    }
    all
}

pub(crate) fn section(lab: &Lab<Weak>, images: &Path) -> Result<String> {
    let mut text = "\n## 3. Up to 800 rules, Spanish ≤ 60\n\n\
        Rules that match more than 50 pairs, by their share of arcs, highest first. Half of them use two tags, \
        direction and distance; the other half also use words between or beside. Accuracy on the test \
        file.\n\n\
        ![UAS by number of rules](../images/weak-spanish-60.svg)\n\n"
        .to_owned();
    let mut columns = vec!["rules".to_owned()];
    columns.extend(COUNTS.iter().map(ToString::to_string));
    let mut table = Table::new(&columns);
    let mut drawn = Vec::new();
    let mut all = Vec::new();
    for (name, trial) in CURVES {
        let found: Vec<f64> = COUNTS
            .iter()
            .map(|&count| Ok(lab.outcome(&trial(count))?.test.uas()))
            .collect::<Result<_>>()?;
        let mut row = vec![name.to_owned()];
        row.extend(found.iter().map(|uas| percent(*uas)));
        table.row(&row);
        let points = COUNTS.iter().zip(&found).map(|(count, uas)| (*count as f64, 100.0 * uas));
        drawn.push(Line { name: name.to_owned(), points: points.collect() });
        all.push(found);
    }
    write_chart(images, "weak-spanish-60.svg", "oracle rules", &drawn)?;
    text += table.text();
    let above = all[0].iter().zip(&all[1]).filter(|(baseline, ge)| ge > baseline).count();
    let rises = all[1].windows(2).filter(|pair| pair[1] > pair[0]).count();
    text += "\n";
    text += &Finding::table(&[
        Finding {
            claim: "GE beats the baseline at every number of rules".to_owned(),
            paper: Some("yes".to_owned()),
            ours: format!("in {above} of {} points", COUNTS.len()),
            verdict: Verdict::mostly(above, COUNTS.len()),
        },
        Finding {
            claim: "more rules help, up to 800".to_owned(),
            paper: Some("still rising".to_owned()),
            ours: format!("accuracy rises in {rises} of {} steps", COUNTS.len() - 1),
            verdict: Verdict::mostly(rises, COUNTS.len() - 1),
        },
    ]);
    text += &errors(lab)?;
    Ok(text)
}

fn errors(lab: &Lab<Weak>) -> Result<String> {
    let found = lab.outcome(&analysed())?;
    let errors = found.errors.context("the outcome has no error analysis")?;
    let mut text = format!(
        "\n### Error analysis\n\n\
         GE full with possible parents and sequence rules ({} rules), on the {} words of the training file. \
         {} % of them get the right head. The tables show shares of all words in the gold trees and in the \
         predicted trees. Dependents of the root have no direction and no distance; the paper leaves them \
         out, so its columns sum to .96.\n\n",
        found.rules,
        count(errors.words),
        percent(found.train.uas())
    );
    let share = |count: usize| decimals(count as f64 / errors.words.max(1) as f64);
    let mut table = Table::new(&["tag of the head", "gold", "predicted"]);
    let mut heads: Vec<_> = errors.heads.iter().collect();
    heads.sort_by_key(|(_, [gold, _])| std::cmp::Reverse(*gold));
    for (tag, [gold, predicted]) in heads {
        table.row(&[tag.clone(), share(*gold), share(*predicted)]);
    }
    text += table.text();
    let mut table = Table::new(&["direction, distance", "gold", "predicted"]);
    for name in ["left", "right", "root"] {
        let [gold, predicted] = errors.directions.get(name).copied().unwrap_or_default();
        table.row(&[name.to_owned(), share(gold), share(predicted)]);
    }
    for name in DISTANCES {
        let [gold, predicted] = errors.distances.get(name).copied().unwrap_or_default();
        table.row(&[name.to_owned(), share(gold), share(predicted)]);
    }
    text += "\n";
    text += table.text();
    let mut table = Table::new(&["most frequent wrong arcs (distance)", "number"]);
    for (arc, times) in errors.worst(10) {
        table.row(&[arc.to_owned(), count(times)]);
    }
    text += "\n";
    text += table.text();
    let of = |name: &str, which: usize| {
        errors.distances.get(name).map_or(0, |counts: &[usize; 2]| counts[which])
    };
    let near = (of("1", 0), of("1", 1));
    let far = (of("> 10", 0), of("> 10", 1));
    text += "\n";
    text += &Finding::table(&[Finding {
        claim: "too many short arcs, too few long ones".to_owned(),
        paper: Some("distance 1 .495 / .564, > 10 .066 / .039".to_owned()),
        ours: format!(
            "distance 1 {} / {}, > 10 {} / {}",
            share(near.0),
            share(near.1),
            share(far.0),
            share(far.1)
        ),
        verdict: Verdict::holds(near.1 > near.0 && far.1 < far.0),
    }]);
    Ok(text)
}
