//! The tables of numbers in a model file: names, shapes and checksum.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use safetensors::tensor::{Metadata, TensorInfo, TensorView};
use safetensors::{Dtype, SafeTensorError};
use tutte_linear::{Checksum, Content};

use crate::{Compact, ModelProblem};

/// Value of the checksum while it is computed.
pub(super) const NO_CHECKSUM: &str = "0000000000000000";

/// Names of the tables of an arc scorer.
pub(super) struct ArcTables {
    pub(super) weights: &'static str,
    pub(super) scale: &'static str,
    pub(super) keys: &'static str,
    pub(super) slots: &'static str,
    pub(super) values: &'static str,
    pub(super) names: &'static str,
}

macro_rules! arc_tables {
    ($part:literal) => {
        ArcTables {
            weights: $part,
            scale: concat!($part, ".scale"),
            keys: concat!($part, ".keys"),
            slots: concat!($part, ".slots"),
            values: concat!($part, ".values"),
            names: concat!($part, ".names"),
        }
    };
}

pub(super) const ARCS: ArcTables = arc_tables!("arcs");
pub(super) const SECOND_PASS: ArcTables = arc_tables!("guided");
pub(super) const PRUNER: ArcTables = arc_tables!("pruner");

/// Returns the shape of the weights of arcs.
pub(super) fn shape_of(clusters: usize, cells: usize) -> Vec<usize> {
    if clusters == 1 { vec![cells] } else { vec![clusters, cells] }
}

pub(super) type NamedTable<'a> = (Cow<'static, str>, TensorView<'a>);

pub(super) fn table<'a>(
    name: impl Into<Cow<'static, str>>,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: &'a [u8],
) -> Result<NamedTable<'a>, SafeTensorError> {
    Ok((name.into(), TensorView::new(dtype, shape, bytes)?))
}

/// Computes the checksum of a document without its checksum, and of all tables in any order.
pub(super) fn checksum<'a>(
    document: &str,
    tables: impl Iterator<Item = (&'a str, &'a [usize], &'a [u8])>,
) -> String {
    let mut tables: Vec<_> = tables.collect();
    tables.sort_unstable_by_key(|(name, ..)| *name);
    let mut hash = Checksum::default();
    hash.update(document.as_bytes());
    for (name, shape, bytes) in tables {
        hash.update(name.as_bytes());
        shape.iter().for_each(|size| hash.update(&(*size as u64).to_le_bytes()));
        hash.update(bytes);
    }
    hash.to_string()
}

/// The tables of a file.
pub(super) struct Tables<'a> {
    metadata: &'a Metadata,
    start: usize,
    content: &'a Arc<Content>,
    #[cfg_attr(not(feature = "neural"), expect(dead_code, reason = "needs networks"))]
    folder: Option<&'a Path>,
}

impl<'a> Tables<'a> {
    /// Makes the tables of a header that ends at `start`, in a file of this folder.
    pub(super) fn new(
        metadata: &'a Metadata,
        start: usize,
        content: &'a Arc<Content>,
        folder: Option<&'a Path>,
    ) -> Self {
        Self { metadata, start, content, folder }
    }

    /// Returns the folder of the file. `None` for a model inside the program.
    #[cfg(feature = "neural")]
    pub(super) fn folder(&self) -> Option<&Path> {
        self.folder
    }

    /// Returns the type, shape and position of a table, if the file has it.
    pub(super) fn info(&self, name: &str) -> Option<&TensorInfo> {
        self.metadata.info(name)
    }

    /// Returns the name, shape and bytes of all tables whose names start in this way, sorted by name.
    #[cfg(feature = "neural")]
    pub(super) fn starting_with(&self, prefix: &str) -> Vec<(String, &TensorInfo, &[u8])> {
        let tables = self.metadata.tensors().into_iter();
        let mut found: Vec<_> = tables
            .filter(|(name, _)| name.starts_with(prefix))
            .map(|(name, info)| (name, info, self.bytes(self.range(info))))
            .collect();
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        found
    }

    /// Checks the checksum.
    pub(super) fn check(&self, document: &str, expected: &str) -> Result<(), ModelProblem> {
        let tables = self.metadata.tensors();
        let content = tables.iter().map(|(name, info)| {
            (name.as_str(), info.shape.as_slice(), &self.content[self.range(info)])
        });
        let found = checksum(&document.replacen(expected, NO_CHECKSUM, 1), content);
        // A fuzzer would never get past this check.
        if found != expected && !cfg!(fuzzing) {
            let what = format!("its checksum is {found}, expected {expected}");
            return Err(ModelProblem::Altered { what });
        }
        Ok(())
    }

    /// Returns the position of a table in the file. Reading the header has checked that all fit.
    fn range(&self, info: &TensorInfo) -> Range<usize> {
        let (start, end) = info.data_offsets;
        self.start + start..self.start + end
    }

    /// Finds a table, which must have this type and shape.
    pub(super) fn find(
        &self,
        name: &'static str,
        dtype: Dtype,
        shape: &[usize],
    ) -> Result<Range<usize>, ModelProblem> {
        let show = |dtype: Dtype, shape: &[usize]| format!("{dtype:?} {shape:?}");
        let wrong = |found| ModelProblem::Table { name, found, expected: show(dtype, shape) };
        let info = self.metadata.info(name).ok_or_else(|| wrong("missing".to_owned()))?;
        if info.dtype != dtype || info.shape != shape {
            return Err(wrong(show(info.dtype, &info.shape)));
        }
        Ok(self.range(info))
    }

    /// Returns the bytes of a list of this type and any length.
    pub(super) fn list(&self, name: &'static str, dtype: Dtype) -> Result<&[u8], ModelProblem> {
        let shape = self.metadata.info(name).map(|info| info.shape.as_slice());
        let length = shape.and_then(|shape| shape.first().copied()).unwrap_or_default();
        Ok(self.bytes(self.find(name, dtype, &[length])?))
    }

    /// Returns the bytes of a table.
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.content[range]
    }

    /// Returns the weights of a table, which must have this shape, with their scale.
    pub(super) fn weights(
        &self,
        name: &'static str,
        shape: &[usize],
        scale: &'static str,
    ) -> Result<Compact, ModelProblem> {
        let cells = self.find(name, Dtype::I8, shape)?;
        Ok(Compact::in_file(self.content, cells, self.scale(scale)?))
    }

    /// Returns the number of clusters in a table of arc weights.
    pub(super) fn clusters(&self, name: &'static str) -> usize {
        match self.metadata.info(name).map(|info| info.shape.as_slice()) {
            Some(&[clusters, _]) if clusters > 1 => clusters,
            _ => 1,
        }
    }

    fn scale(&self, name: &'static str) -> Result<f32, ModelProblem> {
        let bytes = self.bytes(self.find(name, Dtype::F32, &[1])?);
        let scale = bytes.first_chunk().map_or(f32::NAN, |bytes| f32::from_le_bytes(*bytes));
        if scale.is_finite() && scale > 0.0 {
            return Ok(scale);
        }
        let expected = "a number above 0".to_owned();
        Err(ModelProblem::Table { name, found: scale.to_string(), expected })
    }
}
