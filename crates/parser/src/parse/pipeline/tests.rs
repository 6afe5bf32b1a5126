//! The pipeline, compared with its steps one by one.

use std::sync::Arc;

use tutte_treebank::Reader;

use super::*;
use crate::text::{Tagger, TaggerOptions, TokenizerOptions, raw_text};
use crate::{TrainingOptions, train};

/// "watch" is a noun as often as a verb.
fn treebank() -> Vec<Sentence> {
    let text = "\
1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\twatch\twatch\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

1\tDogs\tdog\tNOUN\t_\t_\t2\tcompound\t_\t_
2\twatch\twatch\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No
3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

1\tCats\tcat\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tpurr\tpurr\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

";
    Reader::new(text.as_bytes()).collect::<Result<_, _>>().unwrap()
}

fn model() -> Model<Compact> {
    let treebank = treebank();
    let options =
        TrainingOptions { passes: 3, bits: 14, label_bits: 8, ..TrainingOptions::default() };
    let mut model = Model::from(train(&treebank, &options, &mut ()).unwrap());
    let tokenizer = Tokenizer::train(&treebank, &TokenizerOptions::default()).unwrap();
    let tagger = Tagger::train(&treebank, &TaggerOptions::for_words(9)).unwrap();
    (model.tokenizer, model.tagger) = (Some(Arc::new(tokenizer)), Some(Arc::new(tagger)));
    model.compact()
}

fn bare(sentence: &Sentence) -> Sentence {
    let lines = sentence.words().map(|word| {
        let misc = word.misc();
        format!("{}\t{}\t_\t_\t_\t_\t_\t_\t_\t{misc}\n", word.id(), word.form())
    });
    lines.collect::<String>().parse().unwrap()
}

#[test]
fn tags_of_the_model_have_probabilities() {
    let model = model();
    let mut annotator = Pipeline::new(&model).annotator();
    let mut tags = |sentence: &mut Sentence, detail| {
        let readings = annotator.tag(sentence).unwrap();
        let options = AnnotationOptions { detail, ..AnnotationOptions::default() };
        let constraints = Constraints::new();
        let found = annotator.analyse(sentence, &readings, &constraints).unwrap();
        let mut annotation = found.annotation(&constraints, &options).unwrap();
        annotator.add_tag_probabilities(sentence, &readings, &options, &mut annotation);
        annotation.words.into_iter().map(|word| word.tag).collect::<Vec<_>>()
    };
    let tagger = model.tagger.as_deref().unwrap();
    let mut memory = TaggerMemory::default();
    for sentence in treebank() {
        let found = tags(&mut bare(&sentence), Detail::Words);
        let tagging = tagger.tag(&sentence, &mut memory);
        let upos: Vec<f64> = found.iter().flatten().map(|tag| tag.upos).collect();
        assert_eq!(upos, tagging.upos_probs);
        let less = tags(&mut bare(&sentence), Detail::Sentence);
        assert_eq!(less, vec![None; sentence.len()]);
        let given = tags(&mut sentence.clone(), Detail::Words);
        assert_eq!(given, vec![None; sentence.len()], "given tags have no probabilities");
    }
}

#[test]
fn readings_of_uncertain_tags_are_averaged() {
    let model = model();
    let tagger = model.tagger.as_deref().unwrap();
    let mut sentence = bare(&treebank()[0]);
    let (best, readings) = tagger.readings(&sentence, 4, 0.1, &mut TaggerMemory::default());
    assert!(readings.len() > 1, "the example should be ambiguous");

    // Step by step.
    let mut mean = 0.0;
    let mut total = 0.0;
    for reading in &readings {
        let mut read = sentence.clone();
        tagger.write(reading, &mut read).unwrap();
        let distribution =
            Parser::new(model.require_parser().unwrap()).distribution(&read).unwrap();
        mean += reading.prob * distribution.arcs().marginal(2, 1).unwrap();
        total += reading.prob;
    }
    let mut tagged = sentence.clone();
    tagger.write(&best, &mut tagged).unwrap();

    let mut annotator = Pipeline::new(&model).annotator();
    let found = annotator.tag(&mut sentence).unwrap();
    assert!(found.is_new() && found.is_ambiguous() && !found.is_untagged());
    let constraints = Constraints::new();
    let distributions = annotator.analyse(&mut sentence, &found, &constraints).unwrap();
    assert_eq!(sentence, tagged, "the best tags are written");
    assert!((distributions.mixture().marginals()[(2, 1)] - mean / total).abs() < 1e-12);
    let annotation = annotator.annotate(&mut bare(&treebank()[0])).unwrap();
    let options = AnnotationOptions::tree();
    let expected = distributions.annotation(&constraints, &options).unwrap();
    assert_eq!(annotation, Some(expected.clone()));
    let parse = distributions.mixture().best_parse(&constraints).unwrap();
    let heads = expected.words.iter().map(|word| word.head);
    assert!(heads.eq(parse.tree.heads().iter().copied().map(Some)));
    let head_probs: Vec<f64> = expected.words.iter().filter_map(|word| word.head_prob).collect();
    assert_eq!(head_probs, parse.head_probs);

    let mut one = Pipeline::new(&model).with_readings(1).annotator();
    assert!(!one.tag(&mut bare(&sentence)).unwrap().is_ambiguous());
}

#[test]
fn a_contradiction_leaves_the_best_tags() {
    let model = model();
    let mut sentence = bare(&treebank()[0]);
    let mut annotator = Pipeline::new(&model).annotator();
    let readings = annotator.tag(&mut sentence).unwrap();
    let before = sentence.clone();
    let constraints = Constraints::new().require_root(1).require_root(2);
    let error = annotator.analyse(&mut sentence, &readings, &constraints).unwrap_err();
    assert!(matches!(error, Error::Contradiction { .. }), "{error}");
    assert_eq!(sentence, before);
}

#[test]
fn tags_come_from_their_source() {
    let model = model();
    let gold = &treebank()[0];
    let odd: Sentence = gold.as_str().replace("VERB", "X").parse().unwrap();
    let tag = |tags, sentence: &Sentence| {
        let mut sentence = sentence.clone();
        let readings = Pipeline::new(&model).with_tags(tags).annotator().tag(&mut sentence);
        let is_untagged = readings.unwrap().is_untagged();
        (sentence.word(2).unwrap().upos().to_owned(), is_untagged)
    };
    assert_eq!(tag(TagSource::Auto, &odd), ("X".to_owned(), false));
    assert_eq!(tag(TagSource::Given, &bare(gold)), ("_".to_owned(), false));
    assert_ne!(tag(TagSource::Model, &odd).0, "X");
    assert_ne!(tag(TagSource::Auto, &bare(gold)).0, "_");
    let without = Model { tagger: None, ..model.clone() };
    assert!(Pipeline::new(&without).annotator().tag(&mut bare(gold)).unwrap().is_untagged());
}

#[test]
fn text_becomes_trees_with_any_number_of_threads() {
    let model = model();
    let many: Vec<Sentence> = std::iter::repeat_n(treebank(), 400).flatten().collect();
    let text = raw_text(&many);
    let one = Pipeline::new(&model).parse_text(&text, 1).unwrap();
    assert_eq!(raw_text(&one), text);
    assert!(one.iter().all(|sentence| sentence.tree().is_ok()));
    assert!(one == Pipeline::new(&model).parse_text(&text, 3).unwrap());
    let words = Pipeline::new(&model).with_tags(TagSource::Model).parse_words(&many, 2).unwrap();
    assert_eq!(words.len(), many.len());
}

#[test]
fn models_without_a_parser_tag() {
    let model = Model { parser: None, ..model() };
    let sentences = Pipeline::new(&model).parse_text("Cats purr.", 1).unwrap();
    let columns: Vec<_> = sentences[0].words().map(|w| (w.upos(), w.head())).collect();
    assert_eq!(columns, [("NOUN", None), ("VERB", None), ("PUNCT", None)]);
}
