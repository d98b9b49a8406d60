//! Keys of values inside records: `text`, or `meta.text` for a value inside another.

/// A wanted key: as it is written, and as a path. A key with the literal name wins over the path.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub literal: String,
    /// At least one; several when the name has dots.
    pub steps: Vec<String>,
}

impl Key {
    pub fn new(name: &str) -> Key {
        Key {
            literal: name.to_owned(),
            steps: name.split('.').map(str::to_owned).collect(),
        }
    }

    pub fn nested(&self) -> bool {
        self.steps.len() > 1
    }
}

/// The wanted keys of a pass, in this order: text, id, further fields.
#[derive(Clone, Debug)]
pub(super) struct Keys(pub Vec<Key>);

/// Index of the text in [`Keys`].
pub(super) const TEXT: usize = 0;
/// Index of the id in [`Keys`].
pub(super) const ID: usize = 1;
/// Index of the first further field in [`Keys`].
pub(super) const FIELDS: usize = 2;

impl Keys {
    pub fn new(text: &str, id: &str, fields: &[String]) -> Keys {
        Keys(
            [text, id]
                .into_iter()
                .chain(fields.iter().map(String::as_str))
                .map(Key::new)
                .collect(),
        )
    }

    pub fn text(&self) -> &str {
        &self.0[TEXT].literal
    }
}
