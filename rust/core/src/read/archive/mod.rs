//! Archives: members one after the other, each read as the file that it is.

mod tar;
mod zip;

use std::sync::Arc;

use super::ReadOptions;
use super::block::Block;
use super::cut::Cut;
use super::error::FileFault;
use super::open::{Kind, content};
use super::raw::Input;

pub(super) use tar::{Tar, is_tar};
pub(super) use zip::Zip;

/// The members of an archive.
pub(super) trait Members: Send {
    /// The next member that is a file and is not hidden: its name and its bytes.
    fn next_member(&mut self) -> Result<Option<(String, Input)>, FileFault>;
}

/// Cuts an archive into the blocks of its members.
pub(super) struct ArchiveCutter<M> {
    members: M,
    current: Option<(Arc<str>, Box<dyn Cut>)>,
    options: ReadOptions,
}

impl<M: Members> ArchiveCutter<M> {
    pub fn new(members: M, options: &ReadOptions) -> ArchiveCutter<M> {
        ArchiveCutter {
            members,
            current: None,
            options: options.clone(),
        }
    }
}

impl<M: Members> Cut for ArchiveCutter<M> {
    fn next(&mut self, block: &mut Block) -> Result<bool, FileFault> {
        loop {
            if let Some((name, cutter)) = &mut self.current {
                if cutter.next(block).map_err(|fault| within(name, fault))? {
                    block.member = Some(Arc::clone(name));
                    return Ok(true);
                }
                self.current = None;
            }
            let Some((name, input)) = self.members.next_member()? else {
                return Ok(false);
            };
            let cutter = content(input, &name, Kind::Member, &self.options)
                .map_err(|fault| within(&name, fault))?;
            self.current = Some((Arc::from(name), cutter));
        }
    }
}

/// A fault of a member, as one of the archive.
fn within(member: &str, fault: FileFault) -> FileFault {
    match fault {
        FileFault::Damaged { format, detail } => FileFault::Damaged {
            format,
            detail: format!("{detail} (in {member})"),
        },
        FileFault::Refused { what, advice } => FileFault::Refused {
            what: format!("{member} inside is {what}"),
            advice,
        },
        other => other,
    }
}

/// Whether a member is left out like hidden files in folders: `._x` of one system, `.DS_Store`, `.git/`.
fn hidden(name: &str) -> bool {
    name.split(['/', '\\'])
        .any(|part| part.starts_with('.') && part != "." && part != "..")
}
