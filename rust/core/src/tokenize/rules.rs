//! The rules of UAX #29 word boundaries (WB1 to WB999) as a finite automaton over character classes.
//!
//! The rules look two characters ahead in places (WB6, WB7b, WB12: is the full stop in "e.g" inside a word?). The automaton only
//! goes forward: such a mark leaves a boundary *pending* at its position, and the next character that counts settles it. So any
//! text takes one step a character, however long its runs of combining marks.

use super::property::Class;

/// What the characters so far mean for the next one. Extend, Format and ZWJ do not change it (WB4).
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum State {
    /// Start of text, or after LF or another line end: whatever comes begins a segment.
    Start,
    /// After CR.
    Cr,
    /// After a character that joins with nothing but Extend, Format and ZWJ.
    Other,
    Letter,
    Hebrew,
    Numeric,
    Katakana,
    ExtendNumLet,
    /// After an unpaired regional indicator.
    Regional,
    /// Directly after WSegSpace.
    Space,
    /// Letter and a mark that is inside the word if a letter follows; boundary before the mark pending.
    LetterMid,
    /// Number and a mark that is inside it if a digit follows; boundary before the mark pending.
    NumericMid,
    /// Hebrew letter and apostrophe: joined anyway, and to a letter that follows.
    HebrewSingle,
    /// Hebrew letter and quotation mark; boundary before the mark pending.
    HebrewDouble,
}

const STATES: usize = State::HebrewDouble as usize + 1;
const ALL_STATES: [State; STATES] = {
    use State::*;
    [
        Start,
        Cr,
        Other,
        Letter,
        Hebrew,
        Numeric,
        Katakana,
        ExtendNumLet,
        Regional,
        Space,
        LetterMid,
        NumericMid,
        HebrewSingle,
        HebrewDouble,
    ]
};

/// One step of the automaton, packed: the row of the next state and what to do at this character.
#[derive(Clone, Copy)]
pub struct Step(u16);

/// Columns of the table: classes, rounded up to a power of two.
const COLUMNS: usize = 32;
/// Rows of the table: each state, without and with a ZWJ as the character directly before (WB3c), in a segment that is only
/// white space so far or that is a word.
const ROWS: usize = 4 * STATES;
const ROW_BITS: u16 = 0x7FF;
const ENDS_WORD: u16 = 1 << 11;
const STARTS_WORD: u16 = 1 << 12;
const BREAKS: u16 = 1 << 13;
const SETS_PENDING: u16 = 1 << 14;
const BREAKS_PENDING: u16 = 1 << 15;

/// Where the automaton stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row(u16);

impl Row {
    /// At the start of a text.
    pub const START: Row = Row::new(State::Start, false, false);

    const fn new(state: State, zwj: bool, word: bool) -> Row {
        Row((((state as usize * 2 + zwj as usize) * 2 + word as usize) * COLUMNS) as u16)
    }

    const fn state_number(self) -> usize {
        self.0 as usize / (4 * COLUMNS)
    }

    /// Feeds a character of the class with this number.
    #[inline(always)]
    pub fn step(self, class_number: u8) -> Step {
        debug_assert!((class_number as usize) < COLUMNS);
        // The row is the last thing to be known, so it is added last.
        // SAFETY: rows are made by `Row::new` only, so `self.0 + class_number` is below ROWS * COLUMNS for class numbers below
        // COLUMNS, and all class numbers are.
        unsafe {
            *TABLE
                .as_ptr()
                .add(class_number as usize)
                .add(self.0 as usize)
        }
    }

    /// True if the segment has a character that is not white space.
    #[inline(always)]
    pub fn is_word(self) -> bool {
        self.0 as usize & COLUMNS != 0
    }

    /// True if the mark last read may still turn out to begin a segment.
    #[inline(always)]
    pub fn is_pending(self) -> bool {
        is_pending(ALL_STATES[self.state_number()])
    }

    /// True if what follows depends on nothing but the last character's class: no mark or quotation is open.
    #[inline(always)]
    pub fn is_plain(self) -> bool {
        self.state_number() < State::LetterMid as usize
    }

    /// The state after the ASCII byte `last`, which `before` (0 at the start of text) precedes and `next` follows, all boundaries up to
    /// `last` being decided already. `next` must be ASCII if `last` is a mark that joins letters or digits.
    pub fn after_ascii(before: u8, last: u8, next: u8) -> Row {
        let (before, class, next) = (
            Class::of(before as char),
            Class::of(last as char),
            Class::of(next as char),
        );
        let state = if joins_letters(class) && before == Class::ALetter && next == Class::ALetter {
            State::LetterMid
        } else if joins_numbers(class) && before == Class::Numeric && next == Class::Numeric {
            State::NumericMid
        } else {
            state_after(class)
        };
        Row::new(state, false, !class.is_white_space())
    }
}

impl Step {
    /// The state after the character.
    #[inline(always)]
    pub fn row(self) -> Row {
        Row(self.0 & ROW_BITS)
    }

    /// A word ends before the character.
    #[inline(always)]
    pub fn ends_word(self) -> bool {
        self.0 & ENDS_WORD != 0
    }

    /// The character makes its segment a word: it is the first that is not white space.
    #[inline(always)]
    pub fn starts_word(self) -> bool {
        self.0 & STARTS_WORD != 0
    }

    /// A segment, word or not, starts at the character.
    #[inline(always)]
    pub fn breaks(self) -> bool {
        self.0 & BREAKS != 0
    }

    /// The character's position becomes the pending one.
    #[inline(always)]
    pub fn sets_pending(self) -> bool {
        self.0 & SETS_PENDING != 0
    }

    /// A word ends at the pending position and another starts there.
    #[inline(always)]
    pub fn breaks_pending(self) -> bool {
        self.0 & BREAKS_PENDING != 0
    }
}

const fn is_letter(class: Class) -> bool {
    matches!(
        class,
        Class::ALetter | Class::ALetterPictograph | Class::HebrewLetter
    )
}

/// MidLetter or MidNumLetQ.
const fn joins_letters(class: Class) -> bool {
    matches!(
        class,
        Class::MidLetter | Class::MidNumLet | Class::SingleQuote
    )
}

/// MidNum or MidNumLetQ.
const fn joins_numbers(class: Class) -> bool {
    matches!(class, Class::MidNum | Class::MidNumLet | Class::SingleQuote)
}

/// The state after a character that begins a segment or joins by its class alone.
const fn state_after(class: Class) -> State {
    match class {
        Class::Cr => State::Cr,
        Class::Lf | Class::Newline => State::Start,
        Class::ALetter | Class::ALetterPictograph => State::Letter,
        Class::HebrewLetter => State::Hebrew,
        Class::Numeric => State::Numeric,
        Class::Katakana => State::Katakana,
        Class::ExtendNumLet | Class::ExtendNumLetSpace => State::ExtendNumLet,
        Class::RegionalIndicator => State::Regional,
        Class::WSegSpace => State::Space,
        _ => State::Other,
    }
}

const fn is_pending(state: State) -> bool {
    matches!(
        state,
        State::LetterMid | State::NumericMid | State::HebrewDouble
    )
}

/// True if the rules join a character of `class` to what `state` stands for. WB3c and WB4 are in [`step`].
const fn joins(state: State, class: Class) -> bool {
    let letter = is_letter(class);
    let extend_num_let = matches!(class, Class::ExtendNumLet | Class::ExtendNumLetSpace);
    match state {
        State::Cr => matches!(class, Class::Lf),           // WB3
        State::Space => matches!(class, Class::WSegSpace), // WB3d
        State::Letter => letter || matches!(class, Class::Numeric) || extend_num_let, // WB5, WB9, WB13a
        State::Hebrew => {
            letter || matches!(class, Class::Numeric | Class::SingleQuote) || extend_num_let
        } // and WB7a
        State::Numeric => letter || matches!(class, Class::Numeric) || extend_num_let, // WB8, WB10, WB13a
        State::Katakana => matches!(class, Class::Katakana) || extend_num_let, // WB13, WB13a
        State::ExtendNumLet => {
            letter || matches!(class, Class::Numeric | Class::Katakana) || extend_num_let // WB13a, WB13b
        }
        State::Regional => matches!(class, Class::RegionalIndicator), // WB15, WB16
        State::LetterMid | State::HebrewSingle => letter,             // WB6, WB7
        State::NumericMid => matches!(class, Class::Numeric),         // WB11, WB12
        State::HebrewDouble => matches!(class, Class::HebrewLetter),  // WB7b, WB7c
        State::Start | State::Other => false,
    }
}

/// What [`step`] finds out without regard to white space.
struct Outcome {
    next: State,
    zwj: bool,
    breaks: bool,
    breaks_pending: bool,
    sets_pending: bool,
}

const fn outcome(state: State, after_zwj: bool, class: Class) -> Outcome {
    let zwj = matches!(class, Class::Zwj);
    let at_line_start = matches!(state, State::Start | State::Cr);
    if !at_line_start && matches!(class, Class::Extend | Class::Format | Class::Zwj) {
        // WB4. WSegSpace joins another only directly (WB3d), so it is an ordinary character from here on.
        let next = if matches!(state, State::Space) {
            State::Other
        } else {
            state
        };
        return Outcome {
            next,
            zwj,
            breaks: false,
            breaks_pending: false,
            sets_pending: false,
        };
    }
    let joined = joins(state, class);
    let mut sets_pending = false;
    let letter_state = matches!(state, State::Letter | State::Hebrew);
    let mut next = state_after(class);
    if matches!(state, State::Hebrew) && matches!(class, Class::SingleQuote) {
        next = State::HebrewSingle;
    } else if matches!(state, State::Hebrew) && matches!(class, Class::DoubleQuote) {
        (next, sets_pending) = (State::HebrewDouble, true);
    } else if letter_state && joins_letters(class) {
        (next, sets_pending) = (State::LetterMid, true);
    } else if matches!(state, State::Numeric) && joins_numbers(class) {
        (next, sets_pending) = (State::NumericMid, true);
    } else if matches!(state, State::Regional) && joined {
        next = State::Other;
    }
    // WB3c; a ZWJ at the start of a line begins a segment of its own, which a pictograph joins as well.
    let pictograph_joined = after_zwj && class.is_pictograph();
    Outcome {
        next,
        zwj,
        breaks: !joined && !pictograph_joined && !sets_pending,
        breaks_pending: !joined && is_pending(state),
        sets_pending,
    }
}

const fn step(state: State, after_zwj: bool, word: bool, class: Class) -> Step {
    let Outcome {
        next,
        zwj,
        breaks,
        breaks_pending,
        sets_pending,
    } = outcome(state, after_zwj, class);
    let goes_on = word && !breaks;
    let is_word = goes_on || !class.is_white_space();
    let flags = [
        (word && breaks, ENDS_WORD),
        (is_word && !goes_on, STARTS_WORD),
        (breaks, BREAKS),
        (sets_pending, SETS_PENDING),
        (breaks_pending, BREAKS_PENDING),
    ];
    let mut packed = Row::new(next, zwj, is_word).0;
    let mut at = 0;
    while at < flags.len() {
        packed |= if flags[at].0 { flags[at].1 } else { 0 };
        at += 1;
    }
    Step(packed)
}

static TABLE: [Step; ROWS * COLUMNS] = {
    let mut table = [Step(0); ROWS * COLUMNS];
    let mut row = 0;
    while row < ROWS {
        let mut class = 0;
        while class < Class::ALL.len() {
            table[row * COLUMNS + class] = step(
                ALL_STATES[row / 4],
                row & 2 != 0,
                row & 1 != 0,
                Class::ALL[class].0,
            );
            class += 1;
        }
        row += 1;
    }
    table
};
