//! Values of columns as JSON: ids and further fields.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, make_array};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;

use super::table::Column;
use crate::read::block::json_string;

const UTC: &str = "+00:00";

/// A column whose values are written as JSON.
pub(super) struct JsonColumn(Column);

impl JsonColumn {
    pub fn new(mut column: Column) -> Result<JsonColumn, String> {
        if let DataType::Dictionary(_, value) = column.array.data_type() {
            let value = (**value).clone();
            column.array = cast(&column.array, &value).map_err(|error| error.to_string())?;
        }
        Ok(JsonColumn(column))
    }

    /// Appends the value; `false` for null, of which nothing is written.
    pub fn write(&self, row: usize, out: &mut String) -> bool {
        if self.0.is_null(row) {
            return false;
        }
        write_value(&self.0.array, row, out);
        true
    }

    /// The value; none for null.
    pub fn value(&self, row: usize) -> Option<String> {
        let mut out = String::new();
        self.write(row, &mut out).then_some(out)
    }
}

fn write_value(array: &ArrayRef, row: usize, out: &mut String) {
    if array.is_null(row) {
        out.push_str("null");
        return;
    }
    match array.data_type() {
        DataType::Null => out.push_str("null"),
        DataType::Utf8 => out.push_str(&json_string(array.as_string::<i32>().value(row))),
        DataType::LargeUtf8 => out.push_str(&json_string(array.as_string::<i64>().value(row))),
        DataType::Utf8View => out.push_str(&json_string(array.as_string_view().value(row))),
        DataType::Float16 => write_float(
            f64::from(array.as_primitive::<Float16Type>().value(row)),
            out,
        ),
        DataType::Float32 => {
            // As the shortest decimal of its own width: 0.1, not 0.10000000149011612.
            let value = array.as_primitive::<Float32Type>().value(row);
            write_float(value.to_string().parse().unwrap_or(f64::NAN), out);
        }
        DataType::Float64 => write_float(array.as_primitive::<Float64Type>().value(row), out),
        DataType::Struct(fields) => {
            let parts = array.as_struct();
            out.push('{');
            for (at, field) in fields.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&json_string(field.name()));
                out.push(':');
                write_value(parts.column(at), row, out);
            }
            out.push('}');
        }
        DataType::List(_) => write_list(&array.as_list::<i32>().value(row), out),
        DataType::LargeList(_) => write_list(&array.as_list::<i64>().value(row), out),
        DataType::FixedSizeList(..) => write_list(&array.as_fixed_size_list().value(row), out),
        kind => {
            let bare = kind.is_integer() || matches!(kind, DataType::Boolean) || is_decimal(kind);
            let text = formatted(array, row);
            if bare {
                out.push_str(&text)
            } else {
                out.push_str(&json_string(&text))
            }
        }
    }
}

fn is_decimal(kind: &DataType) -> bool {
    use DataType::*;
    matches!(
        kind,
        Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..)
    )
}

fn write_list(values: &ArrayRef, out: &mut String) {
    out.push('[');
    for row in 0..values.len() {
        if row > 0 {
            out.push(',');
        }
        write_value(values, row, out);
    }
    out.push(']');
}

/// JSON has no NaN and no infinities.
fn write_float(value: f64, out: &mut String) {
    match serde_json::Number::from_f64(value) {
        Some(number) => {
            let _ = write!(out, "{number}");
        }
        None => out.push_str("null"),
    }
}

/// Anything else as its usual text: times, dates, bytes in hexadecimal. A time with a zone is written in UTC, which is how it is
/// stored: the names of zones need a table that is not here.
fn formatted(array: &ArrayRef, row: usize) -> String {
    if let DataType::Timestamp(unit, Some(zone)) = array.data_type()
        && zone.as_ref() != UTC
    {
        let utc = DataType::Timestamp(*unit, Some(UTC.into()));
        let one = array.slice(row, 1).to_data().into_builder();
        return one
            .data_type(utc)
            .build()
            .map_or_else(|_| String::new(), |data| formatted(&make_array(data), 0));
    }
    ArrayFormatter::try_new(array, &FormatOptions::new()).map_or_else(
        |_| String::new(),
        |formatter| formatter.value(row).to_string(),
    )
}
