// Problem files made for tests: small dense problems whose answer is known because it was chosen
// first, written object by object in any of FCLIB's matrix forms, so that reader and writer are
// tested against something else than each other.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "stiction/base/hdf5_file.h"
#include "stiction/base/random.h"
#include "tests/base/temporary_folder.h"

namespace stiction {

enum class MatrixForm { kTriplets, kColumns, kRows };

/// Writes HDF5 objects by name; groups come before what is in them.
class RawFile {
 public:
  explicit RawFile(const std::string& path);

  void group(const std::string& name);
  void integer(const std::string& name, int value);
  void integers(const std::string& name, const std::vector<int>& values);
  void vector(const std::string& name, const Eigen::VectorXd& x);
  void text(const std::string& name, const std::string& text);
  void close();

  /// Zeros are left out.
  void matrix(const std::string& name, const Eigen::MatrixXd& a, MatrixForm form);

 private:
  static Hdf5File make(const std::string& path);

  Hdf5File file_;
};

/// Contacts in turn open, sticking and sliding, by their impulses and velocities.
struct FrictionState {
  Eigen::VectorXd r, u, mu;
};

FrictionState make_friction_state(int dimension, int num_contacts, Random& random);

Eigen::MatrixXd make_random_matrix(int rows, int columns, Random& random);

/// u = W r + q, W unsymmetric.
struct LocalExample {
  int dimension = 3;
  Eigen::MatrixXd W;
  Eigen::VectorXd q;
  FrictionState state;
};

LocalExample make_local_example(int dimension, int num_contacts, std::uint64_t seed);

void write_local(const std::string& path, const LocalExample& example,
                 MatrixForm form = MatrixForm::kTriplets);

/// M v = H r + G l + f, u = Hᵀv + w, Gᵀv + b = 0. M couples unknowns i and i + 4 of eight.
struct GlobalExample {
  Eigen::MatrixXd M, H, G;
  Eigen::VectorXd f, w, b, v, l;
  FrictionState state;
};

GlobalExample make_global_example(std::uint64_t seed, int num_equations);

void write_global(const std::string& path, const GlobalExample& example,
                  MatrixForm form = MatrixForm::kTriplets);

/// w = M z + q, rows with flag 0 are equations.
struct LcpExample {
  Eigen::MatrixXd M;
  Eigen::VectorXd q, z, w;
  std::vector<int> flags;
};

LcpExample make_lcp_example(std::vector<int> flags, std::uint64_t seed);

/// `group` is lcp or mlcp.
void write_lcp(const std::string& path, const LcpExample& example, const std::string& group);

}  // namespace stiction
