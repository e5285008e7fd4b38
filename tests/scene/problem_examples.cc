#include "tests/scene/problem_examples.h"

#include <span>
#include <utility>

#include "tests/base/temporary_folder.h"

namespace stiction {

RawFile::RawFile(const std::string& path) : file_(make(path)) {}

void RawFile::group(const std::string& name) { file_.make_group(name); }

void RawFile::integer(const std::string& name, int value) { integers(name, {value}); }

void RawFile::integers(const std::string& name, const std::vector<int>& values) {
  file_.write(name, std::span<const int>(values));
}

void RawFile::vector(const std::string& name, const Eigen::VectorXd& x) {
  file_.write(name, std::span<const double>(x.data(), static_cast<std::size_t>(x.size())));
}

void RawFile::text(const std::string& name, const std::string& text) {
  file_.write_text(name, text);
}

void RawFile::close() { file_.close(); }

void RawFile::matrix(const std::string& name, const Eigen::MatrixXd& a, MatrixForm form) {
  const bool by_rows = form == MatrixForm::kRows;
  const Eigen::MatrixXd turned = by_rows ? Eigen::MatrixXd(a.transpose()) : a;
  std::vector<int> pointers{0}, outer, inner;
  std::vector<double> values;
  for (int c = 0; c < turned.cols(); ++c) {
    for (int r = 0; r < turned.rows(); ++r) {
      if (turned(r, c) == 0) continue;
      outer.push_back(c);
      inner.push_back(r);
      values.push_back(turned(r, c));
    }
    pointers.push_back(static_cast<int>(values.size()));
  }
  const bool is_triplets = form == MatrixForm::kTriplets;
  group(name);
  integer(name + "/m", static_cast<int>(a.rows()));
  integer(name + "/n", static_cast<int>(a.cols()));
  integer(name + "/nz", is_triplets ? static_cast<int>(values.size()) : by_rows ? -2 : -1);
  integer(name + "/nzmax", static_cast<int>(values.size()));
  integers(name + "/p", is_triplets ? outer : pointers);
  integers(name + "/i", inner);
  file_.write(name + "/x", std::span<const double>(values));
}

Hdf5File RawFile::make(const std::string& path) {
  write_bytes(path, "");
  return Hdf5File::create(path, path);
}

FrictionState make_friction_state(int dimension, int num_contacts, Random& random) {
  FrictionState state{Eigen::VectorXd::Zero(dimension * num_contacts),
                      Eigen::VectorXd::Zero(dimension * num_contacts),
                      Eigen::VectorXd::Zero(num_contacts)};
  for (int i = 0; i < num_contacts; ++i) {
    auto r = state.r.segment(dimension * i, dimension);
    auto u = state.u.segment(dimension * i, dimension);
    Eigen::VectorXd direction(dimension - 1);
    for (double& x : direction) x = random.normal();
    direction.normalize();
    state.mu[i] = random.uniform(0.1, 1);
    if (i % 3 == 0) {
      u[0] = random.uniform(0.1, 1);
      u.tail(dimension - 1) = 0.3 * direction;
      continue;
    }
    r[0] = random.uniform(1, 2);
    const bool is_sliding = i % 3 == 2;
    r.tail(dimension - 1) = (is_sliding ? -1 : -0.5) * state.mu[i] * r[0] * direction;
    if (is_sliding) u.tail(dimension - 1) = random.uniform(0.1, 1) * direction;
  }
  return state;
}

Eigen::MatrixXd make_random_matrix(int rows, int columns, Random& random) {
  Eigen::MatrixXd a(rows, columns);
  for (double& x : a.reshaped()) x = random.normal();
  return a;
}

LocalExample make_local_example(int dimension, int num_contacts, std::uint64_t seed) {
  Random random(seed);
  LocalExample example;
  example.dimension = dimension;
  example.state = make_friction_state(dimension, num_contacts, random);
  example.W = make_random_matrix(dimension * num_contacts, dimension * num_contacts, random);
  example.q = example.state.u - example.W * example.state.r;
  return example;
}

void write_local(const std::string& path, const LocalExample& example, MatrixForm form) {
  RawFile file(path);
  file.group("fclib_local");
  file.integer("fclib_local/spacedim", example.dimension);
  file.matrix("fclib_local/W", example.W, form);
  file.group("fclib_local/vectors");
  file.vector("fclib_local/vectors/q", example.q);
  file.vector("fclib_local/vectors/mu", example.state.mu);
  file.group("fclib_local/info");
  file.text("fclib_local/info/title", "an example");
  file.group("solution");
  file.vector("solution/r", example.state.r);
  file.vector("solution/u", example.state.u);
  file.close();
}

GlobalExample make_global_example(std::uint64_t seed, int num_equations) {
  Random random(seed);
  GlobalExample example;
  constexpr int kNumDofs = 8, kNumContacts = 3, kDimension = 3;
  example.M = Eigen::MatrixXd::Zero(kNumDofs, kNumDofs);
  for (int i = 0; i < kNumDofs; ++i) {
    example.M(i, i) = random.uniform(2, 3);
    example.M(i, (i + 4) % kNumDofs) = random.uniform(-1, 1);
  }
  example.state = make_friction_state(kDimension, kNumContacts, random);
  example.H = make_random_matrix(kNumDofs, kDimension * kNumContacts, random);
  example.H.topRows(2).setZero();
  example.G = make_random_matrix(kNumDofs, num_equations, random);
  example.v = make_random_matrix(kNumDofs, 1, random);
  example.l = make_random_matrix(num_equations, 1, random);
  example.f = example.M * example.v - example.H * example.state.r - example.G * example.l;
  example.w = example.state.u - example.H.transpose() * example.v;
  example.b = -example.G.transpose() * example.v;
  return example;
}

void write_global(const std::string& path, const GlobalExample& example, MatrixForm form) {
  RawFile file(path);
  file.group("fclib_global");
  file.integer("fclib_global/spacedim", 3);
  file.matrix("fclib_global/M", example.M, form);
  file.matrix("fclib_global/H", example.H, form);
  file.group("fclib_global/vectors");
  file.vector("fclib_global/vectors/f", example.f);
  file.vector("fclib_global/vectors/w", example.w);
  file.vector("fclib_global/vectors/mu", example.state.mu);
  file.group("solution");
  file.vector("solution/r", example.state.r);
  file.vector("solution/u", example.state.u);
  file.vector("solution/v", example.v);
  if (example.G.cols() > 0) {
    file.matrix("fclib_global/G", example.G, form);
    file.vector("fclib_global/vectors/b", example.b);
    file.vector("solution/l", example.l);
  }
  file.close();
}

LcpExample make_lcp_example(std::vector<int> flags, std::uint64_t seed) {
  Random random(seed);
  const int size = static_cast<int>(flags.size());
  LcpExample example{make_random_matrix(size, size, random), {}, {}, {}, std::move(flags)};
  example.z = example.w = Eigen::VectorXd::Zero(size);
  for (int i = 0; i < size; ++i) {
    if (example.flags[i] == 0)
      example.z[i] = random.normal();
    else
      (i % 2 == 0 ? example.z : example.w)[i] = random.uniform(1, 2);
  }
  example.q = example.w - example.M * example.z;
  return example;
}

void write_lcp(const std::string& path, const LcpExample& example, const std::string& group) {
  RawFile file(path);
  file.group(group);
  file.matrix(group + "/M", example.M, MatrixForm::kTriplets);
  file.vector(group + "/q", example.q);
  file.integers(group + "/complementarity", example.flags);
  file.group("solution");
  file.vector("solution/z", example.z);
  file.vector("solution/w", example.w);
  file.close();
}

}  // namespace stiction
