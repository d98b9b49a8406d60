//! What a build has written of its shard files, and how another process goes on writing them.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::partial::damaged;
use super::plan::Plan;
use super::write::{OpenShard, PIECE_BYTES, Writer, bytes_of, file_name, in_parallel, pieces};
use crate::error::{Error, Result};
use crate::filter::FilterKind;
use crate::filter::blocked::FillCounts;
use crate::pass::{Progress, Tick};
use crate::shard::{CHUNK_BYTES, ShardWriter};

/// What has been written, to go on from there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// By set and shard.
    shards: Vec<Vec<WrittenShard>>,
    fills: Vec<Vec<FillCounts>>,
    repeated: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct WrittenShard {
    /// Of blocked sets all, zero for those that are still to come.
    checksums: Vec<u64>,
    /// Exact sets: bytes of the chunks, and keys behind them with their checksum.
    written: u64,
    tail: (u64, u64),
}

impl<'a> Writer<'a> {
    /// Opens the files again that another writer has left, and checks what it had written of the first `passes` passes.
    pub fn reopen(
        plan: &'a Plan,
        folder: &Path,
        place: &dyn Fn(String, usize) -> PathBuf,
        (passes, written): (u32, &Written),
        threads: usize,
        tick: Tick<'_>,
    ) -> Result<Writer<'a>> {
        let mut shards = Vec::new();
        let mut all = 0..;
        for (index, set) in plan.sets.iter().enumerate() {
            let mut open = Vec::new();
            for (number, of_all) in (0..set.shards.len()).zip(&mut all) {
                let path = place(file_name(set, number), of_all);
                let unlike = || Error::StateDamaged {
                    path: path.clone(),
                    why: "it does not match its checksums".into(),
                };
                let file = ShardWriter::reopen(&path).map_err(damaged)?;
                let known = written.shards.get(index).and_then(|of| of.get(number));
                let known = known.ok_or_else(unlike)?;
                let mut tail = vec![0; known.tail.0 as usize];
                file.read(known.written, bytes_of_mut(&mut tail))
                    .map_err(damaged)?;
                if xxh3_64(bytes_of(&tail)) != known.tail.1 {
                    return Err(unlike());
                }
                open.push(OpenShard {
                    file,
                    checksums: known.checksums.clone(),
                    tail,
                    written: known.written,
                });
            }
            shards.push(open);
        }
        let writer = Writer {
            plan,
            folder: folder.to_path_buf(),
            shards,
            fills: written.fills.clone(),
            repeated: written.repeated.clone(),
        };
        writer.check(passes, threads, tick)?;
        Ok(writer)
    }

    /// Compares the payload that was written in the first `passes` passes with its checksums.
    fn check(&self, passes: u32, threads: usize, tick: Tick<'_>) -> Result<()> {
        let mut places = Vec::new();
        for window in self.plan.passes.iter().take(passes as usize).flatten() {
            let set = &self.plan.sets[window.set];
            if set.kind == FilterKind::Blocked {
                for piece in pieces(window, set) {
                    let offset = (piece.first_block - set.shards[piece.shard].start)
                        * set.geometry.block_bytes();
                    let end = offset + piece.blocks * set.geometry.block_bytes();
                    places.push((&self.shards[piece.set][piece.shard], offset, end));
                }
            }
        }
        for (shards, set) in self.shards.iter().zip(&self.plan.sets) {
            if set.kind == FilterKind::Exact {
                for shard in shards {
                    let starts = (0..shard.written).step_by(PIECE_BYTES as usize);
                    places.extend(
                        starts.map(|start| (shard, start, shard.written.min(start + PIECE_BYTES))),
                    );
                }
            }
        }
        let mut progress = Progress::of("verify");
        progress.bytes_total = places.iter().map(|(_, start, end)| end - start).sum();
        let done = AtomicU64::new(0);
        in_parallel(
            places.len(),
            threads,
            &done,
            &mut progress,
            tick,
            &|number| {
                let (shard, start, end) = places[number];
                let mut payload = vec![0; (end - start) as usize];
                shard.file.read(start, &mut payload).map_err(damaged)?;
                let chunks = payload.chunks(CHUNK_BYTES as usize).map(xxh3_64);
                let known = &shard.checksums[(start / CHUNK_BYTES) as usize..];
                if chunks.zip(known).any(|(found, &known)| found != known) {
                    return Err(Error::StateDamaged {
                        path: shard.file.path().to_path_buf(),
                        why: "it does not match its checksums".into(),
                    });
                }
                Ok(end - start)
            },
        )
    }

    /// What has been written so far, for [`Writer::reopen`].
    pub fn written(&self) -> Result<Written> {
        let state = |shard: &OpenShard| {
            shard
                .file
                .write_chunks(shard.written, bytes_of(&shard.tail))?;
            Ok(WrittenShard {
                checksums: shard.checksums.clone(),
                written: shard.written,
                tail: (shard.tail.len() as u64, xxh3_64(bytes_of(&shard.tail))),
            })
        };
        let set = |shards: &Vec<OpenShard>| shards.iter().map(state).collect();
        let shards: Result<Vec<Vec<_>>> = self.shards.iter().map(set).collect();
        Ok(Written {
            shards: shards.map_err(|error| self.disk_full(error))?,
            fills: self.fills.clone(),
            repeated: self.repeated.clone(),
        })
    }
}

/// Words as bytes, for reading into them.
fn bytes_of_mut(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: as in `bytes_of`, and any bytes are a valid u64.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len() * 8) }
}
