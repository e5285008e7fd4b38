#include "bench/solvers/lemke_problems.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "stiction/base/error.h"
#include "stiction/base/random.h"
#include "stiction/scene/problem_reader.h"
#include "stiction/solve/friction_lcp.h"

namespace stiction::bench {
namespace {

namespace fs = std::filesystem;

DenseLcp from_file(const fs::path& path, const StepProblem& problem) {
  const int n = problem.num_rows();
  DenseLcp lcp{.name = path.stem().string(),
               .family = "file",
               .size = n,
               .num_contacts = 0,
               .matrix = std::vector<double>(static_cast<std::size_t>(n) * n),
               .q = problem.contact_bias};
  const RowCoupling& coupling = problem.coupling;
  for (int i = 0; i < coupling.num_rows(); ++i)
    for (int e = coupling.entry_start(i); e < coupling.entry_start(i + 1); ++e)
      lcp.matrix[static_cast<std::size_t>(i) * n + coupling.column(e)] = coupling.value(e);
  return lcp;
}

Eigen::Vector3d random_vector(Random& random) {
  const double x = random.normal(), y = random.normal(), z = random.normal();
  return {x, y, z};
}

void add_body(Random& random, StepProblem& problem) {
  const double mass = std::exp2(random.uniform(-2, 2));
  RowMatrixMap block = problem.add_mass_block(6);
  block.setZero();
  block.diagonal().head<3>().setConstant(mass);
  for (int i = 3; i < 6; ++i) block(i, i) = 0.4 * mass * random.uniform(0.5, 1.5);
  VectorMap p = problem.block_p(problem.num_blocks() - 1);
  for (double& x : p) x = mass * random.normal();
}

/// A contact of two bodies, or of one with the ground, at a random place of each.
void add_contact(Random& random, int num_sides, StepProblem& problem) {
  const int a = random.integer(0, problem.num_blocks() - 1);
  const int b = random.integer(0, problem.num_blocks() - 1);
  Eigen::Matrix3d frame;  // rows: normal, tangents
  frame.row(0) = random_vector(random).normalized();
  frame.row(1) = frame.row(0).cross(random_vector(random)).normalized();
  frame.row(2) = frame.row(0).cross(frame.row(1));
  problem.add_contact({.num_tangents = 2,
                       .mu = random.uniform(0.2, 0.8),
                       .section = FrictionSection::polygon(num_sides)});
  const auto add = [&](int block, double sign) {
    const Eigen::Vector3d arm = random_vector(random).normalized();
    RowMatrixMap entry = problem.contacts.add_entry(block, 6);
    entry.leftCols<3>() = sign * frame;
    for (int i = 0; i < 3; ++i)
      entry.row(i).tail<3>() = sign * arm.cross(frame.row(i).transpose()).transpose();
  };
  add(a, 1);
  if (b != a && random.chance(0.7)) add(b, -1);
}

}  // namespace

std::vector<DenseLcp> read_lcp_folder(const std::string& folder) {
  if (!fs::is_directory(folder)) throw InputError(fmt::format("'{}' is not a folder", folder));
  std::vector<DenseLcp> problems;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string ending = entry.path().extension().string();
    if (!entry.is_regular_file() || (ending != ".hdf5" && ending != ".h5")) continue;
    const ProblemFile file = read_problem_file(entry.path().string());
    if (file.kind == ProblemKind::kLcp) problems.push_back(from_file(entry.path(), file.problem));
  }
  std::sort(problems.begin(), problems.end(),
            [](const DenseLcp& a, const DenseLcp& b) { return a.name < b.name; });
  return problems;
}

DenseLcp make_friction_lcp(const ContactScene& scene) {
  Random random(scene.seed);
  StepProblem problem;
  for (int i = 0; i < std::max(1, scene.num_contacts / 2); ++i) add_body(random, problem);
  for (int j = 0; j < scene.num_contacts; ++j) add_contact(random, scene.num_sides, problem);
  FrictionLcp<double> form;
  if (form.assemble(problem) != FrictionLcp<double>::Outcome::kAssembled)
    throw InputError(fmt::format("no contact of seed {} closes", scene.seed));
  return {.name = fmt::format("{} contacts, seed {}", scene.num_contacts, scene.seed),
          .family = fmt::format("{}-gon", scene.num_sides),
          .size = form.lcp().size(),
          .num_contacts = scene.num_contacts,
          .matrix = form.lcp().matrix,
          .q = form.lcp().vector};
}

double compute_lcp_error(const DenseLcp& lcp, const std::vector<double>& z) {
  double error = 0, scale = 0;
  for (int i = 0; i < lcp.size; ++i) {
    double w = lcp.q[i];
    for (int j = 0; j < lcp.size; ++j)
      w += lcp.matrix[static_cast<std::size_t>(i) * lcp.size + j] * z[j];
    const double violation = std::min(z[i], w);
    if (!std::isfinite(violation) || !std::isfinite(z[i]))
      return std::numeric_limits<double>::infinity();
    error += violation * violation;
    scale += lcp.q[i] * lcp.q[i];
  }
  return scale > 0 ? std::sqrt(error / scale) : std::sqrt(error);
}

}  // namespace stiction::bench
