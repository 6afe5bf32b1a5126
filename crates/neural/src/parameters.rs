//! All weights of a network in one list: names, shapes, values, and their gradients in the same layout.
//!
//! A network declares each parameter once. Saving, loading, the optimizer, checkpoints and tests walk the list.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::error::Error;
use crate::random::{Random, seed_of};

/// Values of a tensor.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TensorData<'a> {
    /// Numbers in single precision.
    F32(Cow<'a, [f32]>),
    /// 8-bit weights. Their scales are in a tensor of the same name with `.scales`.
    I8(Cow<'a, [i8]>),
}

/// Named tensor, as it is stored in a file. Its values are row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor<'a> {
    /// Name, which no other tensor of the network has.
    pub name: String,
    /// Sizes, the outermost first.
    pub shape: Vec<usize>,
    /// Values.
    pub data: TensorData<'a>,
}

impl<'a> Tensor<'a> {
    /// A tensor of numbers in single precision.
    pub fn f32(
        name: impl Into<String>,
        shape: Vec<usize>,
        values: impl Into<Cow<'a, [f32]>>,
    ) -> Self {
        Self { name: name.into(), shape, data: TensorData::F32(values.into()) }
    }

    /// A tensor of 8-bit weights.
    pub fn i8(
        name: impl Into<String>,
        shape: Vec<usize>,
        values: impl Into<Cow<'a, [i8]>>,
    ) -> Self {
        Self { name: name.into(), shape, data: TensorData::I8(values.into()) }
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        match &self.data {
            TensorData::F32(values) => values.len(),
            TensorData::I8(values) => values.len(),
        }
    }
}

/// Tensors by name, from which a network takes its own.
pub(crate) struct TensorSource<'a>(BTreeMap<String, Tensor<'a>>);

/// Name of this source in errors.
pub(crate) const ORIGIN: &str = "the network's tensors";

impl<'a> TensorSource<'a> {
    pub(crate) fn new(tensors: Vec<Tensor<'a>>) -> Self {
        Self(tensors.into_iter().map(|tensor| (tensor.name.clone(), tensor)).collect())
    }

    /// Removes the tensor of this name and shape.
    fn take(&mut self, name: &str, shape: &[usize]) -> Result<TensorData<'a>, Error> {
        let found = self.0.remove(name);
        let tensor = found
            .ok_or_else(|| Error::MissingTensor { origin: ORIGIN.into(), name: name.into() })?;
        if tensor.shape != shape || shape.iter().product::<usize>() != tensor.len() {
            let (found, expected) = (tensor.shape, shape.to_vec());
            return Err(Error::Shape { origin: ORIGIN.into(), name: name.into(), found, expected });
        }
        Ok(tensor.data)
    }

    pub(crate) fn take_f32(
        &mut self,
        name: &str,
        shape: &[usize],
    ) -> Result<Cow<'a, [f32]>, Error> {
        match self.take(name, shape)? {
            TensorData::F32(values) => {
                check_finite(ORIGIN, name, &values)?;
                Ok(values)
            }
            TensorData::I8(_) => Err(self.wrong_type(name, "I8")),
        }
    }

    pub(crate) fn take_i8(&mut self, name: &str, shape: &[usize]) -> Result<Cow<'a, [i8]>, Error> {
        match self.take(name, shape)? {
            TensorData::I8(values) => Ok(values),
            TensorData::F32(_) => {
                Err(self.wrong_type(name, "F32, where 8-bit weights are expected"))
            }
        }
    }

    fn wrong_type(&self, name: &str, found: &str) -> Error {
        Error::ElementType { origin: ORIGIN.into(), name: name.into(), found: found.into() }
    }
}

/// Refuses numbers that are not finite.
pub(crate) fn check_finite(origin: &str, name: &str, values: &[f32]) -> Result<(), Error> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => {
            let value = values[index];
            Err(Error::NotFinite { origin: origin.into(), name: name.into(), index, value })
        }
        None => Ok(()),
    }
}

/// Place of a parameter in the list of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) start: usize,
    pub(crate) len: usize,
}

impl Slot {
    pub(crate) fn range(self) -> Range<usize> {
        self.start..self.start + self.len
    }

    pub(crate) fn of(self, values: &[f32]) -> &[f32] {
        &values[self.range()]
    }
}

/// Role of a parameter, which decides how it is moved and stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// Weights of a linear or bilinear map. They decay.
    Matrix,
    /// Biases, gains, mixture weights. They do not decay.
    Vector,
    /// Table of embeddings, of which a batch uses few rows.
    Table,
}

/// Description of one parameter.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Parameter {
    /// Name, as in files.
    pub name: String,
    /// Sizes, the outermost first.
    pub shape: Vec<usize>,
    /// Role in the network.
    pub role: Role,
    /// Depth in the encoder: 0 for embeddings, k for layer k. `None` above the encoder.
    pub depth: Option<usize>,
    pub(crate) slot: Slot,
}

/// Initial values of a parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Initial {
    Constant(f32),
    /// Normally distributed with this standard deviation.
    Normal(f32),
    /// Uniform in ±√(6/(inputs + outputs)) (Glorot and Bengio 2010).
    Xavier,
}

/// List of parameters and their values. Those of the encoder come first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parameters {
    pub(crate) list: Vec<Parameter>,
    pub(crate) values: Vec<f32>,
    /// Number of values of the encoder.
    pub(crate) encoder_len: usize,
    /// Seed of initial values; `None` if the caller will set all values.
    seed: Option<u64>,
}

impl Parameters {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed: Some(seed), ..Self::default() }
    }

    /// Parameters whose values the caller will set. Drawing millions of numbers takes longer than reading them.
    pub(crate) fn unset() -> Self {
        Self::default()
    }

    /// Adds a parameter with its initial values.
    pub(crate) fn add(
        &mut self,
        name: String,
        shape: &[usize],
        role: Role,
        depth: Option<usize>,
        initial: Initial,
    ) -> Slot {
        let len = shape.iter().product();
        let slot = Slot { start: self.values.len(), len };
        let seed = self.seed.map_or(0, |seed| seed_of(seed, self.list.len() as u64));
        let mut random = Random::new(u64::from(seed));
        match initial {
            _ if self.seed.is_none() => self.values.resize(slot.start + len, 0.0),
            Initial::Constant(value) => self.values.resize(slot.start + len, value),
            Initial::Normal(deviation) => {
                self.values.extend((0..len).map(|_| deviation * random.normal()));
            }
            Initial::Xavier => {
                let bound = (6.0 / (shape[0] + shape[shape.len() - 1]) as f32).sqrt();
                self.values.extend((0..len).map(|_| bound * (2.0 * random.uniform() - 1.0)));
            }
        }
        self.list.push(Parameter { name, shape: shape.to_vec(), role, depth, slot });
        slot
    }

    /// An empty place, for weights that are kept elsewhere.
    pub(crate) fn nothing(&self) -> Slot {
        Slot { start: self.values.len(), len: 0 }
    }
}

/// Gradient of every parameter, or of those above a frozen encoder.
///
/// Of tables, only rows that a batch used are not zero; their numbers are kept, so that clearing and adding
/// cost as little as the batch.
#[derive(Clone, Debug)]
pub struct Gradients {
    /// Number of values that come before the first gradient.
    pub(crate) skipped: usize,
    pub(crate) values: Vec<f32>,
    pub(crate) tables: Vec<TableRows>,
}

/// Rows of a table that have gradients.
#[derive(Clone, Debug)]
pub(crate) struct TableRows {
    pub(crate) slot: Slot,
    pub(crate) width: usize,
    /// Numbers of the rows, in the order of their first use.
    pub(crate) used: Vec<u32>,
    is_used: Vec<bool>,
}

impl Gradients {
    pub(crate) fn new(parameters: &Parameters, skipped: usize) -> Self {
        let is_table = |p: &&Parameter| p.role == Role::Table && p.slot.start >= skipped;
        let tables = parameters.list.iter().filter(is_table).map(|p| TableRows {
            slot: p.slot,
            width: p.shape[1],
            used: Vec::new(),
            is_used: vec![false; p.shape[0]],
        });
        Self {
            skipped,
            values: vec![0.0; parameters.values.len() - skipped],
            tables: tables.collect(),
        }
    }

    /// Gradient of a parameter of the network. `None` if it is part of a frozen encoder.
    pub fn of_parameter(&self, parameter: &Parameter) -> Option<&[f32]> {
        let start = parameter.slot.start.checked_sub(self.skipped)?;
        Some(&self.values[start..start + parameter.slot.len])
    }

    /// Returns the gradient of a parameter.
    pub(crate) fn of(&mut self, slot: Slot) -> &mut [f32] {
        &mut self.values[slot.start - self.skipped..][..slot.len]
    }

    /// Returns the gradients of two parameters that were declared one after the other.
    pub(crate) fn pair(&mut self, first: Slot, second: Slot) -> (&mut [f32], &mut [f32]) {
        assert_eq!(first.start + first.len, second.start, "parameters are neighbours");
        self.values[first.start - self.skipped..][..first.len + second.len].split_at_mut(first.len)
    }

    /// Notes that rows of a table have gradients.
    pub(crate) fn use_rows(&mut self, slot: Slot, rows: impl Iterator<Item = u32>) {
        let Some(table) = self.tables.iter_mut().find(|table| table.slot == slot) else { return };
        for row in rows {
            if !std::mem::replace(&mut table.is_used[row as usize], true) {
                table.used.push(row);
            }
        }
    }

    /// Ranges of values that can differ from zero: all but unused rows of tables.
    fn live_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let mut dense = Vec::new();
        let mut start = 0;
        for table in &self.tables {
            let table_start = table.slot.start - self.skipped;
            dense.push(start..table_start);
            start = table_start + table.slot.len;
        }
        dense.push(start..self.values.len());
        let rows = self.tables.iter().flat_map(|table| {
            table.used.iter().map(|&row| {
                let start = table.slot.start - self.skipped + row as usize * table.width;
                start..start + table.width
            })
        });
        dense.into_iter().chain(rows)
    }

    /// Sets every gradient to zero.
    pub fn clear(&mut self) {
        for range in self.live_ranges().collect::<Vec<_>>() {
            self.values[range].fill(0.0);
        }
        for table in &mut self.tables {
            for row in table.used.drain(..) {
                table.is_used[row as usize] = false;
            }
        }
    }

    /// Adds the gradients of another shard of the batch.
    ///
    /// # Panics
    ///
    /// If the other gradients belong to a network of another shape.
    pub fn add(&mut self, other: &Gradients) {
        assert_eq!((self.skipped, self.values.len()), (other.skipped, other.values.len()));
        for range in other.live_ranges() {
            crate::ops::add_scaled(&mut self.values[range.clone()], 1.0, &other.values[range]);
        }
        for table in &other.tables {
            self.use_rows(table.slot, table.used.iter().copied());
        }
    }

    /// Multiplies every gradient by a number.
    pub fn scale(&mut self, factor: f32) {
        for range in self.live_ranges().collect::<Vec<_>>() {
            self.values[range].iter_mut().for_each(|value| *value *= factor);
        }
    }

    /// Returns the Euclidean norm of all gradients together.
    pub fn norm(&self) -> f32 {
        let mut sum = 0.0f64;
        for range in self.live_ranges() {
            for chunk in self.values[range].chunks(4096) {
                sum += f64::from(crate::ops::dot(chunk, chunk));
            }
        }
        sum.sqrt() as f32
    }
}
