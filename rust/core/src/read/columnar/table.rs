//! Some rows of a table, and how they become records.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Fields};

use super::json::JsonColumn;
use crate::read::block::Sink;
use crate::read::corpus::Context;
use crate::read::error::FileFault;
use crate::read::keys::{FIELDS, ID, Key, Keys, TEXT};
use crate::read::reason::Reason;

/// The wanted columns of some rows.
pub(in crate::read) struct Table {
    text: Column,
    id: Option<JsonColumn>,
    fields: Vec<Option<JsonColumn>>,
    first_row: u64,
    rows: usize,
    bytes: usize,
}

/// A column, with the structs it is in: where one of them is null, so is the value.
pub(super) struct Column {
    pub array: ArrayRef,
    above: Vec<ArrayRef>,
}

impl Column {
    pub fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row) || self.above.iter().any(|array| array.is_null(row))
    }
}

/// Finds a column: by literal name at the top, else by its path through structs. Without one, what is there.
pub(super) fn find(fields: &Fields, key: &Key) -> Option<Vec<usize>> {
    if let Some((at, _)) = fields.find(&key.literal) {
        return Some(vec![at]);
    }
    let mut fields = fields;
    let mut path = Vec::new();
    for (depth, step) in key.steps.iter().enumerate() {
        let (at, field) = fields.find(step)?;
        path.push(at);
        if depth + 1 < key.steps.len() {
            let DataType::Struct(inner) = field.data_type() else {
                return None;
            };
            fields = inner;
        }
    }
    Some(path)
}

/// Names of columns, inner ones with dots, for messages.
pub(super) fn names(fields: &Fields) -> Vec<String> {
    let mut names = Vec::new();
    for field in fields {
        match field.data_type() {
            DataType::Struct(inner) => names.extend(
                inner
                    .iter()
                    .map(|part| format!("{}.{}", field.name(), part.name())),
            ),
            _ => names.push(field.name().clone()),
        }
    }
    names
}

/// A fault if the text's column is not there or is nothing that texts can be in.
pub(super) fn check_text(fields: &Fields, keys: &Keys, ids: bool) -> Result<(), FileFault> {
    let key = &keys.0[TEXT];
    let Some(path) = find(fields, key) else {
        return Err(FileFault::NoColumn {
            key: key.literal.clone(),
            seen: names(fields),
        });
    };
    let mut field: &Field = &fields[path[0]];
    for &at in &path[1..] {
        let DataType::Struct(inner) = field.data_type() else {
            break;
        };
        field = &inner[at];
    }
    if plain(field.data_type()).is_some_and(|kind| usable(&kind, ids)) {
        return Ok(());
    }
    let wanted = if ids {
        "lists of integers"
    } else {
        "strings (or binary, as UTF-8)"
    };
    Err(FileFault::refused(
        format!(
            "column {:?} has the type {}, not {wanted}",
            key.literal,
            field.data_type()
        ),
        "name another column with --text-key",
    ))
}

/// The type of the values of an encoded column.
fn plain(kind: &DataType) -> Option<DataType> {
    Some(match kind {
        DataType::Dictionary(_, value) => plain(value)?,
        DataType::RunEndEncoded(_, value) => plain(value.data_type())?,
        DataType::FixedSizeBinary(_) => DataType::Binary,
        other => other.clone(),
    })
}

fn usable(kind: &DataType, ids: bool) -> bool {
    use DataType::*;
    match kind {
        Null => true,
        List(item) | LargeList(item) | FixedSizeList(item, _) => {
            ids && item.data_type().is_integer()
        }
        Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView => !ids,
        _ => false,
    }
}

impl Table {
    /// Takes the wanted columns out of `batch`, whose first row has the 1-based number `first_row`.
    pub fn new(
        batch: &RecordBatch,
        keys: &Keys,
        ids: bool,
        first_row: u64,
    ) -> Result<Table, String> {
        let schema = batch.schema();
        let column = |at: usize| -> Option<Column> {
            let path = find(schema.fields(), &keys.0[at])?;
            let mut array = batch.column(path[0]).clone();
            let mut above = Vec::new();
            for &step in &path[1..] {
                let inner = array
                    .as_any()
                    .downcast_ref::<StructArray>()?
                    .column(step)
                    .clone();
                above.push(std::mem::replace(&mut array, inner));
            }
            Some(Column { array, above })
        };
        let mut text = column(TEXT).ok_or("the text's column is not in a batch")?;
        text.array = decoded(&text.array, ids)?;
        let json = |at: usize| column(at).map(JsonColumn::new).transpose();
        Ok(Table {
            bytes: text.array.get_array_memory_size(),
            text,
            id: json(ID)?,
            fields: (FIELDS..keys.0.len()).map(json).collect::<Result<_, _>>()?,
            first_row,
            rows: batch.num_rows(),
        })
    }

    /// Bytes of the texts, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Hands out the rows.
    pub fn for_each(&self, context: &Context, sink: &mut Sink<'_>) {
        let mut id = String::new();
        let mut scratch = String::new();
        for row in 0..self.rows {
            let number = self.first_row + row as u64;
            id.clear();
            let has_id = self
                .id
                .as_ref()
                .is_some_and(|column| column.write(row, &mut id));
            let fields: Vec<Option<String>> = self
                .fields
                .iter()
                .map(|column| column.as_ref()?.value(row))
                .collect();
            let fields: Vec<Option<&str>> = fields.iter().map(Option::as_deref).collect();
            scratch.clear();
            let text = self.text(row, &mut scratch).and_then(|text| {
                if text.len() > context.max_record_bytes {
                    Err(Reason::RecordTooLong)
                } else {
                    Ok(text)
                }
            });
            if let Some(reason) = sink.emit(number, has_id.then_some(&*id), &fields, text) {
                let limit = context.max_record_bytes;
                sink.explain(number, reason, |_| match reason {
                    Reason::RecordTooLong => format!("the limit is --max-record-size {limit}"),
                    _ => format!("column {:?}", context.keys.text()),
                });
            }
        }
    }

    fn text<'a>(&'a self, row: usize, scratch: &'a mut String) -> Result<&'a str, Reason> {
        let array = &self.text.array;
        if self.text.is_null(row) {
            return Err(Reason::NullText);
        }
        let bytes = match array.data_type() {
            DataType::Utf8 => return Ok(array.as_string::<i32>().value(row)),
            DataType::LargeUtf8 => return Ok(array.as_string::<i64>().value(row)),
            DataType::Utf8View => return Ok(array.as_string_view().value(row)),
            DataType::Binary => array.as_binary::<i32>().value(row),
            DataType::LargeBinary => array.as_binary::<i64>().value(row),
            DataType::BinaryView => array.as_binary_view().value(row),
            DataType::LargeList(_) => {
                let list = array.as_list::<i64>().value(row);
                for integer in list.as_string::<i32>() {
                    if !scratch.is_empty() {
                        scratch.push(' ');
                    }
                    scratch.push_str(integer.ok_or(Reason::TextNotIntegerList)?);
                }
                return Ok(scratch);
            }
            _ => return Err(Reason::NullText),
        };
        std::str::from_utf8(bytes).map_err(|_| Reason::InvalidUtf8)
    }
}

/// The texts without dictionary or run-length encoding; lists of integers as lists of decimals.
fn decoded(array: &ArrayRef, ids: bool) -> Result<ArrayRef, String> {
    let wanted = match plain(array.data_type()) {
        Some(DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..)) if ids => {
            DataType::LargeList(std::sync::Arc::new(Field::new_list_field(
                DataType::Utf8,
                true,
            )))
        }
        Some(plain) => plain,
        None => return Ok(array.clone()),
    };
    if *array.data_type() == wanted {
        return Ok(array.clone());
    }
    // Lists first to one kind, then their integers to decimals; not every pair of types has a cast.
    if let DataType::LargeList(_) = wanted
        && let DataType::FixedSizeList(item, _) = array.data_type()
    {
        let list =
            cast(array, &DataType::LargeList(item.clone())).map_err(|error| error.to_string())?;
        return cast(&list, &wanted).map_err(|error| error.to_string());
    }
    cast(array, &wanted).map_err(|error| error.to_string())
}
