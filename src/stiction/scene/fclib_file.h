// Numbers, lists and sparse matrices of a problem file in the manner of FCLIB: every access is
// checked against the size that the rest of the file demands, and every failure names the file, the
// object, what was found and what was expected.
//
// A matrix is a group with m, n (rows, columns), nz, nzmax, p, i, x. The sign of nz tells the form:
//   nz ≥ 0   triplets: x[k] at row i[k], column p[k], for k < nz
//   nz = −1  compressed columns: column c holds entries p[c] … p[c+1]−1, i their rows
//   nz = −2  compressed rows: row r holds entries p[r] … p[r+1]−1, i their columns
// FCLIB's header names the two index lists of triplets the other way round; its files, and CSparse
// whose form this is, have them as said here.
#pragma once

#include <string>
#include <vector>

#include "stiction/base/hdf5_file.h"
#include "stiction/scene/sparse_matrix.h"

namespace stiction {

class FclibFile {
 public:
  /// Throws IoError if the file is missing or is no HDF5 file.
  explicit FclibFile(const std::string& path) : file_(Hdf5File::open(path)) {}

  const std::string& path() const { return file_.path(); }
  bool has(const std::string& object) const { return file_.has(object); }

  /// Throws InputError: problem file 'path': 'object' what.
  [[noreturn]] void fail(const std::string& object, const std::string& what) const;

  int read_integer(const std::string& object) const;
  /// Finite numbers.
  std::vector<double> read_vector(const std::string& object) const;
  /// The same, with a size that must be right. A list without entries may be absent.
  std::vector<double> read_vector(const std::string& object, int size) const;
  std::vector<int> read_integers(const std::string& object, int size) const;
  /// A matrix of that size, else it throws.
  SparseMatrix read_matrix(const std::string& group, int num_rows, int num_columns) const;
  /// Number of columns of a matrix, before it is read.
  int read_num_columns(const std::string& group) const { return read_integer(group + "/n"); }
  /// A text, or nothing where it is absent or of a kind that is not read.
  std::string try_read_text(const std::string& object) const;

 private:
  std::vector<int> read_indices(const std::string& object, int size, int limit) const;
  std::vector<int> read_pointers(const std::string& object, int size) const;
  TripletMatrix read_triplets(const std::string& group, int num_rows, int num_columns) const;
  /// Compressed rows of a matrix, or compressed columns as those of its transpose.
  TripletMatrix read_compressed(const std::string& group, int num_rows, int num_columns) const;

  Hdf5File file_;
};

}  // namespace stiction
