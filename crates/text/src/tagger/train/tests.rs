//! Tests of taggers that learn from the probabilities of a teacher.

use super::*;

const TAGS: usize = 3;

/// Scores of the tags of three words, and of pairs of tags.
fn scores() -> (Vec<f32>, Vec<f32>) {
    let words = (0..3 * TAGS).map(|i| ((i * 7) % 5) as f32 / 3.0).collect();
    let pairs = (0..(TAGS + 1) * TAGS).map(|i| ((i * 5) % 7) as f32 / 4.0).collect();
    (words, pairs)
}

/// A teacher that is certain of the second word, and not of the others.
fn teacher() -> [Vec<Target>; 3] {
    [vec![(0, 0.25), (2, 0.75)], vec![(1, 1.0)], vec![(2, 0.5), (0, 0.3), (1, 0.2)]]
}

/// Returns all sequences of tags with their scores and the teacher's probabilities.
fn sequences(words: &[f32], pairs: &[f32]) -> Vec<(f64, f64)> {
    let probability = |word: usize, tag: usize| {
        teacher()[word].iter().find(|(known, _)| *known == tag).map_or(0.0, |(_, q)| *q)
    };
    let mut all = Vec::new();
    for code in 0..TAGS.pow(3) {
        let tags = [code % TAGS, code / TAGS % TAGS, code / TAGS / TAGS];
        let mut before = TAGS;
        let mut score = 0.0;
        let mut of_teacher = 1.0;
        for (word, tag) in tags.into_iter().enumerate() {
            score += f64::from(words[word * TAGS + tag]) + f64::from(pairs[before * TAGS + tag]);
            of_teacher *= probability(word, tag);
            before = tag;
        }
        all.push((score, of_teacher));
    }
    all
}

/// Returns the cross-entropy of the chain to the teacher, by enumeration.
fn cross_entropy(words: &[f32], pairs: &[f32]) -> f64 {
    let all = sequences(words, pairs);
    let log_sum = all.iter().map(|(score, _)| score.exp()).sum::<f64>().ln();
    all.iter().map(|(score, of_teacher)| of_teacher * (log_sum - score)).sum()
}

#[test]
fn slopes_are_those_of_the_cross_entropy() {
    let (words, pair_scores) = scores();
    let chain = Chain::new(TAGS, pair_scores.clone());
    let mut memory = ChainMemory::default();
    let mut pairs = vec![0.0; pair_scores.len()];
    chain.marginals(&words, &mut memory, |cell, p| pairs[cell] += p);
    let mut slopes = memory.marginals.clone();
    for (word, targets) in teacher().iter().enumerate() {
        targets.iter().for_each(|(tag, q)| slopes[word * TAGS + tag] -= q);
        let before = word.checked_sub(1).map(|before| teacher()[before].clone());
        subtract_pairs(&mut pairs, &chain, before.as_deref(), targets);
    }
    let step = 1.0 / 64.0;
    let moved = |scores: &[f32], at: usize, by: f32| {
        let mut scores = scores.to_vec();
        scores[at] += by;
        scores
    };
    for (at, slope) in slopes.iter().enumerate() {
        let value = |by| cross_entropy(&moved(&words, at, by), &pair_scores);
        let difference = (value(step) - value(-step)) / f64::from(2.0 * step);
        assert!((difference - slope).abs() < 1e-4, "{at}: {difference} {slope}");
    }
    for (at, slope) in pairs.iter().enumerate() {
        let value = |by| cross_entropy(&words, &moved(&pair_scores, at, by));
        let difference = (value(step) - value(-step)) / f64::from(2.0 * step);
        assert!((difference - slope).abs() < 1e-4, "{at}: {difference} {slope}");
    }
}

/// Words are independent in the teacher, and so they are in a chain without scores of pairs.
#[test]
fn slopes_are_zero_where_teacher_and_student_agree() {
    let (words, _) = scores();
    let chain = Chain::new(TAGS, vec![0.0; (TAGS + 1) * TAGS]);
    let mut memory = ChainMemory::default();
    let mut pairs = vec![0.0; (TAGS + 1) * TAGS];
    chain.marginals(&words, &mut memory, |cell, p| pairs[cell] += p);
    let mut before: Option<Vec<Target>> = None;
    for marginals in memory.marginals.chunks_exact(TAGS) {
        let targets: Vec<Target> = marginals.iter().copied().enumerate().collect();
        subtract_pairs(&mut pairs, &chain, before.as_deref(), &targets);
        let probs: Vec<f32> = marginals.iter().map(|p| *p as f32).collect();
        assert!(is_learnt(&probs, &targets), "no step is made");
        before = Some(targets);
    }
    assert!(pairs.iter().all(|slope| slope.abs() < 1e-12), "{pairs:?}");
    assert!(!is_learnt(&[0.5, 0.5, 0.0], &[(0, 0.6), (1, 0.4)]));
    assert!(is_learnt(&[0.999, 0.001], &[(0, 1.0)]) && !is_learnt(&[0.9, 0.1], &[(0, 1.0)]));
}

/// Sentences of two words. The second is written in the same way as noun and as verb.
fn treebank(misc: impl Fn(usize) -> String) -> Vec<Sentence> {
    let sentence = |number: usize| {
        let (upos, xpos, feats, lemma) = [
            ("NOUN", "NN", "Number=Sing", "duck"),
            ("VERB", "VB", "_", "duck"),
            ("NOUN", "NNS", "Number=Plur", "ducks"),
        ][number % 3];
        let text = format!(
            "1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n2\tduck\t{lemma}\t{upos}\t{xpos}\t{feats}\t0\troot\t_\t{}\n",
            misc(number)
        );
        text.parse().unwrap()
    };
    (0..30).map(sentence).collect()
}

fn options() -> TaggerOptions {
    TaggerOptions { passes: 10, ..TaggerOptions::for_words(60) }
}

#[test]
fn a_certain_teacher_is_a_treebank_bit_for_bit() {
    let plain = Tagger::train(&treebank(|_| "_".to_owned()), &options()).unwrap();
    let certain = treebank(|number| {
        let tags = ["NOUN:NN:Number=Sing", "VERB:VB:_", "NOUN:NNS:Number=Plur"][number % 3];
        format!("TeacherTags={tags}:0.7")
    });
    let taught = Tagger::train(&certain, &options()).unwrap();
    assert_eq!(taught.weights, plain.weights);
    assert_eq!(taught.fine.weights, plain.fine.weights);
    assert_eq!(taught.chain.scores(), plain.chain.scores());
    assert_eq!(taught.lemmas, plain.lemmas);
}

#[test]
fn a_student_has_the_probabilities_of_its_teacher() {
    let sentence = |form: &str, tags: &str, misc: &str| -> Sentence {
        format!("1\t{form}\t_\t{tags}\t0\troot\t_\t{misc}\n").parse().unwrap()
    };
    let tags = "TeacherTags=NOUN:NN:Number=Sing:0.6,NOUN:NNS:Number=Plur:0.2,VERB:VB:_:0.2";
    let duck = sentence("duck", "NOUN\tNN\tNumber=Sing", tags);
    // All tags are in the treebank.
    let mut treebank = vec![
        sentence("geese", "NOUN\tNNS\tNumber=Plur", "_"),
        sentence("walk", "VERB\tVB\t_", "_"),
    ];
    treebank.extend(vec![duck.clone(); 30]);
    let options = TaggerOptions { passes: 60, dropout: 0.0, word_dropout: 0.0, ..options() };
    let tagger = Tagger::train(&treebank, &options).unwrap();
    let words = tagger.soft_tags(&duck, 0.0, &mut TaggerMemory::default());
    for (xpos, expected) in [("NN", 0.6), ("NNS", 0.2), ("VB", 0.2)] {
        let found = words[0].iter().find(|tag| tag.xpos == xpos).unwrap().probability;
        assert!((found - expected).abs() < 0.05, "{xpos}: {found}");
    }
}

#[test]
fn tags_that_a_treebank_lacks_are_left_out() {
    let plain = Tagger::train(&treebank(|_| "_".to_owned()), &options()).unwrap();
    let strange = treebank(|number| {
        let tags = ["NOUN:NN:Number=Sing", "VERB:VB:_", "NOUN:NNS:Number=Plur"][number % 3];
        format!("TeacherTags={tags}:0.5,INTJ:UH:_:0.5")
    });
    let taught = Tagger::train(&strange, &options()).unwrap();
    assert_eq!(taught.weights, plain.weights);
    let wrong = treebank(|_| "TeacherTags=NOUN:0.5".to_owned());
    let said = Tagger::train(&wrong, &options()).unwrap_err().to_string();
    assert!(said.contains("TeacherTags=NOUN:0.5"), "{said}");
}
