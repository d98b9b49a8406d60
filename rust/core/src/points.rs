//! Byte offsets to code points, Python's indices.

/// Counts the code points before byte offsets of one text; offsets near the one before are cheap.
pub struct CodePoints<'a> {
    text: &'a str,
    byte: usize,
    point: u64,
}

impl<'a> CodePoints<'a> {
    /// For offsets into `text`.
    pub fn new(text: &'a str) -> CodePoints<'a> {
        CodePoints {
            text,
            byte: 0,
            point: 0,
        }
    }

    /// Code points before byte `byte`, which begins a character or ends the text. Words that normalisation made of one character share
    /// its span, so offsets may also go back.
    pub fn at(&mut self, byte: usize) -> u64 {
        let count = |from: usize, to: usize| self.text[from..to].chars().count() as u64;
        if byte >= self.byte {
            self.point += count(self.byte, byte);
        } else {
            self.point -= count(byte, self.byte);
        }
        self.byte = byte;
        self.point
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_forwards_and_backwards() {
        let text = "aé℀🦉b";
        let mut points = CodePoints::new(text);
        for (point, (byte, _)) in text.char_indices().enumerate().chain([(0, (0, 'a'))]) {
            assert_eq!(points.at(byte), point as u64);
        }
        assert_eq!(points.at(text.len()), 5);
        assert_eq!(points.at(3), 2);
    }
}
