//! A network in a model file: its tensors under `network.`, and the text of its tokenizer.
//!
//! ```text
//! network.…          f32 or i8       weights; 8-bit weights have their scales beside them
//! network.tokenizer  u8  [bytes]     tokenizer of a pretrained encoder
//! ```
//!
//! A file may leave out a pretrained encoder. It then names the encoder's folder, which must be beside the file, and has a
//! hash of it.

use std::path::Path;

use safetensors::{Dtype, SafeTensorError};
use tutte_neural::{Network, Tensor, TensorData};

use super::tables::{NamedTable, Tables, table};
use crate::ModelProblem;
use crate::model::network::{NetworkDocument, NetworkScorer, OutsideEncoder};

/// Start of the names of all tables of a network.
const PREFIX: &str = "network.";
const TOKENIZER: &str = "network.tokenizer";

/// The tensors of a network, ready to be written.
pub(super) struct NetworkBytes<'a> {
    tensors: Vec<Tensor<'a>>,
    tokenizer: Option<&'a [u8]>,
}

impl<'a> NetworkBytes<'a> {
    pub(super) fn new(scorer: &'a NetworkScorer) -> Self {
        let network = scorer.network();
        if scorer.encoder_outside().is_some() {
            return Self { tensors: network.to_tensors_above_encoder(), tokenizer: None };
        }
        Self { tensors: network.to_tensors(), tokenizer: network.tokenizer() }
    }

    pub(super) fn tables(&self) -> Result<Vec<NamedTable<'_>>, SafeTensorError> {
        let mut all = Vec::with_capacity(self.tensors.len() + 1);
        for Tensor { name, shape, data } in &self.tensors {
            let name = format!("{PREFIX}{name}");
            all.push(match data {
                TensorData::F32(values) => {
                    table(name, Dtype::F32, shape.clone(), bytemuck::cast_slice(values))?
                }
                TensorData::I8(values) => {
                    table(name, Dtype::I8, shape.clone(), bytemuck::cast_slice(values))?
                }
                other => unreachable!("tensors hold numbers of 32 or 8 bits, not {other:?}"),
            });
        }
        if let Some(bytes) = self.tokenizer {
            all.push(table(TOKENIZER, Dtype::U8, vec![bytes.len()], bytes)?);
        }
        Ok(all)
    }
}

impl Tables<'_> {
    /// Makes the network of a document.
    pub(super) fn network(&self, document: NetworkDocument) -> Result<NetworkScorer, ModelProblem> {
        let damaged = |why: String| ModelProblem::Altered { what: format!("its network: {why}") };
        let mut tensors = Vec::new();
        for (name, info, bytes) in self.starting_with(PREFIX) {
            let short = name[PREFIX.len()..].to_owned();
            let shape = info.shape.clone();
            match info.dtype {
                Dtype::F32 => {
                    let numbers = bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four));
                    tensors.push(Tensor::f32(short, shape, numbers.collect::<Vec<f32>>()));
                }
                Dtype::I8 => {
                    let numbers: &[i8] = bytemuck::cast_slice(bytes);
                    tensors.push(Tensor::i8(short, shape, numbers));
                }
                _ if name == TOKENIZER => {}
                other => return Err(damaged(format!("{name} has numbers of type {other:?}"))),
            }
        }
        let tokenizer = match self.info(TOKENIZER) {
            Some(_) => Some(self.list(TOKENIZER, Dtype::U8)?),
            None => None,
        };
        let NetworkDocument {
            description,
            tags,
            combinations,
            weights,
            outside,
            has_tags_of_tagger,
        } = document;
        if let Some(weights) = weights.filter(|weights| !weights.is_finite()) {
            return Err(damaged(format!("its weight beside features is not finite: {weights:?}")));
        }
        let network = match &outside {
            None => Network::from_parts(&description, tokenizer, tensors)
                .map_err(|error| damaged(error.to_string()))?,
            Some(outside) => over(&description, outside, self.folder(), tensors)?,
        };
        let classes = |head: &str| {
            tags.iter().find(|tags| tags.head == head).map_or(0, |tags| tags.names.len())
        };
        let sizes = ["upos", "xpos", "feats"].map(classes);
        if combinations.iter().any(|all| all.iter().zip(sizes).any(|(class, size)| *class >= size))
        {
            return Err(damaged("it combines tags that it does not have".to_owned()));
        }
        let scorer =
            NetworkScorer::new(network, tags).map_err(|error| damaged(error.to_string()))?;
        let scorer = scorer.with_combinations(combinations).with_tags_of_tagger(has_tags_of_tagger);
        let scorer = match weights {
            Some(weights) => scorer.with_score_weights(weights),
            None => scorer,
        };
        Ok(match outside {
            Some(outside) => scorer.with_encoder_outside(outside.folder),
            None => scorer,
        })
    }
}

/// Puts a network on the encoder of a folder beside the model file.
fn over(
    description: &str,
    outside: &OutsideEncoder,
    beside: Option<&Path>,
    tensors: Vec<Tensor<'_>>,
) -> Result<Network, ModelProblem> {
    let OutsideEncoder { folder: name, checksum } = outside;
    let problem = |why: String| ModelProblem::OutsideEncoder { folder: name.clone(), why };
    let beside = beside.ok_or_else(|| problem("this model is not in a folder".to_owned()))?;
    // A name, not a path: a model opens no other folder.
    if Path::new(name).file_name() != Some(name.as_ref()) {
        return Err(problem("this is not the name of a folder".to_owned()));
    }
    let network = Network::from_parts_over(description, &beside.join(name), tensors)
        .map_err(|error| problem(error.to_string()))?;
    let found = network.encoder_checksum();
    if found != *checksum {
        return Err(problem(format!(
            "it has another encoder than the model was trained over (hash {found}, expected {checksum})"
        )));
    }
    Ok(network)
}
