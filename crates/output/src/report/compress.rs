//! Packs the numeric arrays of an HTML page into one block that is compressed (zlib) and encoded in base64, together with a
//! directory of the arrays.

use miniz_oxide::deflate::compress_to_vec_zlib;
use serde_json::{Map, Value, json};

use crate::base64::encode_base64;

/// Compression level for zlib, from 0 to 9; 6 is the default of zlib.
const COMPRESSION_LEVEL: u8 = 6;

/// Alignment of the start of each array in the block \[B\]; it allows a browser to use the arrays without a copy.
const ARRAY_ALIGNMENT: usize = 8;

/// Collects named numeric arrays in one block of bytes, with a directory that tells where each array begins.
#[derive(Default)]
pub(super) struct ArrayPack {
    array_directory: Map<String, Value>,
    packed_bytes: Vec<u8>,
}

impl ArrayPack {
    pub(super) fn add_f64(&mut self, name: &str, numbers: &[f64]) {
        self.add(name, "f64", numbers, f64::to_le_bytes);
    }

    pub(super) fn add_f32(&mut self, name: &str, numbers: &[f32]) {
        self.add(name, "f32", numbers, |number| {
            round_for_compression(number).to_le_bytes()
        });
    }

    pub(super) fn add_u32(&mut self, name: &str, numbers: &[u32]) {
        self.add(name, "u32", numbers, u32::to_le_bytes);
    }

    pub(super) fn add_u8(&mut self, name: &str, numbers: &[u8]) {
        self.add(name, "u8", numbers, u8::to_le_bytes);
    }

    fn add<T: Copy, const N: usize>(
        &mut self,
        name: &str,
        kind: &str,
        numbers: &[T],
        bytes: impl Fn(T) -> [u8; N],
    ) {
        let start = self.packed_bytes.len().next_multiple_of(ARRAY_ALIGNMENT);
        self.packed_bytes.resize(start, 0);
        let entry = json!([kind, start, numbers.len()]);
        self.array_directory.insert(name.to_owned(), entry);
        self.packed_bytes
            .extend(numbers.iter().flat_map(|number| bytes(*number)));
    }

    /// Compresses the block. Returns the directory of the arrays (`name: [kind, first byte, count]`) and the compressed block as
    /// base64 text.
    pub(super) fn into_directory_and_base64(self) -> (Value, String) {
        let block = encode_base64(&compress_to_vec_zlib(&self.packed_bytes, COMPRESSION_LEVEL));
        (Value::Object(self.array_directory), block)
    }
}

/// Rounds a number to 12 binary digits after the leading digit (1 part in 8000), which is precise enough for tooltips and
/// pictures and compresses better.
fn round_for_compression(number: f32) -> f32 {
    const CUT: u32 = f32::MANTISSA_DIGITS - 1 - 12;
    if !number.is_finite() {
        return number;
    }
    let bits = number.to_bits();
    let near = f32::from_bits((bits + (1 << (CUT - 1))) & !((1 << CUT) - 1));
    if near.is_finite() { near } else { number }
}

/// Converts the fraction `part / whole` to a byte from 0 (for the fraction 0) to 255 (for the fraction 1). Fractions below 0
/// become 0 and fractions above 1 become 255; the byte is 0 if `whole` is not positive.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and 255"
)]
pub(super) fn fraction_to_byte(part: f64, whole: f64) -> u8 {
    if whole > 0.0 {
        (255.0 * (part / whole).clamp(0.0, 1.0)).round() as u8
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_one_part_in_eight_thousand() {
        for number in [1.0_f32, 0.1, 3.999_9, 1e-20, 65504.1, f32::MAX] {
            assert!(
                (round_for_compression(number) / number - 1.0).abs() <= 1.0 / 8192.0,
                "{number}"
            );
        }
        assert!(round_for_compression(f32::NAN).is_nan() && round_for_compression(0.0) == 0.0);
    }

    #[test]
    fn arrays_are_aligned() {
        let mut pack = ArrayPack::default();
        pack.add_u8("a", &[1, 2, 3]);
        pack.add_f64("b", &[0.5]);
        let (directory, block) = pack.into_directory_and_base64();
        assert_eq!(directory, json!({ "a": ["u8", 0, 3], "b": ["f64", 8, 1] }));
        assert!(
            block.starts_with("eJ") || block.starts_with("eN"),
            "zlib, as `deflate` of browsers"
        );
    }

    #[test]
    fn shares_are_bytes() {
        assert_eq!(
            [
                fraction_to_byte(1.0, 2.0),
                fraction_to_byte(3.0, 2.0),
                fraction_to_byte(1.0, 0.0)
            ],
            [128, 255, 0]
        );
    }
}
