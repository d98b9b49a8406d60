//! Which processor instructions the cuts use.

use std::fmt;
use std::str::FromStr;

use super::bounds::Bounds;
use super::{lanes, short_hash, uax29, whitespace};

/// Environment variable that names the [`SimdPath`] to use.
pub const SIMD_VARIABLE: &str = "NGRAMSCOPE_SIMD";

/// A code path. All give the same words; they differ in speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimdPath {
    /// No vector instructions; every processor.
    Scalar,
    /// 128-bit vectors of every x86-64 processor.
    Sse2,
    /// 256-bit vectors, with BMI1 and BMI2.
    Avx2,
    /// 512-bit vectors of bytes (AVX-512BW), with BMI1 and BMI2.
    Avx512,
    /// 128-bit vectors of every AArch64 processor.
    Neon,
}

/// Why a code path cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimdError {
    /// Not the name of a path.
    #[error("{SIMD_VARIABLE}={name}: no such code path; use one of {}, or unset it", names(&SimdPath::ALL))]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// The processor cannot run it.
    #[error("{SIMD_VARIABLE}={path}: this processor lacks the instructions; use one of {}, or unset it", names(&SimdPath::available()))]
    Unsupported {
        /// What was asked for.
        path: SimdPath,
    },
}

fn names(paths: &[SimdPath]) -> String {
    paths
        .iter()
        .map(SimdPath::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

impl SimdPath {
    /// All paths, slowest first.
    pub const ALL: [SimdPath; 5] = [
        SimdPath::Scalar,
        SimdPath::Sse2,
        SimdPath::Avx2,
        SimdPath::Avx512,
        SimdPath::Neon,
    ];

    /// The paths that this processor can run, slowest first.
    pub fn available() -> Vec<SimdPath> {
        SimdPath::ALL
            .into_iter()
            .filter(|path| path.is_available())
            .collect()
    }

    /// The fastest path that this processor can run.
    pub fn best() -> SimdPath {
        SimdPath::ALL
            .into_iter()
            .rfind(|path| path.is_available())
            .unwrap_or(SimdPath::Scalar)
    }

    /// The path that the variable `NGRAMSCOPE_SIMD` names, else the best one.
    pub fn from_env() -> Result<SimdPath, SimdError> {
        match std::env::var_os(SIMD_VARIABLE) {
            Some(name) if !name.is_empty() => name.to_string_lossy().parse::<SimdPath>()?.checked(),
            _ => Ok(SimdPath::best()),
        }
    }

    /// The path itself, if this processor can run it.
    pub fn checked(self) -> Result<SimdPath, SimdError> {
        if self.is_available() {
            Ok(self)
        } else {
            Err(SimdError::Unsupported { path: self })
        }
    }

    /// True if this processor can run the path.
    pub fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            let bit_instructions =
                || is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2");
            match self {
                SimdPath::Scalar | SimdPath::Sse2 => true,
                SimdPath::Avx2 => is_x86_feature_detected!("avx2") && bit_instructions(),
                SimdPath::Avx512 => {
                    is_x86_feature_detected!("avx512f")
                        && is_x86_feature_detected!("avx512bw")
                        && bit_instructions()
                }
                SimdPath::Neon => false,
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            match self {
                SimdPath::Scalar => true,
                SimdPath::Neon => cfg!(all(target_arch = "aarch64", target_endian = "little")),
                SimdPath::Sse2 | SimdPath::Avx2 | SimdPath::Avx512 => false,
            }
        }
    }

    /// The functions of this path. The path must be available.
    pub(super) fn kernels(self) -> Kernels {
        assert!(self.is_available(), "{self} was chosen without a check");
        match self {
            #[cfg(target_arch = "x86_64")]
            SimdPath::Sse2 => sse2::KERNELS,
            #[cfg(target_arch = "x86_64")]
            SimdPath::Avx2 => avx2::KERNELS,
            #[cfg(target_arch = "x86_64")]
            SimdPath::Avx512 => avx512::KERNELS,
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            SimdPath::Neon => neon::KERNELS,
            _ => scalar::KERNELS,
        }
    }
}

impl fmt::Display for SimdPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            SimdPath::Scalar => "scalar",
            SimdPath::Sse2 => "sse2",
            SimdPath::Avx2 => "avx2",
            SimdPath::Avx512 => "avx512",
            SimdPath::Neon => "neon",
        })
    }
}

impl FromStr for SimdPath {
    type Err = SimdError;

    fn from_str(name: &str) -> Result<SimdPath, SimdError> {
        let found = SimdPath::ALL
            .into_iter()
            .find(|path| path.to_string() == name);
        found.ok_or_else(|| SimdError::Unknown {
            name: name.to_owned(),
        })
    }
}

/// Hashes the words of a text that begin and end at the given places.
type HashWords = unsafe fn(text: &[u8], starts: &[usize], ends: &[usize], hashes: &mut [u64]);

/// The functions compiled for one path. Calling them is sound on processors that can run it: `SimdPath::kernels` checks.
#[derive(Clone, Copy)]
pub(super) struct Kernels {
    pub uax29: unsafe fn(&mut uax29::Cursor, &str, &mut Bounds),
    pub whitespace: unsafe fn(&mut whitespace::Cursor, &str, &mut Bounds),
    pub hash: HashWords,
}

macro_rules! kernels {
    ($name:ident, $lanes:ty, $hash:path $(, $features:literal)?) => {
        mod $name {
            use super::*;

            pub(super) const KERNELS: Kernels = Kernels { uax29: cut_uax29, whitespace: cut_whitespace, hash: hash_words };

            $(#[target_feature(enable = $features)])?
            fn cut_uax29(cursor: &mut uax29::Cursor, text: &str, bounds: &mut Bounds) {
                uax29::fill::<$lanes>(cursor, text, bounds);
            }

            $(#[target_feature(enable = $features)])?
            fn cut_whitespace(cursor: &mut whitespace::Cursor, text: &str, bounds: &mut Bounds) {
                whitespace::fill::<$lanes>(cursor, text, bounds);
            }

            $(#[target_feature(enable = $features)])?
            fn hash_words(text: &[u8], starts: &[usize], ends: &[usize], hashes: &mut [u64]) {
                $hash(text, starts, ends, hashes);
            }
        }
    };
}

kernels!(scalar, lanes::Scalar, short_hash::hash_words);
#[cfg(target_arch = "x86_64")]
kernels!(
    sse2,
    crate::tokenize::lanes_x86::Sse2,
    short_hash::hash_words
);
#[cfg(target_arch = "x86_64")]
kernels!(
    avx2,
    crate::tokenize::lanes_x86::Avx2,
    crate::tokenize::short_hash_avx2::hash_words,
    "avx2,bmi1,bmi2,lzcnt,popcnt"
);
#[cfg(target_arch = "x86_64")]
kernels!(
    avx512,
    crate::tokenize::lanes_x86::Avx512,
    crate::tokenize::short_hash_avx2::hash_words,
    "avx512f,avx512bw,avx2,bmi1,bmi2,lzcnt,popcnt"
);
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
kernels!(
    neon,
    crate::tokenize::lanes_arm::Neon,
    short_hash::hash_words
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_and_unknown_ones_are_explained() {
        for path in SimdPath::ALL {
            assert_eq!(path.to_string().parse(), Ok(path));
        }
        let error = "mmx".parse::<SimdPath>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "NGRAMSCOPE_SIMD=mmx: no such code path; use one of scalar, sse2, avx2, avx512, neon, or unset it"
        );
    }

    #[test]
    fn unavailable_paths_are_refused() {
        for path in SimdPath::ALL {
            assert_eq!(
                path.checked().is_ok(),
                SimdPath::available().contains(&path)
            );
        }
        #[cfg(target_arch = "x86_64")]
        assert_eq!(
            SimdPath::Neon.checked(),
            Err(SimdError::Unsupported {
                path: SimdPath::Neon
            })
        );
    }
}
