//! Tables as Arrow, through its C stream interface, and as NumPy arrays.

use std::collections::BTreeMap;
use std::path::PathBuf;
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
    /// Whole numbers.
    Counts(Vec<i64>),
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

/// Returns the unit given by the suffix of a column's name.
fn unit(name: &str) -> Option<&'static str> {
    let ends = [
        ("_bytes_per_s", "B/s"),
        ("_percent", "%"),
        ("_bytes", "B"),
        ("_s", "s"),
    ];
    let found = ends.iter().find(|(end, _)| name.ends_with(end));
    let whole = [("instructions", "instr"), ("bytes", "B")];
    let whole = whole.iter().find(|(word, _)| *word == name);
    found.or(whole).map(|(_, unit)| *unit)
}

impl Table {
    /// Creates a table of columns of one length.
    pub(crate) fn new(columns: Vec<(String, Column)>) -> PyResult<Self> {
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
            let unit = unit(&name).map(|unit| ("unit".to_owned(), unit.to_owned()));
            let field = Field::new(name, array.data_type().clone(), true)
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

/// Reads a CSV file with a heading; a column has numbers if all its values are numbers, otherwise texts.
#[pyfunction]
pub(crate) fn read_csv(path: PathBuf) -> PyResult<Table> {
    let failed = |error: csv::Error| PyValueError::new_err(format!("{}: {error}", path.display()));
    let mut reader = csv::Reader::from_path(&path).map_err(failed)?;
    let names: Vec<String> = reader
        .headers()
        .map_err(failed)?
        .iter()
        .map(str::to_owned)
        .collect();
    let mut columns: Vec<Vec<String>> = vec![Vec::new(); names.len()];
    for row in reader.records() {
        let row = row.map_err(failed)?;
        for (column, value) in columns.iter_mut().zip(row.iter()) {
            column.push(value.to_owned());
        }
    }
    Table::new(
        names
            .into_iter()
            .zip(columns.into_iter().map(typed))
            .collect(),
    )
}

/// Converts a column of texts to the type of all its values.
fn typed(texts: Vec<String>) -> Column {
    if let Ok(counts) = texts.iter().map(|text| text.parse()).collect() {
        return Column::Counts(counts);
    }
    let number = |text: &String| match text.as_str() {
        "" => Ok(None),
        text => text.parse().map(Some),
    };
    if texts.iter().any(|text| !text.is_empty())
        && let Ok(numbers) = texts.iter().map(number).collect()
    {
        return Column::Numbers(numbers);
    }
    // A text that a spreadsheet would evaluate was written with an apostrophe.
    let plain = |text: String| {
        let guarded = text
            .strip_prefix('\'')
            .filter(|rest| rest.starts_with(['=', '+', '-', '@']));
        guarded.map(str::to_owned).unwrap_or(text)
    };
    let plain = texts
        .into_iter()
        .map(|text| Some(plain(text)).filter(|text| !text.is_empty()));
    Column::Texts(plain.collect())
}
