//! Parquet: one row group after the other, of which only the wanted columns are read, page by page.

use std::fs::File;
use std::io::{Read, Seek};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::RowGroupMetaData;

use super::guard;
use super::table::{Table, check_text, find};
use crate::read::ReadOptions;
use crate::read::block::{Block, Payload};
use crate::read::cut::Cut;
use crate::read::error::FileFault;
use crate::read::keys::{Key, Keys};
use crate::read::places::Places;

const NAME: &str = "Parquet file";

/// Most rows in a block, however short they are.
const MAX_ROWS: usize = 8192;

/// Whether a file that begins with these bytes is Parquet (`PARE`: encrypted).
pub(in crate::read) fn is_parquet(head: &[u8]) -> bool {
    head.starts_with(b"PAR1") || head.starts_with(b"PARE")
}

/// The bytes of each row group, as if they followed each other without gaps; none if the file is not Parquet.
pub(in crate::read) fn row_groups(file: &File) -> Result<Option<Vec<Range<u64>>>, FileFault> {
    let mut head = Vec::new();
    file.take(8).read_to_end(&mut head)?;
    (&mut &*file).rewind()?;
    if !is_parquet(&head) {
        return Ok(None);
    }
    let metadata = guard(NAME, || {
        ArrowReaderMetadata::load(file, ArrowReaderOptions::new())
    })?;
    let mut end = 0;
    let groups = metadata.metadata().row_groups().iter().map(|group| {
        let start = end;
        end += stored(group);
        start..end
    });
    Ok(Some(groups.collect()))
}

/// Bytes of a row group in the file.
fn stored(group: &RowGroupMetaData) -> u64 {
    u64::try_from(group.compressed_size()).unwrap_or(0)
}

/// Cuts a Parquet file into blocks of rows.
pub(in crate::read) struct ParquetCutter {
    file: Places,
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    keys: Keys,
    ids: bool,
    block_bytes: usize,
    max_column_chunk_bytes: usize,
    progress: Arc<AtomicU64>,
    /// The row group that is read, and how many of its rows have not come yet.
    group: usize,
    reader: Option<(ParquetRecordBatchReader, u64)>,
    /// 1-based number of the next row.
    row: u64,
    /// How many of a row group's rows are read.
    share: f64,
    /// Only one row group is read.
    part: bool,
}

impl ParquetCutter {
    pub fn new(
        file: Places,
        keys: Keys,
        options: &ReadOptions,
        progress: &Arc<AtomicU64>,
    ) -> Result<ParquetCutter, FileFault> {
        // The arrow schema that writers embed only changes the types that values are read as: dictionaries, large strings.
        // Without it they come as what they are.
        let settings = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata = guard(NAME, || ArrowReaderMetadata::load(&file, settings))?;
        let rows: i64 = metadata
            .metadata()
            .row_groups()
            .iter()
            .map(|group| group.num_rows())
            .sum();
        if rows > 0 {
            check_text(metadata.schema().fields(), &keys, options.ids)?;
        }
        let schema = metadata.parquet_schema();
        let wanted = keys
            .0
            .iter()
            .filter_map(|key| Some((key, find(metadata.schema().fields(), key)?)));
        let prefixes: Vec<&[String]> = wanted
            .map(|(key, path)| names_of(key, path.len()))
            .collect();
        let leaves = (0..schema.num_columns()).filter(|&leaf| {
            prefixes
                .iter()
                .any(|prefix| schema.column(leaf).path().parts().starts_with(prefix))
        });
        let mask = ProjectionMask::leaves(schema, leaves);
        Ok(ParquetCutter {
            mask,
            file,
            metadata,
            keys,
            ids: options.ids,
            block_bytes: options.block_bytes,
            max_column_chunk_bytes: options.max_column_chunk_bytes,
            progress: Arc::clone(progress),
            group: 0,
            reader: None,
            row: 1,
            share: 1.0,
            part: false,
        })
    }

    /// Reads only the row group that begins where `bytes` does (see [`row_groups`]), and of its rows as great a share from the
    /// first on as `bytes` has of its bytes.
    pub fn part(mut self, bytes: &Range<u64>) -> ParquetCutter {
        self.part = true;
        let mut start = 0;
        for group in self.metadata.metadata().row_groups() {
            if start >= bytes.start {
                let length = stored(group).max(1);
                self.share = ((bytes.end - bytes.start) as f64 / length as f64).min(1.0);
                break;
            }
            start += stored(group);
            self.group += 1;
            self.row += u64::try_from(group.num_rows()).unwrap_or(0);
        }
        self
    }

    /// Opens the next row group that has rows; `false` after the last.
    fn open_group(&mut self) -> Result<bool, FileFault> {
        let groups = self.metadata.metadata().row_groups();
        let Some(group) = groups.get(self.group).filter(|_| self.share > 0.0) else {
            return Ok(false);
        };
        let mut bytes = 0u64;
        for (leaf, column) in group.columns().iter().enumerate() {
            let stored = column.compressed_size().max(0) as f64;
            self.progress
                .fetch_add((stored * self.share) as u64, Ordering::Relaxed);
            if !self.mask.leaf_included(leaf) {
                continue;
            }
            let size = u64::try_from(column.uncompressed_size()).unwrap_or(0);
            bytes += size;
            if size > self.max_column_chunk_bytes as u64 {
                return Err(FileFault::refused(
                    format!(
                        "Parquet file whose row group {} has {size} bytes in column {}, more than --max-column-chunk {} allows",
                        self.group + 1,
                        column.column_path(),
                        self.max_column_chunk_bytes
                    ),
                    format!("--max-column-chunk {size} reads it; smaller row groups are better"),
                ));
            }
        }
        let all = u64::try_from(group.num_rows()).unwrap_or(0);
        let row_bytes = bytes.checked_div(all).unwrap_or(0).max(1);
        let batch = usize::try_from(self.block_bytes as u64 / row_bytes)
            .unwrap_or(MAX_ROWS)
            .clamp(1, MAX_ROWS);
        let rows = (all as f64 * self.share).ceil() as u64;
        let file = self.file.clone();
        let reader = guard(NAME, || {
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
                .with_row_groups(vec![self.group])
                .with_projection(self.mask.clone())
                .with_batch_size(batch)
                .with_limit(rows as usize)
                .build()
        })?;
        self.reader = Some((reader, rows));
        self.group += 1;
        if self.part {
            self.share = 0.0;
        }
        Ok(true)
    }
}

impl Cut for ParquetCutter {
    fn next(&mut self, block: &mut Block) -> Result<bool, FileFault> {
        loop {
            let Some((reader, remaining)) = &mut self.reader else {
                if self.open_group()? {
                    continue;
                }
                return Ok(false);
            };
            let Some(batch) = guard(NAME, || reader.next().transpose())? else {
                if *remaining > 0 {
                    return Err(FileFault::damaged(
                        NAME,
                        format!("row group {} lacks {remaining} rows", self.group),
                    ));
                }
                self.reader = None;
                continue;
            };
            let rows = batch.num_rows() as u64;
            *remaining = remaining.saturating_sub(rows);
            if rows == 0 {
                continue;
            }
            let table = guard(NAME, || Table::new(&batch, &self.keys, self.ids, self.row))?;
            block.bytes.clear();
            block.first_line = self.row;
            block.records = rows;
            block.payload = Payload::Table(Box::new(table));
            self.row += rows;
            return Ok(true);
        }
    }
}

/// The names on the way to a column: its literal name, or the steps.
fn names_of(key: &Key, depth: usize) -> &[String] {
    if depth == 1 {
        std::slice::from_ref(&key.literal)
    } else {
        &key.steps
    }
}
