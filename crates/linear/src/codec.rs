//! The state of a training as bytes, so that it can be resumed.
//!
//! A [`Checkpointed`] type lists its parts once, for both directions: a writing [`Codec`] writes them, a
//! reading one restores them. Parts that are not listed follow from the options of the training or are
//! scratch memory. Numbers have the machine's byte order. Tables are written as they are in memory.
//!
//! ```
//! use tutte_linear::{Average, Checkpointed, Codec};
//!
//! let mut average = Average::of_second_half(1);
//! average.add([0.5, 1.0].iter());
//! let mut bytes = Vec::new();
//! average.checkpoint(&mut Codec::Write(&mut bytes))?;
//!
//! let mut restored = Average::of_second_half(1);
//! restored.checkpoint(&mut Codec::Read(&mut &bytes[..]))?;
//! assert_eq!(restored.mean(), Some(vec![0.5, 1.0]));
//! # Ok::<(), std::io::Error>(())
//! ```

use std::io::{self, Read, Write};

use bytemuck::{AnyBitPattern, NoUninit};

/// A type whose state is saved in a checkpoint.
pub trait Checkpointed {
    /// Writes the state, or restores it, depending on the codec.
    ///
    /// # Errors
    /// If the codec cannot be written, ends early or holds something else.
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()>;
}

/// A number that is stored as its bytes.
pub trait Plain: NoUninit + AnyBitPattern {}
impl<T: NoUninit + AnyBitPattern> Plain for T {}

/// A stream of bytes, written or read.
#[expect(missing_debug_implementations, reason = "readers and writers have none")]
pub enum Codec<'a> {
    /// Writes the state.
    Write(&'a mut dyn Write),
    /// Restores the state.
    Read(&'a mut dyn Read),
}

impl Codec<'_> {
    /// Writes or reads a number.
    ///
    /// # Errors
    /// Those of the stream.
    pub fn value<T: Plain>(&mut self, value: &mut T) -> io::Result<()> {
        self.raw(bytemuck::bytes_of_mut(value))
    }

    /// Writes or reads a flag.
    ///
    /// # Errors
    /// Those of the stream.
    pub fn flag(&mut self, flag: &mut bool) -> io::Result<()> {
        let mut byte = u8::from(*flag);
        self.value(&mut byte)?;
        *flag = byte != 0;
        Ok(())
    }

    /// Writes or reads a table whose length is known before it is read.
    ///
    /// # Errors
    /// Those of the stream; if the stream holds a table of another length.
    pub fn table<T: Plain>(&mut self, table: &mut [T]) -> io::Result<()> {
        let mut length = table.len() as u64;
        self.value(&mut length)?;
        if length != table.len() as u64 {
            let expected = table.len();
            return Err(invalid(format!("a table of {length} numbers, expected {expected}")));
        }
        self.raw(bytemuck::cast_slice_mut(table))
    }

    /// Writes or reads a table of any length.
    ///
    /// # Errors
    /// Those of the stream.
    pub fn list<T: Plain>(&mut self, list: &mut Vec<T>) -> io::Result<()> {
        /// Number of elements read at a time. With a wrong length, the bytes end before memory does.
        const PIECE: usize = 1 << 16;
        let mut length = list.len() as u64;
        self.value(&mut length)?;
        if let Codec::Write(_) = self {
            return self.raw(bytemuck::cast_slice_mut(list));
        }
        let length = usize::try_from(length)
            .map_err(|_| invalid("the table is too long for this machine"))?;
        list.clear();
        while list.len() < length {
            let start = list.len();
            list.resize(length.min(start + PIECE), T::zeroed());
            self.raw(bytemuck::cast_slice_mut(&mut list[start..]))?;
        }
        Ok(())
    }

    /// Writes or reads a text.
    ///
    /// # Errors
    /// Those of the stream; if the bytes are not UTF-8.
    pub fn text(&mut self, text: &mut String) -> io::Result<()> {
        let mut bytes = std::mem::take(text).into_bytes();
        self.list(&mut bytes)?;
        *text = String::from_utf8(bytes).map_err(invalid)?;
        Ok(())
    }

    fn raw(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        match self {
            Codec::Write(to) => to.write_all(bytes),
            Codec::Read(from) => from.read_exact(bytes),
        }
    }
}

/// Returns the error for bytes that do not fit.
pub fn invalid(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq)]
    struct Everything {
        value: f64,
        flag: bool,
        table: [f32; 3],
        list: Vec<usize>,
        text: String,
    }

    impl Checkpointed for Everything {
        fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
            codec.value(&mut self.value)?;
            codec.flag(&mut self.flag)?;
            codec.table(&mut self.table)?;
            codec.list(&mut self.list)?;
            codec.text(&mut self.text)
        }
    }

    fn example() -> (Everything, Vec<u8>) {
        let mut example = Everything {
            value: f64::NEG_INFINITY,
            flag: true,
            table: [1.0, -0.0, f32::MIN_POSITIVE],
            list: (0..100_000).collect(),
            text: "Wörter".to_owned(),
        };
        let mut bytes = Vec::new();
        example.checkpoint(&mut Codec::Write(&mut bytes)).unwrap();
        (example, bytes)
    }

    #[test]
    fn reading_restores_what_was_written() {
        let (example, bytes) = example();
        let mut read = Everything::default();
        let mut rest = &bytes[..];
        read.checkpoint(&mut Codec::Read(&mut rest)).unwrap();
        assert_eq!(read, example);
        assert!(rest.is_empty());
    }

    #[test]
    fn streams_that_end_early_or_hold_something_else_are_refused() {
        let (_, bytes) = example();
        let mut read = Everything::default();
        for end in [0, 7, 8, 20, 100, bytes.len() - 1] {
            let error = read.checkpoint(&mut Codec::Read(&mut &bytes[..end])).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        }
        let mut four = [0f32; 4];
        let error = Codec::Read(&mut &bytes[9..]).table(&mut four).unwrap_err().to_string();
        assert_eq!(error, "a table of 3 numbers, expected 4");
        let mut endless: &[u8] = &[255; 64];
        assert!(Codec::Read(&mut endless).list(&mut vec![0u8]).is_err());
    }
}
