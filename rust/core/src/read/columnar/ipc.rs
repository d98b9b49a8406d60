//! Arrow IPC, in its two forms: files (with a directory at the end, as pyarrow and Feather write) and streams (as
//! Hugging Face datasets keep them).

use std::io::{BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::Schema;

use super::guard;
use super::table::{Table, check_text, find};
use crate::read::ReadOptions;
use crate::read::block::{Block, Payload};
use crate::read::cut::Cut;
use crate::read::error::FileFault;
use crate::read::keys::Keys;
use crate::read::places::Places;
use crate::read::raw::Input;

const FILE: &str = "Arrow file";
const STREAM: &str = "Arrow stream";

/// Whether a file that begins with these bytes is an Arrow file.
pub(in crate::read) fn is_file(head: &[u8]) -> bool {
    head.starts_with(b"ARROW1")
}

/// Whether a file that begins with these bytes is an Arrow stream: the mark before a message, and the size of its first
/// message, the schema, which is small and a multiple of eight.
pub(in crate::read) fn is_stream(head: &[u8]) -> bool {
    let Some((mark, rest)) = head.split_first_chunk::<4>() else {
        return false;
    };
    let Some(&size) = rest.first_chunk::<4>() else {
        return false;
    };
    let size = u32::from_le_bytes(size);
    *mark == [0xff; 4] && size % 8 == 0 && (8..1 << 28).contains(&size)
}

/// Batches on their way into blocks: a batch may be larger than a block is to be.
struct Batches {
    keys: Keys,
    ids: bool,
    block_bytes: usize,
    rest: Option<RecordBatch>,
    /// 1-based number of the next row.
    row: u64,
}

impl Batches {
    fn new(keys: Keys, options: &ReadOptions) -> Batches {
        Batches {
            keys,
            ids: options.ids,
            block_bytes: options.block_bytes,
            rest: None,
            row: 1,
        }
    }

    fn check(&self, schema: &Schema) -> Result<(), FileFault> {
        check_text(schema.fields(), &self.keys, self.ids)
    }

    /// Fills `block` from the batch at hand; `false` if there is none.
    fn fill(&mut self, block: &mut Block, name: &'static str) -> Result<bool, FileFault> {
        let Some(batch) = self.rest.take().filter(|batch| batch.num_rows() > 0) else {
            return Ok(false);
        };
        let row_bytes = (batch.get_array_memory_size() / batch.num_rows()).max(1);
        let rows = (self.block_bytes / row_bytes).clamp(1, batch.num_rows());
        let part = batch.slice(0, rows);
        if rows < batch.num_rows() {
            self.rest = Some(batch.slice(rows, batch.num_rows() - rows));
        }
        let table = guard(name, || Table::new(&part, &self.keys, self.ids, self.row))?;
        block.bytes.clear();
        block.first_line = self.row;
        block.records = rows as u64;
        block.payload = Payload::Table(Box::new(table));
        self.row += rows as u64;
        Ok(true)
    }
}

/// Cuts an Arrow file into blocks of rows.
pub(in crate::read) struct FileCutter {
    reader: FileReader<BufReader<Places>>,
    batches: Batches,
    progress: Arc<AtomicU64>,
    /// What the progress grows by with each batch.
    share: u64,
}

impl FileCutter {
    pub fn new(
        file: Places,
        keys: Keys,
        options: &ReadOptions,
        progress: &Arc<AtomicU64>,
    ) -> Result<FileCutter, FileFault> {
        let bytes = file.size();
        let second = file.clone();
        let all = guard(FILE, || FileReader::try_new_buffered(second, None))?;
        let batches = Batches::new(keys, options);
        if all.num_batches() > 0 {
            batches.check(&all.schema())?;
        }
        let schema = all.schema();
        let mut columns: Vec<usize> = batches
            .keys
            .0
            .iter()
            .filter_map(|key| Some(find(schema.fields(), key)?[0]))
            .collect();
        columns.sort_unstable();
        columns.dedup();
        let reader = guard(FILE, || FileReader::try_new_buffered(file, Some(columns)))?;
        let share = bytes / (reader.num_batches() as u64).max(1);
        Ok(FileCutter {
            reader,
            batches,
            progress: Arc::clone(progress),
            share,
        })
    }
}

impl Cut for FileCutter {
    fn next(&mut self, block: &mut Block) -> Result<bool, FileFault> {
        loop {
            if self.batches.fill(block, FILE)? {
                return Ok(true);
            }
            let reader = &mut self.reader;
            self.batches.rest = guard(FILE, || reader.next().transpose())?;
            if self.batches.rest.is_none() {
                return Ok(false);
            }
            self.progress.fetch_add(self.share, Ordering::Relaxed);
        }
    }
}

/// Cuts an Arrow stream into blocks of rows.
pub(in crate::read) struct StreamCutter {
    reader: StreamReader<Input>,
    batches: Batches,
    checked: bool,
}

impl StreamCutter {
    pub fn new(input: Input, keys: Keys, options: &ReadOptions) -> Result<StreamCutter, FileFault> {
        let reader = guard(STREAM, || StreamReader::try_new(input, None))?;
        Ok(StreamCutter {
            reader,
            batches: Batches::new(keys, options),
            checked: false,
        })
    }
}

impl Cut for StreamCutter {
    fn next(&mut self, block: &mut Block) -> Result<bool, FileFault> {
        loop {
            if self.batches.fill(block, STREAM)? {
                return Ok(true);
            }
            let reader = &mut self.reader;
            self.batches.rest = guard(STREAM, || reader.next().transpose())?;
            if self.batches.rest.is_none() {
                let mut more = [0; 1];
                return match self.reader.get_mut().read(&mut more)? {
                    0 => Ok(false),
                    _ => Err(FileFault::damaged(
                        STREAM,
                        "something else follows its end mark",
                    )),
                };
            }
            if !self.checked {
                self.batches.check(&self.reader.schema())?;
                self.checked = true;
            }
        }
    }
}
