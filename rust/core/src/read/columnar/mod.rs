//! Tables: Parquet and Arrow IPC. Rows are records, columns are keys.

mod ipc;
mod json;
mod parquet;
mod table;

pub(super) use ipc::{
    FileCutter, StreamCutter, is_file as is_ipc_file, is_stream as is_ipc_stream,
};
pub(super) use parquet::{ParquetCutter, is_parquet, row_groups};
pub(super) use table::Table;

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::error::FileFault;

/// Runs a decoder. Those of tables have panicked on damaged files before; that is a damaged file here, not a crash.
fn guard<T, E: std::fmt::Display>(
    format: &'static str,
    decode: impl FnOnce() -> Result<T, E>,
) -> Result<T, FileFault> {
    match catch_unwind(AssertUnwindSafe(decode)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(FileFault::damaged(format, error.to_string())),
        Err(_) => Err(FileFault::damaged(format, "the decoder gave up")),
    }
}
