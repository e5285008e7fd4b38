// HDF5 files as far as we need them: numbers in one and two dimensions, fixed-length texts,
// attributes, and tables that grow row by row. Every failure becomes an IoError that names the
// file, the object and the reason; HDF5's own error printing stays silent meanwhile and is left as
// it was. A failed write never damages what is already on the disk (see hdf5_driver.h).
//
// Numbers are double, int (32 bit), std::int64_t or std::uint64_t. Objects are named by their path
// inside the file, "energy/kinetic"; "/" is the root, for its attributes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stiction {

/// For programs, before their first file: HDF5 loses track of its memory when it meets a damaged
/// file and complains on standard error when the process ends. This switches its cleanup at the end
/// off. Not for libraries, whose host may rely on it.
void skip_hdf5_cleanup_at_exit();

/// Extent of a dataset; a scalar has rank 0 and one row. `columns` is 1 below rank 2.
struct Hdf5Shape {
  int rank = 0;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  bool operator==(const Hdf5Shape&) const = default;
};

class Hdf5File {
 public:
  /// Starts a new file in place of `path`, which must be there (see PendingFile) and is called
  /// `shown_as` in messages.
  static Hdf5File create(const std::string& path, const std::string& shown_as);
  /// Whether a file may have lost its end since it was closed. What is left is read then: objects
  /// whose description is gone cannot be opened, and numbers beyond the end read as zero, so that
  /// whoever takes such files must know which of the rows are there.
  enum class CutFiles : std::uint8_t { kRefuse, kTake };
  /// Opens for reading and changes nothing, not even in a file whose writer died or still writes.
  static Hdf5File open(const std::string& path, CutFiles cut = CutFiles::kRefuse);

  Hdf5File(Hdf5File&&) noexcept;
  Hdf5File& operator=(Hdf5File&&) noexcept;
  /// Closes without a word; a writer that wants to know calls close().
  ~Hdf5File();

  const std::string& path() const;
  /// Whether a file opened for reading was not closed by its writer.
  bool was_left_open() const;
  /// How many bytes a file opened for reading has lost at its end since it was closed.
  std::int64_t bytes_lost() const;
  /// Of a file that is being written: bytes that have reached the file so far.
  std::int64_t bytes_on_disk() const;
  /// Since start_append_only(): writes that a kill could have left half done (see hdf5_driver.h).
  std::int64_t num_divided_writes() const;
  /// Whether there is an object of this name.
  bool has(const std::string& object) const;

  void make_group(const std::string& object);
  template <class T>
  void write(const std::string& object, std::span<const T> values);
  /// Row after row; values.size() is a multiple of `columns`.
  template <class T>
  void write(const std::string& object, std::span<const T> values, int columns);
  void write_text(const std::string& object, std::string_view text);

  void write_attribute(const std::string& object, const std::string& name, double value);
  void write_attribute(const std::string& object, const std::string& name, int value);
  void write_attribute(const std::string& object, const std::string& name, std::string_view text);
  void write_attribute(const std::string& object, const std::string& name,
                       std::span<const std::string> texts);

  Hdf5Shape shape(const std::string& object) const;
  /// All values, row after row.
  template <class T>
  std::vector<T> read(const std::string& object) const;
  /// The first `num_rows` rows; num_rows is at most shape().rows.
  template <class T>
  std::vector<T> read_rows(const std::string& object, std::int64_t num_rows) const {
    return read_range<T>(object, 0, num_rows);
  }
  /// num_rows rows from `first_row` on, which must be there.
  template <class T>
  std::vector<T> read_range(const std::string& object, std::int64_t first_row,
                            std::int64_t num_rows) const;
  /// The same of one column of a table.
  std::vector<double> read_column(const std::string& object, std::int64_t column,
                                  std::int64_t first_row, std::int64_t num_rows) const;
  std::string read_text(const std::string& object) const;
  /// A list of fixed-length texts.
  std::vector<std::string> read_texts(const std::string& object) const;

  bool has_attribute(const std::string& object, const std::string& name) const;
  double read_double_attribute(const std::string& object, const std::string& name) const;
  int read_int_attribute(const std::string& object, const std::string& name) const;
  std::string read_text_attribute(const std::string& object, const std::string& name) const;
  std::vector<std::string> read_texts_attribute(const std::string& object,
                                                const std::string& name) const;

  /// A new, empty dataset that grows by rows: append to it through Hdf5Table. It is one-dimensional
  /// if `columns` is kNoColumns.
  static constexpr int kNoColumns = -1;
  template <class T>
  void make_table(const std::string& object, int columns = kNoColumns);
  /// A new, empty list of texts of at most `max_size` bytes, for Hdf5Table::append_text.
  void make_text_table(const std::string& object, int max_size);

  /// From here on objects and attributes can neither be added nor changed, tables only appended to,
  /// and the file on the disk is readable at every moment ("single writer, multiple readers").
  void start_append_only();
  /// Everything appended so far is in the file afterwards, and survives the death of the process.
  void flush();
  /// Throws if anything could not be written. No other call may follow.
  void close();

 private:
  friend class Hdf5Table;
  struct Impl;
  /// A rectangle of a dataset, from a row and a column on.
  struct Window {
    std::int64_t row = 0, num_rows = 0, column = 0, num_columns = 0;
  };
  template <class T>
  std::vector<T> read_window(const std::string& object, Window window) const;
  explicit Hdf5File(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

/// The growing end of a dataset made by make_table. Lives no longer than its file.
class Hdf5Table {
 public:
  /// Opens a table of a file after start_append_only().
  Hdf5Table(Hdf5File& file, const std::string& object);
  Hdf5Table(Hdf5Table&& other) noexcept;
  Hdf5Table& operator=(Hdf5Table&&) = delete;
  ~Hdf5Table();

  /// Appends num_rows rows. The values of one row after the other, num_rows × columns of them; the
  /// file sees them on flush.
  template <class T>
  void append(std::span<const T> values, std::int64_t num_rows);
  void append_text(std::string_view text);

  std::int64_t num_rows() const { return num_rows_; }

 private:
  void append_memory(const void* values, std::int64_t memory_type, std::int64_t num_rows);

  Hdf5File::Impl* file_;
  std::string object_;
  std::int64_t dataset_ = -1;  // HDF5's handle
  int rank_ = 1;
  std::int64_t columns_ = 1;
  std::int64_t num_rows_ = 0;
};

}  // namespace stiction
