//! Tables as Arrow, through its C stream interface, and as NumPy arrays.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator,
    StringArray,
};
use arrow_schema::{ArrowError, Field, Metadata, Schema};
use numpy::PyArray1;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};

/// A column that is being filled.
#[derive(Debug)]
pub(crate) enum Column {
    /// Whole numbers; none stands for a missing value.
    Counts(Vec<Option<i64>>),
    /// Numbers; none stands for a missing value.
    Numbers(Vec<Option<f64>>),
    /// Numbers without missing values.
    Full(Vec<f64>),
    /// Texts; none stands for a missing value.
    Texts(Vec<Option<String>>),
    /// A few distinct texts: their indices, and the texts.
    Names(Vec<i32>, Vec<String>),
}

/// A table of named columns, each with its unit.
#[pyclass(frozen, module = "migsim._core")]
#[derive(Debug)]
pub(crate) struct Table {
    batch: RecordBatch,
}

/// The columns of each table that have whole numbers, and those that have texts. All others have numbers, except the parameters of a
/// sweep, between `setting` and the seeds, and the columns of unknown tables: these have texts, or numbers if all values are numbers.
const SCHEMAS: [(&str, &[&str], &[&str]); 12] = [
    ("bench", &[], &["policy"]),
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

/// Returns the unit given by the suffix of a column's name.
fn unit(name: &str) -> Option<&'static str> {
    let ends = [
        ("_bytes_per_s", "B/s"),
        ("_percent", "%"),
        ("_bytes", "B"),
        ("_s", "s"),
    ];
    let found = ends.iter().find(|(end, _)| name.ends_with(end));
    let whole = [
        ("instructions", "instr"),
        ("bytes", "B"),
        ("seconds", "s"),
        ("percent", "%"),
    ];
    let whole = whole.iter().find(|(word, _)| *word == name);
    found.or(whole).map(|(_, unit)| *unit)
}

impl Table {
    /// Creates a table of columns of one length.
    pub(crate) fn new(columns: Vec<(impl AsRef<str>, Column)>) -> PyResult<Self> {
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        for (name, column) in columns {
            let array: ArrayRef = match column {
                Column::Counts(values) => Arc::new(Int64Array::from(values)),
                Column::Numbers(values) => Arc::new(Float64Array::from(values)),
                Column::Full(values) => Arc::new(Float64Array::from(values)),
                Column::Texts(values) => Arc::new(StringArray::from(values)),
                Column::Names(numbers, names) => {
                    let names: ArrayRef = Arc::new(StringArray::from(names));
                    let numbers = arrow_array::Int32Array::from(numbers);
                    Arc::new(DictionaryArray::<Int32Type>::try_new(numbers, names).map_err(failed)?)
                }
            };
            let unit = unit(name.as_ref()).map(|unit| ("unit".to_owned(), unit.to_owned()));
            let field = Field::new(name.as_ref(), array.data_type().clone(), true)
                .with_metadata(unit.into_iter().collect::<Metadata>());
            fields.push(field);
            arrays.push(array);
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(failed)?;
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
    fn of_texts(name: &str, columns: Vec<(String, Vec<String>)>) -> PyResult<Self> {
        let known = SCHEMAS.iter().find(|(known, ..)| *known == name);
        let is_last_parameter =
            |(column, _): &(String, _)| ["seed", "seeds"].contains(&column.as_str());
        let is_sweep = ["runs", "summary"].contains(&name);
        let parameters = match columns.iter().position(is_last_parameter) {
            Some(end) if is_sweep => 1..end,
            _ => 0..0,
        };
        let typed = |(at, (column, texts)): (usize, (String, Vec<String>))| {
            let values = match known {
                Some((_, counts, words)) if !parameters.contains(&at) => {
                    let column = column.as_str();
                    if counts.contains(&column) {
                        parsed(&texts).map(Column::Counts)
                    } else if NAMES.contains(&column) {
                        Ok(names(&texts))
                    } else if words.contains(&column) {
                        Ok(words_of(texts))
                    } else {
                        parsed(&texts).map(Column::Numbers)
                    }
                }
                _ => Ok(match parsed(&texts) {
                    Ok(numbers) => Column::Numbers(numbers),
                    Err(_) => words_of(texts),
                }),
            };
            let wrong = |text| {
                PyValueError::new_err(format!(
                    "the column `{column}` of the table `{name}` has `{text}`, which is no number"
                ))
            };
            Ok((column.clone(), values.map_err(wrong)?))
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
    fn units(&self) -> BTreeMap<String, String> {
        let schema = self.batch.schema();
        let unit = |field: &Arc<Field>| {
            let unit = field.metadata().get("unit")?;
            Some((field.name().clone(), unit.clone()))
        };
        schema.fields().iter().filter_map(unit).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// Returns a column: an array of float64 or int64 (a missing number is NaN), or a list of texts.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let column = self.column(name)?.as_any();
        if let Some(values) = column.downcast_ref::<Float64Array>() {
            if values.null_count() == 0 {
                return Ok(PyArray1::from_slice(py, values.values()).into_any());
            }
            let values = values.iter().map(|value| value.unwrap_or(f64::NAN));
            return Ok(PyArray1::from_iter(py, values).into_any());
        }
        if let Some(values) = column.downcast_ref::<Int64Array>() {
            if values.null_count() > 0 {
                let values = values
                    .iter()
                    .map(|value| value.map_or(f64::NAN, |value| value as f64));
                return Ok(PyArray1::from_iter(py, values).into_any());
            }
            return Ok(PyArray1::from_slice(py, values.values()).into_any());
        }
        let texts: Vec<Option<&str>> =
            if let Some(values) = column.downcast_ref::<DictionaryArray<Int32Type>>() {
                let names = values.downcast_dict::<StringArray>();
                names.into_iter().flatten().collect()
            } else if let Some(values) = column.downcast_ref::<StringArray>() {
                values.iter().collect()
            } else {
                Vec::new()
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
pub(crate) fn read_csv(path: PathBuf, name: &str) -> PyResult<Table> {
    let failed = |error: csv::Error| PyValueError::new_err(format!("{}: {error}", path.display()));
    let mut reader = csv::Reader::from_path(&path).map_err(failed)?;
    let heading = reader.headers().map_err(failed)?;
    let mut columns: Vec<(String, Vec<String>)> = heading
        .iter()
        .map(|name| (name.to_owned(), Vec::new()))
        .collect();
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

/// Converts texts into numbers; an empty text is a missing value. Fails with the first text that is no number.
fn parsed<T: FromStr>(texts: &[String]) -> Result<Vec<Option<T>>, String> {
    let number = |text: &String| match text.as_str() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| text.to_owned()),
    };
    texts.iter().map(number).collect()
}

fn words_of(texts: Vec<String>) -> Column {
    let present = |text: String| Some(text).filter(|text| !text.is_empty());
    Column::Texts(texts.into_iter().map(present).collect())
}

/// Creates a column of a few distinct texts.
fn names(texts: &[String]) -> Column {
    let distinct: Vec<&String> = texts.iter().collect::<BTreeSet<_>>().into_iter().collect();
    let number = |text| distinct.binary_search(&text).unwrap_or(0) as i32;
    let numbers = texts.iter().map(number).collect();
    Column::Names(numbers, distinct.into_iter().cloned().collect())
}
