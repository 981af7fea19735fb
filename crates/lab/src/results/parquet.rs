use super::table::Words;
use super::{Column, Kind, Table, TableError};
use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::column::reader::{ColumnReader, get_typed_column_reader};
use ::parquet::column::writer::{
    ColumnCloseResult, ColumnWriter, get_column_writer, get_typed_column_writer_mut,
};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type};
use ::parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use ::parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use ::parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use ::parquet::schema::types::{ColumnDescPtr, Type, TypePtr};
use bytes::Bytes;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Writes tables that have the same columns to one Parquet file, whose bytes depend only on the rows.
pub struct ParquetWriter<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    pending: Table,
    threads: usize,
}

/// Rows of a row group: enough for good compression, few enough to keep in memory.
const GROUP_ROWS: usize = 1 << 17;

impl<W: Write + Send> ParquetWriter<W> {
    /// Starts a file whose columns `threads` threads encode.
    ///
    /// # Errors
    /// Errors of the sink.
    pub fn new(sink: W, shape: &[(String, Kind)], threads: usize) -> Result<Self, TableError> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("anabranch {}", env!("CARGO_PKG_VERSION")))
            .build();
        let writer = SerializedFileWriter::new(sink, schema(shape)?, Arc::new(properties))?;
        Ok(ParquetWriter { writer, pending: Table::empty(shape), threads })
    }

    /// Writes the rows of a table.
    ///
    /// # Errors
    /// Errors of the sink.
    pub fn append(&mut self, table: &Table) -> Result<(), TableError> {
        self.pending.append(table);
        if self.pending.rows() >= GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    /// Ends the file and returns the sink.
    ///
    /// # Errors
    /// Errors of the sink.
    pub fn finish(mut self) -> Result<W, TableError> {
        if self.pending.rows() > 0 {
            self.write_group()?;
        }
        Ok(self.writer.into_inner()?)
    }

    fn write_group(&mut self) -> Result<(), TableError> {
        let (schema, properties) = (self.writer.schema_descr(), self.writer.properties());
        let columns = self.pending.columns();
        let encode = |number: usize| encode(schema.column(number), properties.clone(), &columns[number].1);
        let encoded = in_parallel(self.threads, columns.len(), encode);
        let mut group = self.writer.next_row_group()?;
        for column in encoded {
            let (bytes, written) = column?;
            group.append_column(&bytes, written)?;
        }
        group.close()?;
        self.pending = Table::empty(&self.pending.shape());
        Ok(())
    }
}

/// A table as a Parquet file in memory.
///
/// # Errors
/// Errors of the Parquet library.
pub fn to_parquet_bytes(table: &Table) -> Result<Vec<u8>, TableError> {
    let mut writer = ParquetWriter::new(Vec::new(), &table.shape(), 1)?;
    writer.append(table)?;
    writer.finish()
}

/// Makes `count` items with several threads.
fn in_parallel<T: Send>(threads: usize, count: usize, make: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if threads < 2 {
        return (0..count).map(make).collect();
    }
    let next = AtomicUsize::new(0);
    let some = || -> Vec<(usize, T)> {
        let numbers = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)));
        numbers.take_while(|number| *number < count).map(|number| (number, make(number))).collect()
    };
    let mut made: Vec<(usize, T)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.min(count)).map(|_| scope.spawn(some)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("does not panic")).collect()
    });
    made.sort_by_key(|(number, _)| *number);
    made.into_iter().map(|(_, item)| item).collect()
}

fn schema(shape: &[(String, Kind)]) -> Result<TypePtr, TableError> {
    let field = |(name, kind): &(String, Kind)| {
        let (physical, repetition) = match kind {
            Kind::Text => (Physical::BYTE_ARRAY, Repetition::REQUIRED),
            Kind::Whole => (Physical::INT32, Repetition::REQUIRED),
            Kind::OptionalWhole => (Physical::INT32, Repetition::OPTIONAL),
            Kind::Real => (Physical::DOUBLE, Repetition::REQUIRED),
            Kind::Flag => (Physical::BOOLEAN, Repetition::REQUIRED),
        };
        let logical = (*kind == Kind::Text).then_some(LogicalType::String);
        Type::primitive_type_builder(name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    };
    let fields = shape.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(Type::group_type_builder("results").with_fields(fields).build()?))
}

/// The bytes of a column in a row group.
fn encode(
    descriptor: ColumnDescPtr,
    properties: WriterPropertiesPtr,
    column: &Column,
) -> Result<(Bytes, ColumnCloseResult), TableError> {
    let mut sink = TrackedWrite::new(Vec::new());
    let mut writer =
        get_column_writer(descriptor, properties, Box::new(SerializedPageWriter::new(&mut sink)));
    match column {
        // Each distinct text is copied once, not for each row.
        Column::Text(words) => {
            write_values::<ByteArrayType>(&mut writer, &words.rows_as(ByteArray::from), None)?
        }
        Column::Whole(rows) => write_values::<Int32Type>(&mut writer, rows, None)?,
        Column::OptionalWhole(rows) => {
            let values: Vec<i32> = rows.iter().flatten().copied().collect();
            let levels: Vec<i16> = rows.iter().map(|row| row.is_some().into()).collect();
            write_values::<Int32Type>(&mut writer, &values, Some(&levels))?
        }
        Column::Real(rows) => write_values::<DoubleType>(&mut writer, rows, None)?,
        Column::Flag(rows) => write_values::<BoolType>(&mut writer, rows, None)?,
    }
    let written = writer.close()?;
    Ok((Bytes::from(sink.into_inner()?), written))
}

fn write_values<T: DataType>(
    writer: &mut ColumnWriter<'_>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), TableError> {
    get_typed_column_writer_mut::<T>(writer).write_batch(values, levels, None)?;
    Ok(())
}

/// Reads a file that [`ParquetWriter`] wrote.
///
/// # Errors
/// If the file is damaged or has other columns.
pub fn read_parquet<R: ChunkReader + 'static>(
    source: R,
    shape: &[(String, Kind)],
) -> Result<Table, TableError> {
    let reader = SerializedFileReader::new(source)?;
    let stored = reader.metadata().file_metadata().schema_descr_ptr();
    if *stored.root_schema().get_fields() != *schema(shape)?.get_fields() {
        let names: Vec<_> = shape.iter().map(|(name, _)| name.as_str()).collect();
        return Err(TableError::Shape(names.join(", ")));
    }
    let mut table = Table::empty(shape);
    for number in 0..reader.num_row_groups() {
        let group = reader.get_row_group(number)?;
        let rows = group.metadata().num_rows() as usize;
        let mut columns = Vec::new();
        for (i, (name, kind)) in shape.iter().enumerate() {
            columns.push((name.clone(), read_column(group.get_column_reader(i)?, *kind, rows)?));
        }
        table.append(&Table::new(columns));
    }
    Ok(table)
}

fn read_column(reader: ColumnReader, kind: Kind, rows: usize) -> Result<Column, TableError> {
    Ok(match kind {
        Kind::Text => {
            let mut words = Words::default();
            for value in read_values::<ByteArrayType>(reader, rows)?.0 {
                words.push(value.as_utf8()?);
            }
            Column::Text(words)
        }
        Kind::Whole => Column::Whole(read_values::<Int32Type>(reader, rows)?.0),
        Kind::OptionalWhole => {
            let (values, levels) = read_values::<Int32Type>(reader, rows)?;
            let mut values = values.into_iter();
            Column::OptionalWhole(
                levels.into_iter().map(|level| if level == 0 { None } else { values.next() }).collect(),
            )
        }
        Kind::Real => Column::Real(read_values::<DoubleType>(reader, rows)?.0),
        Kind::Flag => Column::Flag(read_values::<BoolType>(reader, rows)?.0),
    })
}

fn read_values<T: DataType>(reader: ColumnReader, rows: usize) -> Result<(Vec<T::T>, Vec<i16>), TableError> {
    let mut reader = get_typed_column_reader::<T>(reader);
    let (mut values, mut levels, mut read) = (Vec::new(), Vec::new(), 0);
    while read < rows {
        let (records, ..) = reader.read_records(rows - read, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            return Err(TableError::Shape(format!("{rows} rows")));
        }
        read += records;
    }
    Ok((values, levels))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(rows: usize) -> Table {
        let mut words = Words::default();
        (0..rows).for_each(|i| words.push(["throughput_bps", "timeouts", "größe"][i % 3]));
        Table::new(vec![
            ("quantity".into(), Column::Text(words)),
            ("run".into(), Column::Whole((0..rows as i32).collect())),
            (
                "path".into(),
                Column::OptionalWhole((0..rows as i32).map(|i| (i % 2 == 0).then_some(i)).collect()),
            ),
            ("value".into(), Column::Real((0..rows).map(|i| 1.0 / (i as f64 + 1.0)).collect())),
            ("sfr".into(), Column::Flag((0..rows).map(|i| i % 5 == 0).collect())),
        ])
    }

    #[test]
    fn what_is_written_is_read_back() {
        for rows in [0, 1, 1000] {
            let table = sample(rows);
            let bytes = to_parquet_bytes(&table).unwrap();
            assert_eq!(read_parquet(Bytes::from(bytes), &table.shape()).unwrap(), table, "{rows}");
        }
    }

    #[test]
    fn many_rows_make_several_groups_that_read_back_as_one_table() {
        let table = sample(GROUP_ROWS / 2 + 1);
        let mut writer = ParquetWriter::new(Vec::new(), &table.shape(), 1).unwrap();
        let mut whole = Table::empty(&table.shape());
        for _ in 0..5 {
            writer.append(&table).unwrap();
            whole.append(&table);
        }
        let bytes = Bytes::from(writer.finish().unwrap());
        assert_eq!(SerializedFileReader::new(bytes.clone()).unwrap().num_row_groups(), 3);
        assert_eq!(read_parquet(bytes, &table.shape()).unwrap(), whole);
    }

    #[test]
    fn a_file_does_not_depend_on_the_number_of_threads() {
        let table = sample(GROUP_ROWS + 1);
        let file = |threads: usize| {
            let mut writer = ParquetWriter::new(Vec::new(), &table.shape(), threads).unwrap();
            writer.append(&table).unwrap();
            writer.finish().unwrap()
        };
        let one = file(1);
        assert!([2, 3, 16].iter().all(|threads| file(*threads) == one));
        assert_eq!(read_parquet(Bytes::from(one), &table.shape()).unwrap(), table);
    }

    #[test]
    fn a_table_of_another_shape_is_refused() {
        let table = sample(3);
        let bytes = Bytes::from(to_parquet_bytes(&table).unwrap());
        let other = [("quantity".to_owned(), Kind::Text)];
        let error = read_parquet(bytes, &other).unwrap_err();
        assert_eq!(error.to_string(), "expected a table with the columns quantity");
    }
}
