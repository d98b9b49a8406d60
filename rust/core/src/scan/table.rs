//! A fixed set of keys, numbered, that is asked for far more keys than it holds.

use crate::error::{Error, Result};
use crate::filter::math::{Geometry, blocked_geometry};
use crate::filter::{block_of, blocked, prefetch};
use crate::memory::Words;
use crate::pass::{self, STEP, Stop};

/// Rate at which an absent key passes the filter and is looked for in the table.
const FILTER_RATE: f64 = 0.01;
/// Marks a free slot.
const FREE: u32 = u32::MAX;

/// Keys with numbers from 0, in the order of the keys.
///
/// Nearly every key that is asked for is absent. A small blocked filter, which stays in cache, says so; only what passes it costs
/// an access to the table.
pub struct KeyTable {
    keys: Vec<u64>,
    filter: Words,
    geometry: Geometry,
    /// Open addressing, at most half full: key and number.
    slots: Vec<(u64, u32)>,
}

/// Reusable space for [`KeyTable::find`].
#[derive(Default)]
pub struct Scratch {
    hits: Vec<u8>,
    places: Vec<u32>,
}

impl KeyTable {
    /// A table of `keys`, which are sorted and different.
    pub fn new(keys: Vec<u64>, stop: Stop<'_>) -> Result<KeyTable> {
        if keys.len() >= FREE as usize {
            return Err(Error::Option {
                option: "candidates",
                value: format!("{} distinct n-grams", keys.len()),
                advice: format!("a scan takes fewer than {FREE}; give the candidates in parts"),
            });
        }
        let geometry = blocked_geometry(keys.len().max(1) as u64, FILTER_RATE)
            .expect("the rate is possible for as many keys as have 32-bit numbers");
        let no_memory = |_| Error::NoRoom {
            needed: geometry.blocks * 64,
            available: crate::memory::available().unwrap_or(0),
            place: "memory".into(),
            detail: "n-grams of the candidates".into(),
            advice: "give the candidates in parts".into(),
        };
        let mut filter =
            Words::zeroed(geometry.blocks as usize * blocked::BLOCK_WORDS).map_err(no_memory)?;
        let mut slots = pass::filled((keys.len() * 2).max(2), || (0, FREE), stop)?;
        for (number, &key) in keys.iter().enumerate() {
            if number % STEP == 0 {
                stop()?;
            }
            blocked::insert(filter.as_mut_slice(), key, geometry);
            let mut slot = block_of(key, slots.len() as u64) as usize;
            while slots[slot].1 != FREE {
                slot = (slot + 1) % slots.len();
            }
            slots[slot] = (key, number as u32);
        }
        Ok(KeyTable {
            keys,
            filter,
            geometry,
            slots,
        })
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// The number of `key`, if it is there.
    pub fn number(&self, key: u64) -> Option<u32> {
        let mut slot = block_of(key, self.slots.len() as u64) as usize;
        loop {
            match self.slots[slot] {
                (_, FREE) => return None,
                (held, number) if held == key => return Some(number),
                _ => slot = (slot + 1) % self.slots.len(),
            }
        }
    }

    /// Appends the numbers of those `keys` that are there, in their order and with repeats, to `found`.
    pub fn find(&self, keys: &[u64], scratch: &mut Scratch, found: &mut Vec<u32>) {
        let places = self.passing(keys, scratch);
        let numbers = places
            .iter()
            .map(|&place| self.number(keys[place as usize]));
        found.extend(numbers.flatten());
    }

    /// Appends the places of those `keys` that are there, with their numbers, to `found`.
    pub fn find_placed(&self, keys: &[u64], scratch: &mut Scratch, found: &mut Vec<(u32, u32)>) {
        let places = self.passing(keys, scratch);
        let numbers = |&place: &u32| Some((place, self.number(keys[place as usize])?));
        found.extend(places.iter().filter_map(numbers));
    }

    /// Places of keys that the filter lets through, whose slots are on their way to the cache.
    fn passing<'s>(&self, keys: &[u64], scratch: &'s mut Scratch) -> &'s [u32] {
        let Scratch { hits, places } = scratch;
        hits.clear();
        hits.resize(keys.len(), 0);
        // SAFETY: the filter holds every block of its geometry.
        unsafe {
            blocked::contains_batch(self.filter.as_ptr(), 0, keys, self.geometry, hits);
        }
        places.resize(keys.len(), 0);
        let mut count = 0;
        for (place, &hit) in hits.iter().enumerate() {
            places[count] = place as u32;
            count += usize::from(hit);
        }
        for &place in &places[..count] {
            let slot = block_of(keys[place as usize], self.slots.len() as u64);
            prefetch(&raw const self.slots[slot as usize]);
        }
        &places[..count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::finalize;

    #[test]
    fn finds_every_key_and_no_other() {
        for count in [0u64, 1, 2, 1000, 50_000] {
            let mut sorted: Vec<u64> = (0..count).map(finalize).collect();
            sorted.sort_unstable();
            let table = KeyTable::new(sorted.clone(), &|| Ok(())).unwrap();
            assert_eq!(table.len(), count as usize);
            let asked: Vec<u64> = (0..count * 3).map(finalize).chain([0, u64::MAX]).collect();
            let mut found = Vec::new();
            table.find(&asked, &mut Scratch::default(), &mut found);
            let right: Vec<u32> = asked
                .iter()
                .filter_map(|key| sorted.binary_search(key).ok().map(|number| number as u32))
                .collect();
            assert_eq!(found, right);
            let mut placed = Vec::new();
            table.find_placed(&asked, &mut Scratch::default(), &mut placed);
            for &(place, number) in &placed {
                assert_eq!(table.number(asked[place as usize]), Some(number));
            }
            let numbers: Vec<u32> = placed.into_iter().map(|(_, number)| number).collect();
            assert_eq!(numbers, right);
        }
    }
}
