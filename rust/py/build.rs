//! Hands `data_manifests/*.toml` to the packager, which takes files for a wheel from `OUT_DIR`: the manifests live at the top of the
//! repository, but an installed package has to carry them.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = |variable| {
        env::var_os(variable)
            .map(PathBuf::from)
            .ok_or_else(|| io::Error::other(format!("{variable} is not set")))
    };
    let from = folder("CARGO_MANIFEST_DIR")?.join("../../data_manifests");
    let to = folder("OUT_DIR")?.join("data_manifests");
    println!("cargo::rerun-if-changed={}", from.display());
    fs::create_dir_all(&to)?;
    for entry in fs::read_dir(&from)? {
        let path = entry?.path();
        if let (Some(name), Some("toml")) = (
            path.file_name(),
            path.extension().and_then(|ending| ending.to_str()),
        ) {
            println!("cargo::rerun-if-changed={}", path.display());
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}
