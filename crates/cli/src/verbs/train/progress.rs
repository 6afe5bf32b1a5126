//! Progress of a training in the terminal: notes, a table of passes, and the time left.

use std::ops::ControlFlow;

use tutte::learn::{AnnealedStage, Event, Observer, PassReport, Stage, TreeSetChoice, Work};
use tutte::text::TagScores;

use super::scores::Scores;
use crate::interrupt::Interrupt;
use crate::numbers::{clock, count, counted, pace};
use crate::session::{Session, Status};

/// Prints the events of a training, and stops it after Ctrl-C.
pub(super) struct Terminal<'a> {
    session: &'a Session,
    status: Status,
    interrupt: Interrupt,
    /// `true` once the header of the table of passes is printed.
    has_header: bool,
    /// `true` once the header of the table of stages is printed.
    has_stage_header: bool,
}

impl<'a> Terminal<'a> {
    pub(super) fn new(session: &'a Session, interrupt: Interrupt) -> Self {
        Self {
            session,
            status: session.status(),
            interrupt,
            has_header: false,
            has_stage_header: false,
        }
    }

    fn note(&self, text: impl AsRef<str>) {
        self.status.aside(|| self.session.note(text));
    }

    fn pass(&mut self, report: &PassReport) {
        let PassReport { pass, number, dev, is_best, labelling, took, .. } = report;
        if let Some(stage) = &pass.stage {
            return self.stage(stage, report);
        }
        if !std::mem::replace(&mut self.has_header, true) {
            let columns = dev.map_or("", |_| Scores::header(*labelling));
            self.note(format!("pass     loss{columns}     time"));
        }
        let columns = dev.map_or_else(String::new, |dev| Scores::new(&dev, *labelling).columns());
        let mark = if *is_best && dev.is_some() { "  best so far" } else { "" };
        let loss = pass.loss;
        let time = clock(*took);
        self.note(format!("{number:4}  {loss:7.4}{columns}  {time:>7}{mark}"));
    }
}

impl Terminal<'_> {
    /// Prints a stage of annealing. Best trees of training and development data are those of the highest score.
    fn stage(&mut self, stage: &AnnealedStage, report: &PassReport) {
        let PassReport { number, dev, is_best, labelling, took, .. } = report;
        if !std::mem::replace(&mut self.has_stage_header, true) {
            let columns = dev.map_or("", |_| Scores::header(*labelling));
            self.note(format!(
                "stage        T  gamma      risk   entropy     norm  errors  on dev  changed{columns}     time"
            ));
        }
        let AnnealedStage { temperature, gamma, risk, entropy, norm, errors, changed, .. } = stage;
        let temperature = temperature.map_or("start".to_owned(), |t| format!("{t:.4}"));
        let held_out = stage.held_out_errors.map_or("-".to_owned(), |errors| errors.to_string());
        let columns = dev.map_or_else(String::new, |dev| Scores::new(&dev, *labelling).columns());
        let mark = if *is_best && dev.is_some() { "  best so far" } else { "" };
        let time = clock(*took);
        self.note(format!(
            "{number:5} {temperature:>8} {gamma:>6} {risk:9.1} {entropy:9.1} {norm:8.2} {errors:7} {held_out:>7} \
             {changed:8}{columns}  {time:>7}{mark}"
        ));
    }
}

impl Observer<Event<'_>> for Terminal<'_> {
    fn observe(&mut self, event: Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Skipped(error) => self.status.aside(|| self.session.skip(&error.into())),
            Event::PartialTrees { trees, partial, heads, known_heads } => self.note(format!(
                "partial trees: {} of {}, with {} of {} known; the others are summed over",
                count(partial),
                counted(trees, "tree"),
                count(known_heads),
                counted(heads, "head"),
            )),
            Event::TreeSetChosen(choice) => self.note(tree_set_note(&choice)),
            Event::Projectivised { arcs, sentences } => {
                let arcs = counted(arcs, "arc");
                let sentences = counted(sentences, "sentence");
                self.note(format!("lifted {arcs} in {sentences} so that none cross"));
            }
            Event::FeaturePairsLimited { sentences, pairs } => self.note(format!(
                "some arcs of {} have more than {pairs} pairs of morphological features; the others are \
                 left out",
                counted(sentences, "sentence"),
            )),
            Event::Reused(stage) => {
                self.note(format!("{} from the interrupted training", name(stage)));
            }
            Event::Finished { stage, took, scores } => {
                let scores = scores.map_or_else(String::new, |scores| format!(": {}", shares(scores)));
                self.note(format!("{} learnt in {}{scores}", name(stage), clock(took)));
            }
            Event::Resumed { pass } => self.note(format!("resuming after pass {pass}")),
            Event::Pass(report) => self.pass(report),
            Event::CheckpointFailed(error) => {
                self.status.aside(|| self.session.warn(&error.into()));
            }
            Event::Working(work) => self.status.show(|| status(work)),
            _ => {}
        }
        if self.interrupt.is_requested() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Returns a note that explains the choice of a tree set.
pub(crate) fn tree_set_note(choice: &TreeSetChoice) -> String {
    let have = |number, what| match number {
        0 => format!("none has {what}"),
        1 => format!("one has {what}"),
        _ => format!("{} have {what}", count(number)),
    };
    let TreeSetChoice { tree_set, trees, crossing, multi_root, has_partial, comparison, .. } =
        *choice;
    let crossing = have(crossing, "crossing arcs");
    let several = have(multi_root, "several roots");
    let trees = counted(trees, "tree");
    let partial = if has_partial { " (arcs of partial trees may cross)" } else { "" };
    let compared = match comparison {
        Some(found) => format!(
            "; small parsers have LAS {:.1} with projective trees and {:.1} with crossing ones on {}",
            100.0 * found.projective,
            100.0 * found.nonprojective,
            counted(found.words, "held-out word")
        ),
        None if choice.has_many_crossing_arcs() => {
            format!("; {:.1} % of all arcs cross others", 100.0 * choice.crossing_arc_share)
        }
        None => String::new(),
    };
    format!("tree set {tree_set}: of {trees} {crossing}, {several}{partial}{compared}")
}

fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Tokenizer => "tokenizer",
        Stage::Tagger => "tagger",
        Stage::Jackknife => "jackknifed tags of the treebank",
        _ => "parser",
    }
}

/// Returns the stage under way, its time so far and the time left.
fn status(work: &Work) -> String {
    let doing = match work.stage {
        Stage::Tokenizer => "learning words and sentences".to_owned(),
        Stage::Tagger => "learning tags".to_owned(),
        Stage::Jackknife => "tagging the treebank for the parser".to_owned(),
        Stage::Pilot => "comparing projective and crossing trees".to_owned(),
        Stage::Pruner => "learning which arcs to leave out".to_owned(),
        Stage::FirstPass { pass, of } => format!("pass {pass} of {of}"),
        Stage::FirstPassOutputs => "parsing for the second pass".to_owned(),
        Stage::SecondPass { pass, of } => format!("second pass {pass} of {of}"),
        Stage::Epoch { epoch, of } => format!("epoch {epoch} of {of}"),
        Stage::Finishing => "finishing".to_owned(),
        _ => "getting ready".to_owned(),
    };
    if work.is_stopping {
        return format!("{doing}, stopping after this pass; Ctrl-C again stops at once");
    }
    format!("{doing}, {}", pace(work.elapsed, work.words, work.took, work.left))
}

/// Returns the scores of a tagger: `UPOS 95.48, XPOS 94.75, FEATS 95.43, lemmas 97.03`.
fn shares(scores: &TagScores) -> String {
    let TagScores { upos, xpos, feats, lemmas, .. } = *scores;
    let named = [("UPOS", upos), ("XPOS", xpos), ("FEATS", feats), ("lemmas", lemmas)];
    let shares = named.map(|(name, right)| format!("{name} {:.2}", 100.0 * scores.share(right)));
    shares.join(", ")
}
