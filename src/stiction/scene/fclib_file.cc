#include "stiction/scene/fclib_file.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "stiction/base/error.h"
#include "stiction/base/text.h"

namespace stiction {
namespace {

constexpr int kCompressedColumns = -1;
constexpr int kCompressedRows = -2;

}  // namespace

void FclibFile::fail(const std::string& object, const std::string& what) const {
  throw InputError(fmt::format("problem file '{}': '{}' {}", path(), object, what));
}

int FclibFile::read_integer(const std::string& object) const {
  const std::vector<int> values = file_.read<int>(object);
  if (values.size() != 1)
    fail(object, fmt::format("has {} entries, expected a single integer", values.size()));
  return values.front();
}

std::vector<double> FclibFile::read_vector(const std::string& object) const {
  std::vector<double> values = file_.read<double>(object);
  if (values.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    fail(object, fmt::format("has {} entries, which is more than can be indexed", values.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      fail(object,
           fmt::format("has the entry {} at {}, expected finite numbers", to_text(values[i]), i));
  return values;
}

std::vector<double> FclibFile::read_vector(const std::string& object, int size) const {
  if (size == 0 && !has(object)) return {};
  std::vector<double> values = read_vector(object);
  if (values.size() != static_cast<std::size_t>(size))
    fail(object, fmt::format("has {} entries, expected {}", values.size(), size));
  return values;
}

std::vector<int> FclibFile::read_integers(const std::string& object, int size) const {
  if (size == 0 && !has(object)) return {};
  std::vector<int> values = file_.read<int>(object);
  if (values.size() != static_cast<std::size_t>(size))
    fail(object, fmt::format("has {} entries, expected {}", values.size(), size));
  return values;
}

std::string FclibFile::try_read_text(const std::string& object) const {
  if (!has(object)) return {};
  try {
    return file_.read_text(object);
  } catch (const IoError&) {
    return {};  // a title of an unusual type is no reason to refuse a problem
  }
}

std::vector<int> FclibFile::read_indices(const std::string& object, int size, int limit) const {
  if (size == 0) return {};
  std::vector<int> indices = file_.read<int>(object);
  if (indices.size() < static_cast<std::size_t>(size))
    fail(object, fmt::format("has {} entries, expected {}", indices.size(), size));
  indices.resize(size);  // nzmax, the room that was allocated, may be larger than nz
  for (int k = 0; k < size; ++k)
    if (indices[k] < 0 || indices[k] >= limit)
      fail(object,
           fmt::format("has the index {} at {}, expected 0 <= index < {}", indices[k], k, limit));
  return indices;
}

std::vector<int> FclibFile::read_pointers(const std::string& object, int size) const {
  std::vector<int> pointers = read_integers(object, size + 1);
  if (pointers.front() != 0)
    fail(object, fmt::format("starts with {}, expected 0", pointers.front()));
  for (int k = 0; k < size; ++k)
    if (pointers[k + 1] < pointers[k])
      fail(object, fmt::format("falls from {} to {} at {}, expected pointers that do not fall",
                               pointers[k], pointers[k + 1], k + 1));
  return pointers;
}

TripletMatrix FclibFile::read_triplets(const std::string& group, int num_rows,
                                       int num_columns) const {
  const int size = read_integer(group + "/nz");
  TripletMatrix triplets{num_rows, num_columns, {}, {}, {}};
  triplets.row = read_indices(group + "/i", size, num_rows);
  triplets.column = read_indices(group + "/p", size, num_columns);
  return triplets;
}

TripletMatrix FclibFile::read_compressed(const std::string& group, int num_rows,
                                         int num_columns) const {
  const std::vector<int> pointers = read_pointers(group + "/p", num_rows);
  TripletMatrix triplets{num_rows, num_columns, {}, {}, {}};
  triplets.column = read_indices(group + "/i", pointers.back(), num_columns);
  triplets.row.reserve(triplets.column.size());
  for (int i = 0; i < num_rows; ++i)
    triplets.row.insert(triplets.row.end(), pointers[i + 1] - pointers[i], i);
  return triplets;
}

SparseMatrix FclibFile::read_matrix(const std::string& group, int num_rows, int num_columns) const {
  const int m = read_integer(group + "/m"), n = read_integer(group + "/n");
  if (m != num_rows || n != num_columns)
    fail(group, fmt::format("is {} × {}, expected {} × {}", m, n, num_rows, num_columns));
  const int nz = read_integer(group + "/nz");
  if (nz < kCompressedRows)
    fail(group + "/nz", fmt::format("is {}, expected -2, -1 or a number of entries", nz));
  TripletMatrix triplets = nz == kCompressedRows      ? read_compressed(group, m, n)
                           : nz == kCompressedColumns ? read_compressed(group, n, m)
                                                      : read_triplets(group, m, n);
  const std::size_t size = triplets.row.size();
  if (size > 0) triplets.value = read_vector(group + "/x");
  if (triplets.value.size() < size)
    fail(group + "/x", fmt::format("has {} entries, expected {}", triplets.value.size(), size));
  triplets.value.resize(size);
  const SparseMatrix matrix = compress(triplets);
  return nz == kCompressedColumns ? transposed(matrix) : matrix;
}

}  // namespace stiction
