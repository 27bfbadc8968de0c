//! Tables as Arrow, through its C stream interface, and as NumPy arrays.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, DictionaryArray, Float64Array, Int32Array, Int64Array,
    PrimitiveArray, RecordBatch, RecordBatchIterator, StringArray,
};
use arrow_schema::{ArrowError, Field, Metadata, Schema};
use numpy::PyArray1;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};

/// A table of named columns, each with its unit.
#[pyclass(frozen, module = "migsim._core")]
#[derive(Clone, Debug)]
pub(crate) struct Table {
    batch: RecordBatch,
}

/// The columns of each table that have whole numbers, and those that have texts. All others have numbers, except the parameters of a
/// sweep, between `setting` and the seeds, and the columns of unknown tables: these have texts, or numbers if all values are numbers.
const SCHEMAS: [(&str, &[&str], &[&str]); 12] = [
    ("bench", &[], &["policy", "runs_sha256"]),
    ("calls", &["superstep", "candidates", "migrations"], &[]),
    ("changes", &[], &["change"]),
    ("critical_path", &["superstep"], &["kind", "resource"]),
    (
        "links",
        &["first_superstep", "last_superstep", "flows"],
        &["link"],
    ),
    (
        "migrations",
        &["superstep", "process"],
        &[
            "from_cluster",
            "from_host",
            "to_cluster",
            "to_host",
            "cause",
        ],
    ),
    ("path", &[], &["kind", "resource"]),
    ("processes", &["superstep", "process"], &[]),
    ("ranking", &[], &["policy"]),
    ("runs", &["setting", "seed"], &["error", "id", "version"]),
    ("summary", &["setting", "seeds", "failed"], &[]),
    ("supersteps", &["superstep"], &[]),
];

/// Columns with a few distinct texts, in all tables.
const NAMES: [&str; 3] = ["scenario", "cluster", "host"];

/// The last word in the name of a column with a unit, and this unit.
const UNITS: [(&str, &str); 6] = [
    ("bytes_per_s", "B/s"),
    ("bytes", "B"),
    ("instructions", "instr"),
    ("percent", "%"),
    ("seconds", "s"),
    ("s", "s"),
];

fn unit(name: &str) -> Option<&'static str> {
    let is_last = |word: &str| {
        let stem = name.strip_suffix(word);
        stem.is_some_and(|stem| stem.is_empty() || stem.ends_with('_'))
    };
    let known = UNITS.iter().find(|(word, _)| is_last(word));
    known.map(|(_, unit)| *unit)
}

impl Table {
    /// Creates a table of columns of one length.
    pub(crate) fn new(columns: Vec<(impl AsRef<str>, ArrayRef)>) -> PyResult<Self> {
        let field = |(name, column): &(_, ArrayRef)| {
            let name: &str = AsRef::as_ref(name);
            let unit = unit(name).map(|unit| ("unit".to_owned(), unit.to_owned()));
            Field::new(name, column.data_type().clone(), true)
                .with_metadata(unit.into_iter().collect::<Metadata>())
        };
        let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        let batch = RecordBatch::try_new(Arc::new(schema), columns).map_err(failed)?;
        Ok(Self { batch })
    }

    fn column(&self, name: &str) -> PyResult<&ArrayRef> {
        self.batch.column_by_name(name).ok_or_else(|| {
            let known = self.columns().join(", ");
            PyKeyError::new_err(format!("no column `{name}`; known columns: {known}"))
        })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is the end of the error")]
fn failed(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl Table {
    /// Creates the table `name` of columns of texts, which are converted to the types of this table; an empty text is a missing value.
    #[new]
    pub(crate) fn of_texts(name: &str, columns: Vec<(String, Vec<String>)>) -> PyResult<Self> {
        let known = SCHEMAS.iter().find(|(known, ..)| *known == name);
        let is_sweep = ["runs", "summary"].contains(&name);
        let is_seed =
            |(column, _): &(String, _)| is_sweep && ["seed", "seeds"].contains(&column.as_str());
        let parameters = 1..columns.iter().position(is_seed).unwrap_or(0);
        let typed = |(at, (column, texts)): (usize, (String, Vec<String>))| {
            let has = |names: &[&str]| names.contains(&column.as_str());
            let array = match known.filter(|_| !parameters.contains(&at)) {
                None => parsed::<Float64Type>(&texts).or_else(|_| Ok(words(texts))),
                Some((_, counts, _)) if has(counts) => parsed::<Int64Type>(&texts),
                Some(_) if has(&NAMES) => {
                    let names = texts.iter().map(String::as_str);
                    Ok(Arc::new(names.collect::<DictionaryArray<Int32Type>>()) as ArrayRef)
                }
                Some((.., texts_of)) if has(texts_of) => Ok(words(texts)),
                Some(_) => parsed::<Float64Type>(&texts),
            };
            let wrong = |error: PyErr| {
                PyValueError::new_err(format!("column `{column}` of table `{name}`: {error}"))
            };
            Ok((column.clone(), array.map_err(wrong)?))
        };
        let columns = columns.into_iter().enumerate().map(typed);
        Self::new(columns.collect::<PyResult<Vec<_>>>()?)
    }

    /// Returns the names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let schema = self.batch.schema();
        schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }

    /// Returns the units of the columns that have a unit.
    #[getter]
    fn units(&self) -> BTreeMap<String, &'static str> {
        let unit = |name: String| unit(&name).map(|unit| (name, unit));
        self.columns().into_iter().filter_map(unit).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// Returns a column: an array of float64 or int64 (a missing number is NaN), or a list of texts.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let column = self.column(name)?;
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        if let Some(values) = column.as_primitive_opt::<Float64Type>() {
            return Ok(PyArray1::from_iter(py, values.iter().map(number)).into_any());
        }
        if let Some(values) = column.as_primitive_opt::<Int64Type>() {
            if values.null_count() == 0 {
                return Ok(PyArray1::from_slice(py, values.values()).into_any());
            }
            let values = values.iter().map(|value| value.map(|value| value as f64));
            return Ok(PyArray1::from_iter(py, values.map(number)).into_any());
        }
        let texts: Vec<Option<&str>> = match column.as_dictionary_opt::<Int32Type>() {
            Some(values) => (values.downcast_dict::<StringArray>().into_iter().flatten()).collect(),
            None => column.as_string::<i32>().iter().collect(),
        };
        Ok(PyList::new(py, texts)?.into_any())
    }

    /// Returns the table through the Arrow C stream interface, for other libraries.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer may request other types; the interface allows us to return ours.
        drop(requested_schema);
        let batches = vec![Ok::<_, ArrowError>(self.batch.clone())];
        let reader = RecordBatchIterator::new(batches, self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// Reads a CSV file with a heading as the table `name`.
#[pyfunction]
pub(crate) fn read_csv(file: &[u8], name: &str) -> PyResult<Table> {
    let failed = |error: csv::Error| PyValueError::new_err(format!("{name}: {error}"));
    let mut reader = csv::Reader::from_reader(file);
    let heading = reader.headers().map_err(failed)?.iter();
    let mut columns: Vec<_> = heading.map(|name| (name.to_owned(), Vec::new())).collect();
    for row in reader.records() {
        let row = row.map_err(failed)?;
        for ((_, column), value) in columns.iter_mut().zip(row.iter()) {
            // A text that a spreadsheet would evaluate was written with an apostrophe.
            let guarded = value.strip_prefix('\'');
            let plain = guarded.filter(|rest| rest.starts_with(['=', '+', '-', '@']));
            column.push(plain.unwrap_or(value).to_owned());
        }
    }
    Table::of_texts(name, columns)
}

/// Converts texts into numbers; an empty text is a missing value.
fn parsed<T>(texts: &[String]) -> PyResult<ArrayRef>
where
    T: ArrowPrimitiveType,
    T::Native: FromStr,
{
    let number = |text: &String| match text.as_str() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| {
            PyValueError::new_err(format!("`{text}` is not the number that is expected"))
        }),
    };
    let numbers: PyResult<PrimitiveArray<T>> = texts.iter().map(number).collect();
    Ok(Arc::new(numbers?))
}

fn words(texts: Vec<String>) -> ArrayRef {
    let present = |text: String| Some(text).filter(|text| !text.is_empty());
    Arc::new(texts.into_iter().map(present).collect::<StringArray>())
}

/// Creates a column of a few distinct texts from their numbers and the texts.
pub(crate) fn names(
    numbers: impl Iterator<Item = i32>,
    names: impl Iterator<Item = impl AsRef<str>>,
) -> PyResult<ArrayRef> {
    let names = StringArray::from_iter_values(names);
    let numbers = Int32Array::from_iter_values(numbers);
    let column = DictionaryArray::try_new(numbers, Arc::new(names)).map_err(failed)?;
    Ok(Arc::new(column))
}

pub(crate) fn counts(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

pub(crate) fn numbers(values: impl Iterator<Item = f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values(values))
}
