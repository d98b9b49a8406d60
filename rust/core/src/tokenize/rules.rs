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
/// Rows of the table: each state, without and with a ZWJ as the character directly before (WB3c).
const ROWS: usize = 2 * STATES;
const ROW_BITS: u16 = 0x3FF;
const BREAK: u16 = 1 << 10;
const BREAK_PENDING: u16 = 1 << 11;
const SET_PENDING: u16 = 1 << 12;
const VISIBLE: u16 = 1 << 13;

/// Where the automaton stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row(u16);

impl Row {
    /// At the start of a text.
    pub const START: Row = Row::new(State::Start, false);

    const fn new(state: State, zwj: bool) -> Row {
        Row(((state as usize * 2 + zwj as usize) * COLUMNS) as u16)
    }

    /// Feeds a character of the class with this number.
    #[inline(always)]
    pub fn step(self, class_number: u8) -> Step {
        debug_assert!((class_number as usize) < COLUMNS);
        // SAFETY: rows are made by `Row::new` only, so `self.0 + class_number` is below ROWS * COLUMNS for class numbers below COLUMNS,
        // and all class numbers are.
        unsafe { *TABLE.get_unchecked(self.0 as usize + class_number as usize) }
    }

    /// True if the mark last read may still turn out to begin a segment.
    #[inline(always)]
    pub fn is_pending(self) -> bool {
        self.0 >= Row::new(State::LetterMid, false).0
            && self.0 != Row::new(State::HebrewSingle, false).0
            && self.0 != Row::new(State::HebrewSingle, true).0
    }

    /// True if what follows depends on nothing but the last character's class: no pair, quotation or pending mark is open.
    #[inline(always)]
    pub fn is_plain(self) -> bool {
        self.0 < Row::new(State::LetterMid, false).0
    }

    /// The state after the ASCII byte `last`, which `before` (0 at the start of text) precedes and `next` follows, all boundaries up to
    /// `last` being decided already. `next` must be ASCII if `last` is a mark that joins letters or digits.
    pub fn after_ascii(before: u8, last: u8, next: u8) -> Row {
        let (before, class, next) = (
            Class::of(before as char),
            Class::of(last as char),
            Class::of(next as char),
        );
        let state = if joins_letters(class)
            && matches!(before, Class::ALetter)
            && matches!(next, Class::ALetter)
        {
            State::LetterMid
        } else if joins_numbers(class)
            && matches!(before, Class::Numeric)
            && matches!(next, Class::Numeric)
        {
            State::NumericMid
        } else {
            state_after(class)
        };
        Row::new(state, false)
    }
}

impl Step {
    /// The state after the character.
    #[inline(always)]
    pub fn row(self) -> Row {
        Row(self.0 & ROW_BITS)
    }

    /// There is a boundary before the character.
    #[inline(always)]
    pub fn breaks(self) -> bool {
        self.0 & BREAK != 0
    }

    /// There is a boundary at the pending position (before the one at this character, if any).
    #[inline(always)]
    pub fn breaks_pending(self) -> bool {
        self.0 & BREAK_PENDING != 0
    }

    /// This character's position becomes the pending one.
    #[inline(always)]
    pub fn sets_pending(self) -> bool {
        self.0 & SET_PENDING != 0
    }

    /// The character is not white space, so its segment is a word.
    #[inline(always)]
    pub fn is_visible(self) -> bool {
        self.0 & VISIBLE != 0
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

const fn step(state: State, after_zwj: bool, class: Class) -> Step {
    let visible = if class.is_white_space() { 0 } else { VISIBLE };
    let at_line_start = matches!(state, State::Start | State::Cr);
    if !at_line_start && matches!(class, Class::Extend | Class::Format | Class::Zwj) {
        // WB4. WSegSpace joins another only directly (WB3d), so it is an ordinary character from here on.
        let state = if matches!(state, State::Space) {
            State::Other
        } else {
            state
        };
        return Step(Row::new(state, matches!(class, Class::Zwj)).0 | visible);
    }
    let joined = joins(state, class);
    let mut actions = visible;
    if !joined && is_pending(state) {
        actions |= BREAK_PENDING;
    }
    // WB3c; a ZWJ at the start of a line begins a segment of its own, which a pictograph joins as well.
    let pictograph_joined = after_zwj && class.is_pictograph();
    let letter_state = matches!(state, State::Letter | State::Hebrew);
    let mut next = state_after(class);
    let mut pending = false;
    if matches!(state, State::Hebrew) && matches!(class, Class::SingleQuote) {
        next = State::HebrewSingle;
    } else if matches!(state, State::Hebrew) && matches!(class, Class::DoubleQuote) {
        (next, pending) = (State::HebrewDouble, true);
    } else if letter_state && joins_letters(class) {
        (next, pending) = (State::LetterMid, true);
    } else if matches!(state, State::Numeric) && joins_numbers(class) {
        (next, pending) = (State::NumericMid, true);
    } else if matches!(state, State::Regional) && joined {
        next = State::Other;
    }
    if pending {
        actions |= SET_PENDING;
    } else if !joined && !pictograph_joined {
        actions |= BREAK;
    }
    if at_line_start && matches!(class, Class::Zwj) {
        return Step(Row::new(next, true).0 | actions);
    }
    Step(Row::new(next, false).0 | actions)
}

static TABLE: [Step; ROWS * COLUMNS] = {
    let mut table = [Step(0); ROWS * COLUMNS];
    let mut state = 0;
    while state < STATES {
        let mut class = 0;
        while class < Class::ALL.len() {
            let at = state * 2 * COLUMNS + class;
            table[at] = step(ALL_STATES[state], false, Class::ALL[class].0);
            table[at + COLUMNS] = step(ALL_STATES[state], true, Class::ALL[class].0);
            class += 1;
        }
        state += 1;
    }
    table
};
