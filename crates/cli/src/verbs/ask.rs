//! `tutte ask`: the words to annotate next.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use serde::Serialize;
use tutte::active::{Question, SentenceUncertainty, Unit, questions};
use tutte::{
    Alternative, Annotation, Compact, Error, KeepColumns, LabelledDistribution, Mixture, Model,
    Parser, ParserModel,
};
use tutte_treebank::{Format, Sentence, create};

use super::parse::probability;
use crate::failure::{Outcome, cannot_write, usage};
use crate::files::Files;
use crate::input::{ModelAndFiles, Tagged};
use crate::output::output_file;
use crate::report::{count, counted, rounded};
use crate::session::Session;

/// Choose the words that annotators should annotate next
///
/// Writes the sentences whose heads the model is least certain of, as CoNLL-U without heads and labels. Annotators fill
/// in the heads and labels of the words with Ask in MISC. `tutte train` learns from these partial trees.
///
/// In MISC, Ask is the rank of a word, AskEntropy the entropy of its head in nats, and AskHead lists its probable heads
/// as HEAD:LABEL:PROBABILITY. Sentences without tags are tagged by the model.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte ask -m got.tutte raw.conllu -n 200 --diverse -o queue.conllu
  tutte ask -m got.tutte raw.conllu -n 20 --by sentences -o queue.conllu
  tutte train seed.conllu queue.conllu -o better.tutte")]
pub(crate) struct Ask {
    #[command(flatten)]
    asking: ModelAndFiles,

    /// File to write, compressed if its name ends in .gz or .zst; - is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-", value_parser = output_file())]
    output: PathBuf,

    /// Choose words by the entropy of their heads, or sentences by the entropy of their trees per word
    #[arg(long, value_name = "UNIT", value_enum, default_value_t = By::Words)]
    by: By,

    /// Number of words or sentences
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100, value_parser = at_least_one)]
    count: usize,

    /// Prefer words unlike those already chosen, by form, tag and probable heads
    #[arg(long)]
    diverse: bool,

    /// Keep the heads of the input, and ask about the other words
    #[arg(long)]
    keep_heads: bool,

    /// List heads more probable than this
    #[arg(long, value_name = "P", default_value_t = 0.05, value_parser = probability)]
    alt: f64,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a whole number above 0".to_owned()),
        Ok(count) => Ok(count),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    Words,
    Sentences,
}

impl By {
    fn unit(self) -> Unit {
        match self {
            By::Words => Unit::Word,
            By::Sentences => Unit::Sentence,
        }
    }
}

/// Counts of the run.
#[derive(Debug, Serialize)]
struct AskSummary {
    output: String,
    sentences: usize,
    words: usize,
    asked_sentences: usize,
    asked_words: usize,
    /// Entropies in nats: of all candidate words, and of the chosen ones.
    mean_entropy: Option<f64>,
    highest_entropy: Option<f64>,
    lowest_entropy: Option<f64>,
    /// Sentences whose kept heads contradict each other; none of their words is chosen.
    contradictions: usize,
}

impl Ask {
    /// Returns the files of the run.
    pub(super) fn files(&self) -> Files {
        self.asking.files().writes("-o", [&self.output])
    }
}

pub(crate) fn run(arguments: &Ask, session: &Session) -> Result<Outcome> {
    session.refuse_json_beside(&arguments.output)?;
    session.files(&arguments.asking.files)?;
    let model = arguments.asking.load()?;
    let output = arguments.output.display().to_string();
    let cannot_write = || cannot_write(&arguments.output);
    let mut writer = create(&arguments.output)?;
    let (pool, contradictions) = Pool::read(arguments, &model, session)?;
    let Pool { sentences, uncertainties } = &pool;
    let unit = arguments.by.unit();
    let questions = questions(uncertainties, unit, arguments.count, arguments.diverse);
    let queue = Queue::new(&questions);
    let labels = model.require_parser()?.labels.labels();
    let mut parser = arguments.parser(model.require_parser()?);
    for number in &queue.order {
        let mut sentence = sentences[*number].clone();
        let constraints = arguments.keep().constraints(&sentence, labels)?;
        let analysis = parser.analyse(&sentence, &constraints)?;
        queue.note(*number, &mut sentence, &analysis.distribution, arguments)?;
        writer.write(&sentence).with_context(cannot_write)?;
    }
    writer.finish().with_context(cannot_write)?.commit()?;
    let open: usize = uncertainties.iter().map(SentenceUncertainty::words).sum();
    let entropies = uncertainties.iter().filter_map(|of| Some(of.mean()? * of.words() as f64));
    let entropy: f64 = entropies.sum();
    let summary = AskSummary {
        output,
        sentences: sentences.len(),
        words: sentences.iter().map(Sentence::len).sum(),
        asked_sentences: queue.order.len(),
        asked_words: questions.iter().map(|question| question.words.len()).sum(),
        mean_entropy: (open > 0).then(|| rounded(entropy / open as f64)),
        highest_entropy: questions.iter().map(|q| rounded(q.entropy)).reduce(f64::max),
        lowest_entropy: questions.iter().map(|q| rounded(q.entropy)).reduce(f64::min),
        contradictions,
    };
    if session.json() {
        session.print_json(&summary)?;
    } else {
        session.note(summary.text());
    }
    let outcome = if contradictions > 0 { Outcome::CheckFailed } else { Outcome::Good };
    Ok(session.end(outcome))
}

impl Ask {
    fn parser<'a>(&self, model: &'a ParserModel<Compact>) -> Parser<'a, Compact> {
        Parser::new(model).with_tree_set(self.asking.tree_set(model))
    }

    fn keep(&self) -> KeepColumns {
        KeepColumns { heads: self.keep_heads, labels: false }
    }
}

/// Sentences with candidate words.
struct Pool {
    sentences: Vec<Sentence>,
    uncertainties: Vec<SentenceUncertainty>,
}

impl Pool {
    /// Reads the pool. Also returns the number of sentences with contradictions.
    fn read(arguments: &Ask, model: &Model<Compact>, session: &Session) -> Result<(Self, usize)> {
        let mut pool = Self { sentences: Vec::new(), uncertainties: Vec::new() };
        let mut contradictions = 0;
        let trees = model.require_parser()?;
        let worker = || {
            let mut parser = arguments.parser(trees);
            let labels = trees.labels.labels();
            let keep = arguments.keep();
            move |_: Tagged<'_, '_>, sentence: &mut Sentence| {
                if sentence.format() == Format::ConllX {
                    let file = sentence.place().file;
                    return Err(usage(format!(
                        "{file} is CoNLL-X, which has no room for questions; make it CoNLL-U with \
                         `tutte convert`"
                    )));
                }
                let constraints = keep.constraints(sentence, labels);
                match constraints.and_then(|constraints| parser.analyse(sentence, &constraints)) {
                    Ok(analysis) => {
                        let keep_heads = arguments.keep_heads;
                        let distribution = &analysis.distribution;
                        Ok(Ok(SentenceUncertainty::new(sentence, distribution, keep_heads)?))
                    }
                    Err(error @ Error::Contradiction { .. }) => Ok(Err(error)),
                    Err(error) => Err(error.into()),
                }
            }
        };
        arguments.asking.each(model, session, worker, |sentence, uncertainty| {
            match uncertainty {
                Ok(uncertainty) => {
                    pool.sentences.push(sentence.clone());
                    pool.uncertainties.push(uncertainty);
                }
                Err(contradiction) => {
                    contradictions += 1;
                    session.complain(&contradiction.into());
                }
            }
            Ok(())
        })?;
        Ok((pool, contradictions))
    }
}

/// The chosen words, sentence by sentence.
struct Queue {
    /// Sentences, those with the best word first.
    order: Vec<usize>,
    /// Rank of every chosen word, for each sentence.
    ranks: BTreeMap<usize, BTreeMap<usize, usize>>,
}

/// Keys in MISC.
const KEYS: [&str; 3] = ["Ask", "AskEntropy", "AskHead"];

impl Queue {
    fn new(questions: &[Question]) -> Self {
        let mut order = Vec::new();
        let mut ranks = BTreeMap::<usize, BTreeMap<usize, usize>>::new();
        for (rank, question) in (1..).zip(questions) {
            let ranks = ranks.entry(question.sentence).or_insert_with(|| {
                order.push(question.sentence);
                BTreeMap::new()
            });
            ranks.extend(question.words.iter().map(|word| (*word, rank)));
        }
        Self { order, ranks }
    }

    /// Writes the questions about a sentence into it, and makes room for answers.
    fn note(
        &self,
        number: usize,
        sentence: &mut Sentence,
        distribution: &LabelledDistribution<'_>,
        arguments: &Ask,
    ) -> Result<()> {
        if !arguments.keep_heads {
            let words = sentence.len();
            sentence.set_heads(&vec![None; words])?;
            sentence.set_deprels(&vec!["_"; words])?;
        }
        Annotation::clear(sentence)?;
        let mixture = Mixture::from(distribution);
        let ranks = &self.ranks[&number];
        let mut entries = Vec::with_capacity(sentence.len());
        for word in 1..=sentence.len() {
            let mut own = Vec::new();
            if let Some(rank) = ranks.get(&word) {
                let [ask, entropy, heads] = KEYS;
                own.push((ask, rank.to_string()));
                own.push((entropy, format!("{:.4}", distribution.head_entropy(word)?.max(0.0))));
                let alternatives = mixture.alternatives_above(word, arguments.alt)?;
                own.extend(Alternative::list(&alternatives).map(|list| (heads, list)));
            }
            entries.push(own);
        }
        sentence.replace_misc(&KEYS, &entries)?;
        let entropy = format!("{:.4}", distribution.entropy().max(0.0));
        sentence.replace_comments("tutte_", &[("tutte_entropy", entropy)])?;
        Ok(())
    }
}

impl AskSummary {
    fn text(&self) -> String {
        let words = counted(self.asked_words, "word");
        let sentences =
            format!("{} of {}", count(self.asked_sentences), counted(self.sentences, "sentence"));
        let (Some(high), Some(low)) = (self.highest_entropy, self.lowest_entropy) else {
            return format!(
                "nothing to ask: the model is certain of all heads in {}",
                counted(self.sentences, "sentence")
            );
        };
        let mean = self.mean_entropy.unwrap_or_default();
        format!(
            "asks about {words} in {sentences}; entropy {high:.2} to {low:.2} nats, on average {mean:.2} over \
             all words"
        )
    }
}
