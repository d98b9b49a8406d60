//! Word_Break, Extended_Pictographic, White_Space and "unassigned" of all code points in Unicode 15.0.0.
//!
//! Written by `tools/unicode_tables.py`; do not edit. Letters are explained in `property.rs`. SHA-256 of the inputs:
//! - `auxiliary/WordBreakProperty.txt`: 5188a56e91593467c2e912601ebc78750e6adc9b04541b8c5becb5441e388ce2
//! - `emoji/emoji-data.txt`: 29071dba22c72c27783a73016afb8ffaeb025866740791f9c2d0b55cc45a3470
//! - `PropList.txt`: e05c0a2811d113dae4abd832884199a3ea8d187ee1b872d8240a788a96540bfd
//! - `DerivedAge.txt`: 7570877e0fa197c45338f7c41a02636da4e14c8dba6a3611a01cd30bf329d5ca
//!
//! SHA-256 of the content (one letter per code point, in order): 660597960fdbdb659f713cd46bbfb1fda62b436dcdf3bf8973b61ab66ca6448e

/// Version of the Unicode Character Database these tables were made from.
pub const UNICODE_VERSION: &str = "15.0.0";

/// Code points per block.
pub const BLOCK: usize = 128;

/// Which block holds which code points, in order: pairs of block number and repetitions.
pub const BLOCK_RUNS: [u16; 682] = [
    0, 1, 1, 1, 2, 3, 3, 1, 4, 1, 5, 1, 2, 1, 6, 1, 7, 1, 8, 1, 9, 1, 10, 1, 11, 1, 12, 1, 13, 1,
    14, 1, 15, 1, 16, 1, 17, 1, 18, 1, 19, 1, 20, 1, 21, 1, 22, 1, 23, 1, 24, 1, 25, 1, 26, 1, 27,
    1, 28, 1, 29, 1, 30, 1, 2, 2, 31, 1, 32, 1, 33, 1, 34, 1, 35, 1, 2, 3, 36, 1, 37, 1, 38, 1, 39,
    1, 40, 1, 41, 1, 42, 1, 43, 1, 44, 1, 45, 1, 46, 1, 47, 1, 48, 1, 49, 1, 2, 1, 50, 1, 2, 2, 51,
    1, 52, 1, 53, 1, 54, 1, 55, 1, 56, 1, 57, 2, 58, 1, 59, 1, 60, 1, 61, 1, 57, 1, 62, 1, 63, 1,
    64, 1, 65, 1, 66, 1, 57, 2, 67, 1, 57, 3, 68, 1, 69, 1, 2, 1, 70, 1, 71, 1, 72, 1, 73, 1, 74,
    1, 57, 1, 75, 1, 76, 1, 77, 1, 78, 1, 79, 1, 80, 1, 81, 1, 82, 1, 57, 217, 2, 9, 83, 1, 2, 2,
    84, 1, 85, 1, 86, 1, 87, 1, 88, 1, 89, 1, 90, 1, 91, 1, 92, 1, 93, 1, 94, 1, 95, 1, 2, 87, 96,
    1, 57, 68, 97, 1, 98, 1, 99, 1, 100, 1, 2, 2, 101, 1, 102, 1, 103, 1, 104, 1, 105, 1, 106, 1,
    107, 1, 108, 1, 109, 1, 110, 1, 111, 1, 112, 1, 113, 1, 114, 1, 2, 1, 115, 1, 116, 1, 117, 1,
    2, 2, 118, 1, 119, 1, 120, 1, 121, 1, 122, 1, 123, 1, 124, 1, 125, 1, 126, 1, 127, 1, 128, 1,
    129, 1, 130, 1, 111, 1, 131, 1, 132, 1, 133, 1, 134, 1, 135, 1, 136, 1, 137, 1, 138, 1, 139, 1,
    140, 1, 141, 1, 111, 1, 142, 1, 143, 1, 111, 1, 144, 1, 145, 1, 146, 1, 147, 1, 111, 1, 148, 1,
    149, 1, 150, 1, 151, 1, 152, 1, 153, 1, 154, 1, 111, 1, 155, 1, 156, 1, 157, 1, 158, 1, 111, 1,
    159, 1, 160, 1, 161, 1, 2, 7, 162, 1, 163, 1, 2, 1, 164, 1, 111, 20, 165, 1, 2, 8, 166, 1, 111,
    31, 2, 4, 167, 1, 111, 67, 2, 4, 168, 1, 169, 1, 170, 1, 171, 1, 111, 4, 172, 1, 173, 1, 174,
    1, 175, 1, 57, 47, 176, 1, 57, 9, 177, 1, 178, 1, 111, 68, 179, 1, 180, 1, 57, 1, 181, 1, 57,
    2, 182, 1, 111, 18, 183, 1, 184, 1, 111, 36, 185, 1, 186, 1, 57, 1, 187, 1, 188, 1, 189, 1,
    190, 1, 191, 1, 192, 1, 111, 1, 193, 1, 194, 1, 195, 1, 2, 2, 196, 1, 197, 1, 198, 1, 57, 4,
    199, 1, 200, 1, 111, 8, 201, 1, 111, 1, 202, 1, 203, 1, 204, 1, 111, 2, 205, 1, 111, 3, 206, 1,
    111, 5, 207, 1, 2, 1, 208, 1, 209, 1, 111, 5, 210, 1, 211, 1, 212, 1, 111, 1, 213, 1, 214, 1,
    111, 2, 215, 1, 216, 1, 217, 1, 218, 1, 219, 1, 220, 1, 221, 1, 222, 1, 221, 2, 223, 1, 221, 1,
    224, 1, 225, 1, 226, 1, 227, 1, 228, 1, 229, 1, 230, 1, 221, 1, 231, 1, 232, 1, 57, 1, 233, 1,
    220, 7, 234, 1, 57, 333, 235, 1, 57, 32, 236, 1, 57, 1, 237, 1, 57, 44, 238, 1, 57, 57, 239, 1,
    111, 24, 57, 4, 240, 1, 111, 10, 241, 1, 57, 38, 242, 1, 57, 32, 243, 1, 111, 439, 241, 1, 111,
    511, 241, 1, 111, 511, 241, 1, 111, 511, 241, 1, 111, 511, 241, 1, 111, 511, 241, 1, 111, 511,
    241, 1, 111, 511, 241, 1, 111, 511, 241, 1, 111, 511, 241, 1, 111, 511, 241, 1, 244, 1, 111, 1,
    245, 1, 246, 1, 111, 507, 241, 1, 57, 1024,
];

/// The distinct blocks, 128 letters each.
pub const LETTERS: &[u8; 31616] = b"\
.........wlnnc..................S.d....s....N.m.0000000000LN.....AAAAAAAAAAAAAAAAAAAAAAAAAA....x.AAAAAAAAAAAAAAAAAAAAAAAAAA.....\
.....n..........................w........pA..fp......A.L..A.....AAAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.AAAAAAAA\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA......AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeAAAAA.AAuuAAAANA\
uuuu..ALAAAuAuAAAAAAAAAAAAAAAAAAAAuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAA\
AA.eeeeeeeAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuAAAA.ALAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
AAAAAAAAANAuu...ueeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee.e.ee.ee.euuuuuuuuhhhhhhhhhhhhhhhhhhhhhhhhhhhuuuuhhhhALuuuuuuuuuuu\
ffffff......NN..eeeeeeeeeee.f...AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeeeeeeeeeee0000000000.0N.AAeAAAAAAAAAAAAAAA\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.Aeeeeeeef.eeeeeeAAee.eeeeAA0000000000AAA..A\
..............ufAeAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeeeeeeeeeeeeeeeeeuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeAuuuuuuuuuuuuuu0000000000AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeAA..N.Auue..\
AAAAAAAAAAAAAAAAAAAAAAeeeeAeeeeeeeeeAeeeAeeeeeuu...............uAAAAAAAAAAAAAAAAAAAAAAAAAeeeuu.uAAAAAAAAAAAuuuuuAAAAAAAAAAAAAAAA\
AAAAAAAA.AAAAAAuffuuuuuueeeeeeeeAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeeeeeeeeeeeeeefeeeeeeeeeeeeeeeeeeeeeeeeeeeee\
eeeeAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeAeeeeeeeeeeeeeeeeeeAeeeeeeeAAAAAAAAAAee..0000000000.AAAAAAAAAAAAAAA\
AeeeuAAAAAAAAuuAAuuAAAAAAAAAAAAAAAAAAAAAAuAAAAAAAuAuuuAAAAuueAeeeeeeeuueeuueeeAuuuuuuuueuuuuAAuAAAeeuu0000000000AA..........A.eu\
ueeeuAAAAAAuuuuAAuuAAAAAAAAAAAAAAAAAAAAAAuAAAAAAAuAAuAAuAAuueueeeeeuuuueeuueeeuuueuuuuuuuAAAAuAuuuuuuu0000000000eeAAAe.uuuuuuuuu\
ueeeuAAAAAAAAAuAAAuAAAAAAAAAAAAAAAAAAAAAAuAAAAAAAuAAuAAAAAuueAeeeeeeeeueeeueeeuuAuuuuuuuuuuuuuuuAAeeuu0000000000..uuuuuuuAeeeeee\
ueeeuAAAAAAAAuuAAuuAAAAAAAAAAAAAAAAAAAAAAuAAAAAAAuAAuAAAAAuueAeeeeeeeuueeuueeeuuuuuuueeeuuuuAAuAAAeeuu0000000000.A......uuuuuuuu\
uueAuAAAAAAuuuAAAuAAAAuuuAAuAuAAuuuAAuuuAAAuuuAAAAAAAAAAAAuuuueeeeeuuueeeueeeeuuAuuuuuueuuuuuuuuuuuuuu0000000000...........uuuuu\
eeeeeAAAAAAAAuAAAuAAAAAAAAAAAAAAAAAAAAAAAuAAAAAAAAAAAAAAAAuueAeeeeeeeueeeueeeeuuuuuuueeuAAAuuAuuAAeeuu0000000000uuuuuuu.........\
Aeee.AAAAAAAAuAAAuAAAAAAAAAAAAAAAAAAAAAAAuAAAAAAAAAAuAAAAAuueAeeeeeeeueeeueeeeuuuuuuueeuuuuuuAAuAAeeuu0000000000uAAeuuuuuuuuuuuu\
eeeeAAAAAAAAAuAAAuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeAeeeeeeeueeeueeeeA.uuuuAAAe.......AAAeeuu0000000000..........AAAAAA\
ueeeuAAAAAAAAAAAAAAAAAAuuuAAAAAAAAAAAAAAAAAAAAAAAAuAAAAAAAAAuAuuAAAAAAAuuueuuuueeeeeeueueeeeeeeeuuuuuu0000000000uuee.uuuuuuuuuuu\
u................................................e..eeeeeeeuuuu........eeeeeeee.0000000000..uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
u..u.u.....u........................u.u..........e..eeeeeeeee.uu.....u.ueeeeeeeu0000000000uu....uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
A.......................ee......0000000000...........e.e.e....eeAAAAAAAAuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuueeeeeeeeeeeeeee\
eeeee.eeAAAAAeeeeeeeeeeeueeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeu........e......u.............uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
...........................................eeeeeeeeeeeeeeeeeeee.0000000000............eeee....eee.eee..eeeeeee...eeee...........\
..eeeeeeeeeeee.e0000000000eeee..AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuAuuuuuAuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.AAAA\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuAAAAuuAAAAAAAuAuAAAAuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
AAAAAAAAAuAAAAuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuAAAAuuAAAAAAAuAuAAAAuuAAAAAAAAAAAAAAAuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
AAAAAAAAAAAAAAAAAuAAAAuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuueee.............................uuu\
AAAAAAAAAAAAAAAA..........uuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuAAAAAAuu\
.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA..AAAAAAAAAAAAAAAAA\
SAAAAAAAAAAAAAAAAAAAAAAAAAA..uuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA...AAAAAAAAAAAuuuuuuu\
AAAAAAAAAAAAAAAAAAeeeeuuuuuuuuuAAAAAAAAAAAAAAAAAAAeee..uuuuuuuuuAAAAAAAAAAAAAAAAAAeeuuuuuuuuuuuuAAAAAAAAAAAAAuAAAueeuuuuuuuuuuuu\
....................................................eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee.........euu0000000000uuuuuu..........uuuuuu\
...........eeefe0000000000uuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuuu\
AAAAAeeAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeAuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAueeeeeeeeeeeeuuuueeeeeeeeeeeeuuuu.uuu..0000000000..............................uu.....uuuuuuuuuuu\
............................................uuuu..........................uuuuuu0000000000.uuu..................................\
AAAAAAAAAAAAAAAAAAAAAAAeeeeeuu.......................................................eeeeeeeeeeueeeeeeeeeeeeeeeeeeeeeeeeeeeeeuue\
0000000000uuuuuu0000000000uuuuuu..............uueeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
eeeeeAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeeeeeeeAAAAAAAAuuu0000000000.................eeeeeeeee...........u\
eeeAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeeeAA0000000000AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeeeeuuuuuuuu....\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeeeeeeeeeeuuu.....0000000000uuuAAA0000000000AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA..\
AAAAAAAAAuuuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuAAA........uuuuuuuueee.eeeeeeeeeeeeeeeeeeeeeAAAAeAAAAAAeAAeeeAuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee\
AAAAAAAAAAAAAAAAAAAAAAuuAAAAAAuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuAAAAAAuuAAAAAAAAuAuAuAuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuAAAAAAA.A...AAAuAAAAAAA...AAAAuuAAAAAAu...AAAAAAAAAAAAA...uuAAAuAAAAAAA..u\
SSSSSSSwSSS.ezff........mm..........m..Lnnfffffy............p..xx...N....p..........x..........Sfffffuffffffffff.Auu...........A\
...............uAAAAAAAAAAAAAuuu.................................uuuuuuuuuuuuuuueeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeuuuuuuuuuuuuuuu\
..A....A..AAAAAAAAAA.A...AAAAA....p.A.A.A.AAAA.AAAAAAAAAAP..AAAA.....AAAAA....A.................AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
AAAAAAAAA...uuuu....pppppp...............pp.....................................................................................\
................................................................................................................................\
..........................pp............p.......................................................................................\
........p......................................................................p.........................ppppppppppp....ppp.....\
.......................................uuuuuuuuuuuuuuuuuuuuuuuuu...........uuuuuuuuuuuuuuuuuuuuu................................\
......................................................AAAAAAAAAAAAPAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA......................\
..........................................pp..........p.........p..........................................................pppp.\
pppppp.pppppppppppp.pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp\
pppppp..........pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp\
pppppp..ppppppppppp.p.p......p...p......p..........pp...............p..p....p.p....ppp.p...........ppppp........................\
.....................ppp.........p..............p..............p................................................................\
....................................................pp..........................................................................\
.....ppp...................pp...................................................p....p..............................uu..........\
......................u.........................................................................................................\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA......AAAAeeeAAuuuuu.......\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuAuuuuuAuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuuuA.uuuuuuuuuuuuuue\
AAAAAAAAAAAAAAAAAAAAAAAuuuuuuuuuAAAAAAAuAAAAAAAuAAAAAAAuAAAAAAAuAAAAAAAuAAAAAAAuAAAAAAAuAAAAAAAueeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee\
...............................................A..............................................uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
..........................u.........................................................................................uuuuuuuuuuuu\
......................................................................................uuuuuuuuuuuuuuuuuuuuuuuuuu............uuuu\
S....A....................................eeeeeepkkkkk.....AAp..u...............................................................\
.......................uueekk...kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk.kkkk\
uuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
AAAAAAAAAAAAAAAu................AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA....................................uuuuuuuuuuuukkkkkkkkkkkkkkkk\
...............................u................................................................................................\
.......................p.p......................................................kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk.\
kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk........................................\
AAAAAAAAAAAAAuuu.......................................................uuuuuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA..\
AAAAAAAAAAAAA...AAAAAAAAAAAAAAAA0000000000AAuuuuuuuuuuuuuuuuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeee.eeeeeeeeee.A\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAee......uuuuuuuu\
........AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuAAuAuAAAAAuuuuuuuuuuuuuuuuuuuuuuuuAAAAAAAAAAAAAA\
AAeAAAeAAAAeAAAAAAAAAAAAAAAAAAAAAAAeeeee....euuu..........uuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA....uuuuuuuu\
eeAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeeeeeeeeuuuuuuuu..0000000000uuuuuueeeeeeeeeeeeeeeeeeAAAAAA...A.AAe\
0000000000AAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeee..AAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeeeuuuuuuuuuuu.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuu\
eeeeAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeeee.............uA0000000000uuuu.......e..........0000000000.....u\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeeeeuuuuuuuuuAAAeAAAAAAAAeeuu0000000000uu...............................eee..\
................................................e.eee..ee.....ee.e.uuuuuuuuuuuuuuuuuuuuuuuu.....AAAAAAAAAAAeeeee..AAAeeuuuuuuuuu\
uAAAAAAuuAAAAAAuuAAAAAAuuuuuuuuuAAAAAAAuAAAAAAAuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA..uuuuAAAAAAAAAAAAAAAA\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeee.eeuu0000000000uuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuuuuuuuuAAAAAAAAAAAAAAAAAAAAAAAuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuu\
..............................................................................................................uu................\
..........................................................................................uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAuuuuuuuuuuuuAAAAAuuuuuhehhhhhhhhhh.hhhhhhhhhhhhhuhhhhhuhuhhuhhuhhhhhhhhhhAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.................uuuuuuuuuuuuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA..................AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
AAAAAAAAAAAAAAAAuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuuu.................................AAAAAAAAAAAA....\
eeeeeeeeeeeeeeeeN..LN.....uuuuuueeeeeeeeeeeeeeee...xx........................xxxN.muNL.................u....uuuuAAAAAuAAAAAAAAAA\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuf\
u......m....N.m.0000000000LN.....AAAAAAAAAAAAAAAAAAAAAAAAAA....x.AAAAAAAAAAAAAAAAAAAAAAAAAA...........kkkkkkkkkkkkkkkkkkkkkkkkkk\
kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkeeAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuAAAAAAuuAAAAAAuuAAAAAAuuAAAuuu.......u.......uuuuuuuuuufff....\
AAAAAAAAAAAAuAAAAAAAAAAAAAAAAAAAAAAAAAAuAAAAAAAAAAAAAAAAAAAuAAuAAAAAAAAAAAAAAAuuAAAAAAAAAAAAAAuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuu\
...uuuu.............................................uuu.........AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA...........\
...............u.............uuu.uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu.............................................euu\
uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuuuuuuuuuuue...........................uuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA....uuuuuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAu.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuAAAAAAAA.AAAAAuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuu0000000000uuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuuuuuuu.AAAAAAAAAAAuAAAA\
AAAAAAAAAAAuAAAAAAAuAAuAAAAAAAAAAAuAAAAAAAAAAAAAAAuAAAAAAAuAAuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuuuuuAAAAAAAAAAAAAAAAAAAAAAuuuuuuuuuuAAAAAAAAuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuAAAAAAAAAuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAuuAuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuAAuuuAuuAAAAAAAAAAAAAAAAAAAAAAAu.........AAAAAAAAAAAAAAAAAAAAAAA.........\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuuuu.........uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuAAAAAAAAAAAAAAAAAAAuAAuuuuu.....\
AAAAAAAAAAAAAAAAAAAAAA......uuu.AAAAAAAAAAAAAAAAAAAAAAAAAAuuuuu.uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuu..AA................uu..............................................\
AeeeueeuuuuueeeeAAAAuAAAuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuueeeuuuue.........uuuuuuu.........uuuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAA...\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAA...uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAeeuuuu............uuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuu.......AAAAAAAAAAAAAAAAAAAAAAuu........AAAAAAAAAAAAAAAAAAAuuuuu........\
AAAAAAAAAAAAAAAAAAuuuuuuu....uuuuuuuuuuuu.......uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuuuuuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuuu......\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeuuuuuuuu0000000000uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu...............................u\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuee.uuAAuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuueee\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAA..........AuuuuuuuuAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeee.........uuuuuuuuuuuuuuuuuuuuuuAAAAAAAAAAAAAAAA\
AAeeee....uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuAAAAAAAAAAAAAAAAAAAAA.......uuuuuuuuuuuuuuuuuuuuAAAAAAAAAAAAAAAAAAAAAAAuuuuuuuuu\
eeeAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeeeee.......uuuu....................0000000000eAAeeAuuuuuuuuue\
eeeAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeee..f....euuuuuuuuuufuuAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuuu0000000000uuuuuu\
eeeAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeeeeu0000000000....AeeAuuuuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAe..Auuuuuuuuu\
eeeAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeeeeAAAA....eeee.ee0000000000A.A...u....................uuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAuAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeee......eAAeuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAuAuAAAAuAAAAAAAAAAAAAAAuAAAAAAAAAA.uuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeeuuuuu0000000000uuuuuu\
eeeeuAAAAAAAAuuAAuuAAAAAAAAAAAAAAAAAAAAAAuAAAAAAAuAAuAAAAAueeAeeeeeeeuueeuueeeuuAuuuuuueuuuuuAAAAAeeuueeeeeeeuuueeeeeuuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeeeeeeeeAAAA.....0000000000..u.eAAAuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeeeeeeeeeeAA.Auuuuuuuu0000000000uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeuueeeeeeeee.......................AAAAeeuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeeeeeee...Auuuuuuuuuuu0000000000uuuuuu.............uuuuuuuuuuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeeeA.uuuuuu0000000000uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
...........................uueeeeeeeeeeeeeeeuuuu0000000000.............uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeeeeeeee.uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA0000000000.........uuuuuuuuuuuuA\
AAAAAAAuuAuuAAAAAAAAuAAuAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeueeuueeeeAeAee...uuuuuuuuu0000000000uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuAAAAAAAAuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeuueeeeeeeA.Aeuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AeeeeeeeeeeAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeAeeee........euuuuuuuuAeeeeeeeeeeeAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
AAAAAAAAAAeeeeeeeeeeeeeeee...A.....uuuuuuuuuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuuu\
..........uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAAAuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeeueeeeeeeeA.....uuuuuuuuuu0000000000...................uuu..AAAAAAAAAAAAAA\
AAAAAAAAAAAAAAAAuueeeeeeeeeeeeeeeeeeeeeeueeeeeeeeeeeeeeuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAuAAuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeuuueueeueeeeeeeAeuuuuuuuu0000000000uuuuuuAAAAAAuAAuAAAAAAAAAAAAAAAAAAAAAA\
AAAAAAAAAAeeeeeueeueeeeeAuuuuuuu0000000000uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuAAAAAAAAAAAAAAAAAAAeeee..uuuuuuu\
eeAeAAAAAAAAAAAAAuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeuuueeeee.............0000000000uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuAuuuuuuuuuuuuuuu..................................................uuuuuuuuuuuuu.\
AAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAu.....uuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
uuuuuuuuuuuuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA..uuuuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAffffffffffffffffeAAAAAAeeeeeeeeeeeeeeeuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAu0000000000uuuu..AAAAAAAAAAAAAAAA\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAu0000000000uuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuueeeee.uuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeee.........AAAA..uuuuuuuuuu0000000000u.......uAAAAAAAAAAAAAAAAAAAAAuuuuuAAA\
AAAAAAAAAAAAAAAAuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
...........................uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuueAeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee\
eeeeeeeeuuuuuuueeeeAAAAAAAAAAAAAuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuAA.Aeuuuuuuuuuuueeuuuuuuuuuuuuuu\
........................................................................................................................uuuuuuuu\
......................................................................................uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
.........uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuukkkkukkkkkkkukku\
k...............................................................................................................................\
................................kkkuuuuuuuuuuuuuuu.uuuuuuuuuuuuuuuuuuuuuuuuuuuuu...uukuuuuuuuuuuuuuukkkkuuuuuuuu................\
............................................................................................................................uuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuAAAAAAAAAAAAAuuu\
AAAAAAAAAuuuuuuuAAAAAAAAAAuu.ee.ffffuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeuueeeeeeeeeeeeeeeeeeeeeeeuuuuuuuuu................................................\
....................................................................uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
......................................................................................................................uuuuuuuuuu\
.......................................uu............................................................eeeee...eeeeeeffffffffeeeee\
eee..eeeeeee..............................eeee.............................................................uuuuuuuuuuuuuuuuuuuuu\
..................................................................eee.uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu....................uuuuuuuuuuuu....................uuuuuuuuuuuu\
.......................................................................................uuuuuuuuu.........................uuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAuAAuuAuuAAuuAAAAuAAAAAAAAAAAAuAuAAAAAAAuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
AAAAAAuAAAAuuAAAAAAAAuAAAAAAAuAAAAAAAAAAAAAAAAAAAAAAAAAAAAuAAAAuAAAAAuAuuuAAAAAAAuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuAAAAAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.AAAA\
AAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAA\
AAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAuu00000000000000000000000000000000000000000000000000\
eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee....eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee........e..........\
....e.......uuuuuuuuuuuuuuueeeeeueeeeeeeeeeeeeeeuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuuAAAAAAuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
eeeeeeeueeeeeeeeeeeeeeeeeuueeeeeeeueeueeeeeuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuuuuuuuuuuuuuuuuu\
uuuuuuuuuuuuuuueuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuuueeeeeeeAAAAAAAuu0000000000uuuuA.uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
uuuuuuuuuuuuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeuuuuuuuuuuuuuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeee0000000000uuuuu.\
uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeee0000000000uuuuuu\
uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuAAAAAAAuAAAAuAAuAAAAAAAAAAAAAAAu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAuu.........eeeeeeeuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAeeeeeeeAuuuu0000000000uuuu..uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu...............\
.....................................................uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
u.............................................................uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
AAAAuAAAAAAAAAAAAAAAAAAAAAAAAAAAuAAuAuuAuAAAAAAAAAAuAAAAuAuAuuuuuuAuuuuAuAuAuAAAuAAuAuuAuAuAuAuAuAAuAuuAAAAuAAAAAAAuAAAAuAAAAuAu\
AAAAAAAAAAuAAAAAAAAAAAAAAAAAuuuuuAAAuAAAAAuAAAAAAAAAAAAAAAAAuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu..uuuuuuuuuuuuuu\
ppppppppppppppppppppppppppppppppppppppppppppqqqqpppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp\
ppppppppppppppppppppqqqqqqqqqqqqpppppppppppppppqqpppppppppppppppqpppppppppppppppqpppppppppppppppppppppppppppppppppppppqqqqqqqqqq\
.............ppp...............................pAAAAAAAAAAAAAAAAAAAAAAAAAA......AAAAAAAAAAAAAAAAAAAAAAAAAA..ppppPPAAAAAAAAAAAAPP\
AAAAAAAAAA....p..pppppppppp..................pqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqrrrrrrrrrrrrrrrrrrrrrrrrrr\
.ppqqqqqqqqqqqqq..........p....................p..ppppppppp.qqqq.........qqqqqqqppqqqqqqqqqqqqqqppppppqqqqqqqqqqqqqqqqqqqqqqqqqq\
qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq\
pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp\
pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppeeeee\
pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp........pppppppppppppppppppppppppppppppppppppppppppppppppppppppppp\
pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp................................................\
ppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppqqqqpppppppppppppppppqqqpppppppppppppqqq\
....................................................................................................................pppqqqqppppp\
.....................................................................................pppppqqqqqqppppppppppppqqqqpqqqqqqqqqqqqqqq\
............qqqq........................................................qqqqqqqq..........qqqqqq................................\
........qqqqqqqq..............................qqppqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq\
............ppppppppppppppppppppppppppppppppppppppppppppppp.pppppppppp.ppppppppppppppppppppppppppppppppppppppppppppppppppppppppp\
ppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppqqqqqqqqqqqqppppppppppppppqqpppppppppppppqqq\
pppppppppqqqqqqqppppppppppppppppppppppppppppppppppppppppppppppqpppppppqqqqqqqqppppppppppppppqqqqpppppppppqqqqqqqpppppppppqqqqqqq\
...................u.......................................................uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu0000000000uuuuuu\
qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq..\
................................................................................................uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
..........................................................uuuuuu................................................................\
..............................uu................................................................................................\
..................................uuuuuuuuuuuuuu................................................................................\
.................................................................................................uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
..............................uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu..\
...........................................................................uuuuu................................................\
................................................uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\
ufuuuuuuuuuuuuuuuuuuuuuuuuuuuuuueeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee\
eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee\
eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeuuuuuuuuuuuuuuuu\
";
