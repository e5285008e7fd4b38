// Datasets of an Hdf5File and the tables that grow.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stiction/base/check.h"
#include "stiction/base/error.h"
#include "stiction/base/hdf5_handle.h"

namespace stiction {
namespace {

/// Creates a dataset of fixed extent and fills it; false if HDF5 refuses.
bool write_whole(hid_t file, const std::string& object, hid_t file_type, hid_t memory_type,
                 const Hdf5Handle& space, const void* values) {
  const Hdf5Handle dataset(H5Dcreate2(file, object.c_str(), file_type, space.id(), H5P_DEFAULT,
                                      H5P_DEFAULT, H5P_DEFAULT),
                           H5Dclose);
  if (!dataset.is_valid()) return false;
  if (H5Sget_simple_extent_npoints(space.id()) == 0) return true;
  return H5Dwrite(dataset.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
}

Hdf5Shape shape_of(const Hdf5Handle& dataset) {
  const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space.id());
  std::array<hsize_t, H5S_MAX_RANK> extent = {};
  if (rank < 0 || H5Sget_simple_extent_dims(space.id(), extent.data(), nullptr) < 0) return {-1};
  const auto size = [&](int axis) { return static_cast<std::int64_t>(extent.at(axis)); };
  return {rank, rank > 0 ? size(0) : 1, rank > 1 ? size(1) : 1};
}

/// Whether the stored bytes can hold so many elements. Protects from allocating for a corrupt
/// extent, and from reading rows that were announced but never written as zeros.
bool is_backed_by_storage(hid_t dataset, std::int64_t num_elements, std::size_t element_size) {
  if (num_elements == 0) return true;
  const Hdf5Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  // Deflate packs at most 1032 : 1; a recording may have been repacked with compression.
  const double ratio = H5Pget_nfilters(creation.id()) > 0 ? 1100 : 1;
  return static_cast<double>(num_elements) * static_cast<double>(element_size) <=
         ratio * static_cast<double>(H5Dget_storage_size(dataset));
}

/// Rows of a chunk: 1024 of a plain column, fewer of a wide one, so that short recordings stay
/// small and long ones do not fall into too many chunks.
hsize_t chunk_rows(std::int64_t columns, std::size_t element_size) {
  constexpr std::int64_t kChunkBytes = 1 << 16;
  const std::int64_t row_bytes =
      std::max<std::int64_t>(1, columns) * static_cast<int>(element_size);
  return static_cast<hsize_t>(std::clamp<std::int64_t>(kChunkBytes / row_bytes, 16, 1024));
}

Hdf5Handle make_chunked_layout(int rank, const hsize_t* chunk) {
  Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  // No filling: rows beyond the extent are never read, and every row is written by its append.
  // Attributes apart from the header, which is rewritten with every append and must stay small.
  const bool is_good = H5Pset_chunk(creation.id(), rank, chunk) >= 0 &&
                       H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER) >= 0 &&
                       H5Pset_attr_phase_change(creation.id(), 0, 0) >= 0;
  return is_good ? std::move(creation) : Hdf5Handle();
}

bool create_table(hid_t file, const std::string& object, hid_t type, int columns) {
  const int rank = columns == Hdf5File::kNoColumns ? 1 : 2;
  const hsize_t width = rank == 1 ? 1 : static_cast<hsize_t>(columns);
  const std::array<hsize_t, 2> start = {0, width};
  // A chunk is at least one column wide, and the largest extent not below it: a table without
  // columns has room for one that it never gets.
  const std::array<hsize_t, 2> most = {H5S_UNLIMITED, std::max<hsize_t>(width, 1)};
  const std::array<hsize_t, 2> chunk = {
      chunk_rows(static_cast<std::int64_t>(width), H5Tget_size(type)), most[1]};
  const Hdf5Handle space(H5Screate_simple(rank, start.data(), most.data()), H5Sclose);
  const Hdf5Handle creation = make_chunked_layout(rank, chunk.data());
  const Hdf5Handle dataset(
      H5Dcreate2(file, object.c_str(), type, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
      H5Dclose);
  return dataset.is_valid();
}

}  // namespace

template <class T>
void Hdf5File::write(const std::string& object, std::span<const T> values) {
  const Hdf5Silence silence;
  const hsize_t extent = values.size();
  const Hdf5Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
  impl_->check(write_whole(impl_->file.id(), object, hdf5_file_type<T>(), hdf5_type<T>(), space,
                           values.data()),
               "write", object);
}

template <class T>
void Hdf5File::write(const std::string& object, std::span<const T> values, int columns) {
  ST_DEMAND(columns > 0 && values.size() % static_cast<std::size_t>(columns) == 0);
  const Hdf5Silence silence;
  const auto width = static_cast<hsize_t>(columns);
  const std::array<hsize_t, 2> extent = {values.size() / width, width};
  const Hdf5Handle space(H5Screate_simple(2, extent.data(), nullptr), H5Sclose);
  impl_->check(write_whole(impl_->file.id(), object, hdf5_file_type<T>(), hdf5_type<T>(), space,
                           values.data()),
               "write", object);
}

void Hdf5File::write_text(const std::string& object, std::string_view text) {
  const Hdf5Silence silence;
  const Hdf5Handle type = make_text_type(text.size() + 1);
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const std::string bytes(text);  // ends with a zero
  impl_->check(write_whole(impl_->file.id(), object, type.id(), type.id(), space, bytes.c_str()),
               "write", object);
}

Hdf5Shape Hdf5File::shape(const std::string& object) const {
  const Hdf5Silence silence;
  const Hdf5Shape shape = shape_of(impl_->open_dataset(object));
  impl_->check(shape.rank >= 0, "read", object);
  return shape;
}

template <class T>
std::vector<T> Hdf5File::read(const std::string& object) const {
  return read_rows<T>(object, shape(object).rows);
}

template <class T>
std::vector<T> Hdf5File::read_range(const std::string& object, std::int64_t first_row,
                                    std::int64_t num_rows) const {
  return read_window<T>(object, {first_row, num_rows, 0, shape(object).columns});
}

std::vector<double> Hdf5File::read_column(const std::string& object, std::int64_t column,
                                          std::int64_t first_row, std::int64_t num_rows) const {
  return read_window<double>(object, {first_row, num_rows, column, 1});
}

template <class T>
std::vector<T> Hdf5File::read_window(const std::string& object, Window window) const {
  const Hdf5Silence silence;
  const Hdf5Handle dataset = impl_->open_dataset(object);
  const Hdf5Shape shape = shape_of(dataset);
  const Hdf5Handle type(H5Dget_type(dataset.id()), H5Tclose);
  if (shape.rank < 0 || shape.rank > 2 || !is_readable_as<T>(type.id()))
    throw IoError(
        fmt::format("'{}' in '{}' is not a list or table of {}", object, path(),
                    std::is_same_v<T, double> ? "numbers" : "integers of the right size"));
  const std::int64_t end = window.row + window.num_rows;
  ST_DEMAND(window.row >= 0 && window.num_rows >= 0 && end <= shape.rows);
  ST_DEMAND(window.column >= 0 && window.column + window.num_columns <= shape.columns);
  if (window.num_rows == 0 || window.num_columns == 0) return {};
  if (end > (std::int64_t{1} << 62) / shape.columns ||
      !is_backed_by_storage(dataset.id(), end * shape.columns, H5Tget_size(type.id())))
    throw IoError(fmt::format("'{}' in '{}' is incomplete", object, path()));

  std::vector<T> values(static_cast<std::size_t>(window.num_rows * window.num_columns));
  const std::array<hsize_t, 2> start = {static_cast<hsize_t>(window.row),
                                        static_cast<hsize_t>(window.column)};
  const std::array<hsize_t, 2> count = {static_cast<hsize_t>(window.num_rows),
                                        static_cast<hsize_t>(window.num_columns)};
  const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose);
  // Of the same rank as in the file: HDF5 matches unequal ranks number by number.
  const Hdf5Handle memory(
      shape.rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(shape.rank, count.data(), nullptr),
      H5Sclose);
  const bool is_selected =
      shape.rank == 0 || H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr,
                                             count.data(), nullptr) >= 0;
  impl_->check(is_selected && H5Dread(dataset.id(), hdf5_type<T>(), memory.id(), space.id(),
                                      H5P_DEFAULT, values.data()) >= 0,
               "read", object);
  return values;
}

std::vector<std::string> Hdf5File::read_texts(const std::string& object) const {
  const Hdf5Silence silence;
  const Hdf5Handle dataset = impl_->open_dataset(object);
  const Hdf5Handle type(H5Dget_type(dataset.id()), H5Tclose);
  const Hdf5Shape shape = shape_of(dataset);
  if (H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) != 0 ||
      shape.rank < 0 || shape.rank > 1)
    throw IoError(fmt::format("'{}' in '{}' is not a fixed-length text", object, path()));
  const std::size_t size = H5Tget_size(type.id());
  if (size == 0 || !is_backed_by_storage(dataset.id(), shape.rows, size))
    throw IoError(fmt::format("'{}' in '{}' is incomplete", object, path()));
  std::string bytes(static_cast<std::size_t>(shape.rows) * size, '\0');
  if (shape.rows > 0)
    impl_->check(H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) >= 0,
                 "read", object);
  return split_texts(bytes, size);
}

std::string Hdf5File::read_text(const std::string& object) const {
  const std::vector<std::string> texts = read_texts(object);
  if (texts.size() != 1)
    throw IoError(fmt::format("'{}' in '{}' is not a single text", object, path()));
  return texts.front();
}

template <class T>
void Hdf5File::make_table(const std::string& object, int columns) {
  const Hdf5Silence silence;
  impl_->check(create_table(impl_->file.id(), object, hdf5_file_type<T>(), columns), "write",
               object);
}

void Hdf5File::make_text_table(const std::string& object, int max_size) {
  const Hdf5Silence silence;
  const Hdf5Handle type = make_text_type(static_cast<std::size_t>(max_size) + 1);
  impl_->check(create_table(impl_->file.id(), object, type.id(), kNoColumns), "write", object);
}

Hdf5Table::Hdf5Table(Hdf5File& file, const std::string& object)
    : file_(file.impl_.get()), object_(object) {
  const Hdf5Silence silence;
  const Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  // Without a chunk cache every append goes straight to its place in the file, before the metadata
  // that make it visible.
  H5Pset_chunk_cache(access.id(), 0, 0, 1.0);
  Hdf5Handle dataset = file_->checked(
      {H5Dopen2(file_->file.id(), object.c_str(), access.id()), H5Dclose}, "write", object);
  const Hdf5Shape shape = shape_of(dataset);
  rank_ = shape.rank;
  columns_ = shape.columns;
  num_rows_ = shape.rows;
  dataset_ = dataset.release();
}

Hdf5Table::Hdf5Table(Hdf5Table&& other) noexcept
    : file_(other.file_),
      object_(std::move(other.object_)),
      dataset_(std::exchange(other.dataset_, -1)),
      rank_(other.rank_),
      columns_(other.columns_),
      num_rows_(other.num_rows_) {}

Hdf5Table::~Hdf5Table() {
  if (dataset_ < 0) return;
  const Hdf5Silence silence;
  H5Dclose(dataset_);
}

void Hdf5Table::append_memory(const void* values, std::int64_t memory_type, std::int64_t num_rows) {
  if (num_rows == 0) return;
  const Hdf5Silence silence;
  const auto columns = static_cast<hsize_t>(columns_);
  const std::array<hsize_t, 2> extent = {static_cast<hsize_t>(num_rows_ + num_rows), columns};
  file_->check(H5Dset_extent(dataset_, extent.data()) >= 0, "write", object_);
  const std::array<hsize_t, 2> start = {static_cast<hsize_t>(num_rows_), 0};
  const std::array<hsize_t, 2> count = {static_cast<hsize_t>(num_rows), columns};
  if (columns > 0) {
    const Hdf5Handle space(H5Dget_space(dataset_), H5Sclose);
    const Hdf5Handle memory(H5Screate_simple(rank_, count.data(), nullptr), H5Sclose);
    const bool is_written =
        H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                            nullptr) >= 0 &&
        H5Dwrite(dataset_, memory_type, memory.id(), space.id(), H5P_DEFAULT, values) >= 0;
    file_->check(is_written, "write", object_);
  }
  num_rows_ += num_rows;
}

template <class T>
void Hdf5Table::append(std::span<const T> values, std::int64_t num_rows) {
  ST_DEMAND(static_cast<std::int64_t>(values.size()) == num_rows * columns_);
  append_memory(values.data(), hdf5_type<T>(), num_rows);
}

void Hdf5Table::append_text(std::string_view text) {
  const Hdf5Handle type(H5Dget_type(dataset_), H5Tclose);
  std::string bytes(text);
  bytes.resize(H5Tget_size(type.id()), '\0');
  append_memory(bytes.data(), type.id(), 1);
}

#define ST_INSTANTIATE(T)                                                                      \
  template void Hdf5File::write(const std::string&, std::span<const T>);                       \
  template void Hdf5File::write(const std::string&, std::span<const T>, int);                  \
  template std::vector<T> Hdf5File::read(const std::string&) const;                            \
  template std::vector<T> Hdf5File::read_range(const std::string&, std::int64_t, std::int64_t) \
      const;                                                                                   \
  template void Hdf5File::make_table<T>(const std::string&, int);                              \
  template void Hdf5Table::append(std::span<const T>, std::int64_t);

ST_INSTANTIATE(double)
ST_INSTANTIATE(int)
ST_INSTANTIATE(std::int64_t)
ST_INSTANTIATE(std::uint64_t)
#undef ST_INSTANTIATE

}  // namespace stiction
