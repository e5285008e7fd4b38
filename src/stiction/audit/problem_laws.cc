#include "stiction/audit/problem_laws.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "stiction/audit/rounding.h"
#include "stiction/base/disjoint_sets.h"
#include "stiction/base/infinity.h"

namespace stiction {
namespace {

using Eigen::Matrix2d;
using Eigen::Vector2d;
using Eigen::Vector3d;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// (T21), (T22): a share of what other impulses could do counts as an impulse, and impulses that
/// cancel count up to a multiple of the data. (T20): beyond that a share of them counts.
constexpr double kBackground = 1e-4, kDataFactor = 1e7, kBalanceShare = 1e-5;

/// Not a number is the worst.
void raise(double& largest, double value) {
  if (!(value <= largest)) largest = std::isnan(value) ? kInfinity : value;
}

/// Corners of a polygonal section, counterclockwise.
std::vector<Vector2d> corners_of(const FrictionSection& section) {
  if (section.kind == FrictionSection::Kind::kBox) return {{1, -1}, {1, 1}, {-1, 1}, {-1, -1}};
  std::vector<Vector2d> corners;
  for (int i = 0; i < section.num_sides; ++i) {
    const double angle = 2 * std::numbers::pi * i / section.num_sides;
    corners.emplace_back(std::cos(angle), std::sin(angle));
  }
  return corners;
}

Vector2d nearest_in_polygon(const std::vector<Vector2d>& corners, double radius,
                            const Vector2d& beta) {
  bool is_inside = true;
  Vector2d nearest = beta;
  double distance = kInfinity;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Vector2d a = radius * corners[i], b = radius * corners[(i + 1) % corners.size()];
    const Vector2d along = b - a, from = beta - a;
    if (along.x() * from.y() - along.y() * from.x() < 0) is_inside = false;
    const double length = along.squaredNorm();
    const double share = length > 0 ? std::clamp(from.dot(along) / length, 0.0, 1.0) : 0;
    const Vector2d candidate = a + share * along;
    if ((candidate - beta).norm() < distance) {
      distance = (candidate - beta).norm();
      nearest = candidate;
    }
  }
  return is_inside ? beta : nearest;
}

}  // namespace

Vector2d nearest_in_section(const FrictionSection& section, int num_tangents, double radius,
                            const Vector2d& beta) {
  if (num_tangents == 0 || radius <= 0) return Vector2d::Zero();
  if (num_tangents == 1) return {std::clamp(beta[0], -radius, radius), 0};
  if (section.kind != FrictionSection::Kind::kDisc)
    return nearest_in_polygon(corners_of(section), radius, beta);
  const double size = beta.norm();
  return size <= radius ? beta : Vector2d(beta * (radius / size));
}

double section_support(const FrictionSection& section, int num_tangents, const Vector2d& x) {
  if (num_tangents == 0) return 0;
  if (num_tangents == 1) return std::abs(x[0]);
  if (section.kind == FrictionSection::Kind::kDisc) return x.norm();
  double largest = 0;
  for (const Vector2d& corner : corners_of(section)) largest = std::max(largest, corner.dot(x));
  return largest;
}

double section_radius(const FrictionSection& section, int num_tangents) {
  return num_tangents == 2 && section.kind == FrictionSection::Kind::kBox ? std::numbers::sqrt2 : 1;
}

void ResidualBounds::include(const ResidualBounds& other) {
  raise(momentum_low, other.momentum_low);
  raise(momentum_high, other.momentum_high);
  raise(bilateral_low, other.bilateral_low);
  raise(bilateral_high, other.bilateral_high);
  raise(cone_low, other.cone_low);
  raise(cone_high, other.cone_high);
}

namespace {

/// (T20)–(T22) with everything written out.
class Judge {
 public:
  Judge(const StepProblem& problem, const StepSolution& solution, const ProblemRounding& rounding,
        double tolerance, const ProblemNames& names, AuditReport& report)
      : problem_(problem),
        solution_(solution),
        rounding_(rounding),
        tolerance_(tolerance),
        names_(names),
        report_(report),
        is_left_out_(problem.num_blocks(), 0) {}

  /// Blocks and the rows that touch them, which are judged by themselves.
  void leave_out(const std::vector<char>& is_left_out) { is_left_out_ = is_left_out; }

  ResidualBounds judge() {
    prepare_blocks();
    measure_data();
    judge_momentum();
    judge_rows();
    judge_contacts();
    return bounds_;
  }

 private:
  struct Block {
    Eigen::LLT<MatrixXd> symmetric;
    VectorXd residual, rounding;
    double momentum = 0;  // ‖M̂w‖ + ‖p‖
    double load = 0;      // I_k of (T20)
  };
  /// What one contact's figures are made of, in √J and 1/√J·m/s as in (T22).
  struct Local {
    double omega_N = 0, omega_T = 0;
    Vector3d r = Vector3d::Zero(), u = Vector3d::Zero();  // r', u'
    double mu = 0;                                        // μ'
    double rounding = 0;                                  // of u'
    double natural = 0;                                   // ‖r' − P(r' − û')‖
    double background = 0;                                // ‖m'‖
  };

  double norm(int block, const VectorXd& x) const {
    return std::sqrt(std::max(0.0, x.dot(blocks_[block].symmetric.solve(x))));
  }
  VectorXd column(const BlockRows& rows, int e, int row) const {
    const int n = rows.entry_columns(e);
    return ConstVectorMap(rows.entry_values(e) + static_cast<std::ptrdiff_t>(row) * n, n);
  }
  double at(const std::vector<double>& list, int i) const {
    return list.empty() ? 0 : list[static_cast<std::size_t>(i)];
  }
  bool counts(const BlockRows& rows, int row_block) const {
    const int e = rows.entry_start(row_block);
    return e == rows.entry_start(row_block + 1) || is_left_out_[rows.entry_block(e)] == 0;
  }

  void prepare_blocks() {
    blocks_.resize(problem_.num_blocks());
    for (int b = 0; b < problem_.num_blocks(); ++b) {
      const int start = problem_.dof_start[b], n = problem_.block_size(b);
      const MatrixXd mass = problem_.mass_block(b);
      Block& block = blocks_[b];
      block.symmetric.compute(0.5 * (mass + mass.transpose()));
      const ConstVectorMap w(solution_.w.data() + start, n), p(problem_.p.data() + start, n);
      const VectorXd momentum = mass * w;
      block.residual = momentum - p;
      block.rounding = kUlps * (mass.cwiseAbs() * w.cwiseAbs() + p.cwiseAbs());
      if (rounding_.p.size() > 0) block.rounding += rounding_.p.segment(start, n);
      if (rounding_.w.size() > 0) block.rounding += mass.cwiseAbs() * rounding_.w.segment(start, n);
      block.momentum = norm(b, momentum) + norm(b, p);
      block.load = block.momentum;
    }
    for (int i = 0; i < problem_.num_bilateral(); ++i)
      add_impulse(problem_.bilateral, i, 0, solution_.lambda[i]);
    for (int j = 0; j < problem_.num_contacts(); ++j)
      for (int k = 0; k < problem_.contacts.num_rows(j); ++k)
        add_impulse(problem_.contacts, j, k, solution_.r[problem_.contacts.row_start(j) + k]);
  }

  void add_impulse(const BlockRows& rows, int row_block, int row, double impulse) {
    for (int e = rows.entry_start(row_block); e < rows.entry_start(row_block + 1); ++e) {
      Block& block = blocks_[rows.entry_block(e)];
      const VectorXd direction = column(rows, e, row);
      block.residual -= impulse * direction;
      block.rounding +=
          kUlps * std::abs(impulse) * (direction.cwiseAbs().array() + rounding_.place).matrix();
      block.load += std::abs(impulse) * norm(rows.entry_block(e), direction);
    }
  }

  void judge_momentum() {
    for (int b = 0; b < problem_.num_blocks(); ++b) {
      if (is_left_out_[b] != 0) continue;
      const Block& block = blocks_[b];
      const double scale = block.load > cap_ ? cap_ + kBalanceShare * block.load : block.load;
      const double error = norm(b, block.residual);
      // ‖x‖ of all vectors with |x_i| ≤ rounding_i is at most √n times that of the worst entry.
      double slack = 0;
      for (Eigen::Index i = 0; i < block.rounding.size(); ++i)
        slack += block.rounding[i] * norm(b, VectorXd::Unit(block.rounding.size(), i));
      const double low = std::max(0.0, error - slack), high = error + slack;
      const double figure = low == 0 ? 0 : low / scale;
      hold(Law::kMomentum, {error, slack, scale}, [&] { return names_.block(b); });
      raise(bounds_.momentum_low, figure);
      raise(bounds_.momentum_high, scale > 0 ? high / scale : 0);
    }
  }

  /// W of the rows of one row block, without compliance.
  MatrixXd own_delassus(const BlockRows& rows, int row_block) const {
    const int n = rows.num_rows(row_block);
    MatrixXd W = MatrixXd::Zero(n, n);
    for (int e = rows.entry_start(row_block); e < rows.entry_start(row_block + 1); ++e) {
      const MatrixXd J = rows.entry_matrix(row_block, e);
      W += J * blocks_[rows.entry_block(e)].symmetric.solve(J.transpose());
    }
    // Condensed problems have K in the place of bodies, or beside them.
    const int first = first_row(rows, row_block);
    for (int i = 0; i < n && problem_.coupling.num_rows() > 0; ++i)
      for (int e = problem_.coupling.entry_start(first + i);
           e < problem_.coupling.entry_start(first + i + 1); ++e) {
        const int k = problem_.coupling.column(e) - first;
        if (k < 0 || k >= n) continue;
        W(i, k) += 0.5 * problem_.coupling.value(e);
        W(k, i) += 0.5 * problem_.coupling.value(e);
      }
    return W;
  }

  void measure_data() {
    for (int b = 0; b < problem_.num_blocks(); ++b) {
      if (is_left_out_[b] != 0) continue;
      raise(data_, blocks_[b].momentum);
      raise(load_, blocks_[b].load);
    }
    for (int i = 0; i < problem_.num_bilateral(); ++i) {
      const double omega = own_delassus(problem_.bilateral, i)(0, 0) + problem_.compliance[i];
      row_omega_.push_back(omega);
      if (!(omega > 0) || !counts(problem_.bilateral, i)) continue;
      raise(data_, std::abs(problem_.bias[i]) / std::sqrt(omega));
      const double least = std::clamp(0.0, problem_.lower[i], problem_.upper[i]);
      raise(data_, std::abs(least) * std::sqrt(omega));
    }
    for (int j = 0; j < problem_.num_contacts(); ++j) {
      contact_W_.push_back(own_delassus(problem_.contacts, j));
      if (!counts(problem_.contacts, j)) continue;
      for (int k = 0; k < problem_.contacts.num_rows(j); ++k) {
        const int row = problem_.contacts.row_start(j) + k;
        const double omega = contact_W_.back()(k, k) + problem_.contact_compliance[row];
        if (omega > 0) raise(data_, std::abs(problem_.contact_bias[row]) / std::sqrt(omega));
      }
    }
    cap_ = data_ > 0 ? kDataFactor * data_ : kInfinity;
    load_ = std::min(load_, cap_);
  }

  /// m of (T21): the velocity that impulses as large as the largest load could give a row.
  double possible_velocity(const BlockRows& rows, int row_block, int row, double bias) const {
    double sum = std::abs(bias);
    for (int e = rows.entry_start(row_block); e < rows.entry_start(row_block + 1); ++e)
      sum += norm(rows.entry_block(e), column(rows, e, row)) * load_;
    for_coupled(first_row(rows, row_block) + row,
                [&](double velocity) { sum += std::abs(velocity); });
    return sum;
  }

  /// Place of a row block among all rows: bilateral ones come first.
  int first_row(const BlockRows& rows, int row_block) const {
    return &rows == &problem_.bilateral ? row_block
                                        : problem_.num_bilateral() + rows.row_start(row_block);
  }
  /// The terms K_ij x_j of a row.
  template <class Function>
  void for_coupled(int row, const Function& function) const {
    if (problem_.coupling.num_rows() == 0) return;
    for (int e = problem_.coupling.entry_start(row); e < problem_.coupling.entry_start(row + 1);
         ++e) {
      const int j = problem_.coupling.column(e), n = problem_.num_bilateral();
      function(problem_.coupling.value(e) * (j < n ? solution_.lambda[j] : solution_.r[j - n]));
    }
  }

  double times_w(const BlockRows& rows, int row_block, int row) const {
    double sum = rows.times(row_block, row, problem_.dof_start.data(), solution_.w.data());
    for_coupled(first_row(rows, row_block) + row, [&](double velocity) { sum += velocity; });
    return sum;
  }

  void judge_rows() {
    const int n = problem_.num_bilateral();
    std::vector<double> error(n), slack(n), excess(n);
    double total = 0, background = 0;
    for (int i = 0; i < n; ++i) {
      if (!counts(problem_.bilateral, i)) continue;
      const double lambda = solution_.lambda[i], omega = row_omega_[i];
      const double lower = problem_.lower[i], upper = problem_.upper[i];
      const double s =
          times_w(problem_.bilateral, i, 0) + problem_.compliance[i] * lambda - problem_.bias[i];
      if (!(omega > 0)) {  // nothing moves this row: it holds or it does not
        const bool holds =
            std::abs(s) <= at(rounding_.rows, i) && lambda >= lower && lambda <= upper;
        error[i] = holds ? 0 : kInfinity;
        continue;
      }
      const double shift = s / omega;
      const double to = std::clamp(lambda - shift, lower, upper);
      const double root = std::sqrt(omega);
      error[i] = std::abs(to == lambda - shift ? shift : lambda - to) * root;
      slack[i] =
          (at(rounding_.rows, i) + kUlps * problem_.compliance[i] * std::abs(lambda)) / root +
          kUlps * std::abs(lambda) * root;
      // Redundant rows hold each other with impulses beyond the cap: their rounding is all there
      // is.
      if (std::abs(lambda) * root > cap_) slack[i] += kEpsilon * std::abs(lambda) * root;
      excess[i] = std::max({0.0, lower - lambda, lambda - upper}) * root;
      raise(total, total + std::abs(lambda) * root);
      raise(background,
            std::min(possible_velocity(problem_.bilateral, i, 0, problem_.bias[i]) / root, cap_));
    }
    const double scale = std::min(total, cap_) + kBackground * background;
    for (int i = 0; i < n; ++i) {
      if (!counts(problem_.bilateral, i)) continue;
      const auto where = [&] { return names_.row(i); };
      const double figure = relative(error[i], slack[i], scale);
      hold(Law::kJointRows, {error[i], slack[i], scale}, where);
      if (std::isfinite(problem_.lower[i]) || std::isfinite(problem_.upper[i]))
        hold(Law::kEffortBounds,
             {excess[i], kUlps * std::abs(solution_.lambda[i]) * std::sqrt(row_omega_[i]), scale},
             where);
      raise(bounds_.bilateral_low, figure);
      raise(bounds_.bilateral_high, scale > 0 ? (error[i] + slack[i]) / scale : 0);
    }
  }

  struct Measured {
    double error, slack, scale;
  };
  /// The figure is the whole error; what rounding may have done to it is added to the tolerance.
  void hold(Law law, const Measured& m, const AuditReport::Where& where) {
    if (!(m.scale > 0) || !std::isfinite(m.error))
      report_.check(law, relative(m.error, m.slack, m.scale), tolerance_, where);
    else
      report_.check(law, std::max(0.0, m.error) / m.scale, tolerance_ + m.slack / m.scale, where);
  }

  /// What is left of an error after rounding, over its scale.
  static double relative(double error, double slack, double scale) {
    if (!std::isfinite(error)) return kInfinity;
    const double left = std::max(0.0, error - slack);
    return left == 0 ? 0 : left / scale;
  }

  Local look_at(int j) const {
    const int first = problem_.contacts.row_start(j), num_rows = problem_.contacts.num_rows(j);
    Local local;
    local.omega_N = contact_W_[j](0, 0) + problem_.contact_compliance[first];
    if (num_rows == 2) local.omega_T = contact_W_[j](1, 1) + problem_.contact_compliance[first + 1];
    if (num_rows == 3) {
      Matrix2d W = contact_W_[j].bottomRightCorner(2, 2);
      W(0, 0) += problem_.contact_compliance[first + 1];
      W(1, 1) += problem_.contact_compliance[first + 2];
      local.omega_T = Eigen::SelfAdjointEigenSolver<Matrix2d>(W).eigenvalues()[1];
    }
    // Rows of zeros are moved by nothing: their unit does not matter.
    if (!(local.omega_N > 0)) local.omega_N = 1;
    if (!(local.omega_T > 0)) local.omega_T = local.omega_N;
    const double root_N = std::sqrt(local.omega_N),
                 root_T = num_rows > 1 ? std::sqrt(local.omega_T) : 1;
    local.mu = num_rows > 1 ? problem_.mu[j] * root_T / root_N : 0;
    double background = 0;
    for (int k = 0; k < num_rows; ++k) {
      const double root = k == 0 ? root_N : root_T, bias = problem_.contact_bias[first + k];
      const double c = problem_.contact_compliance[first + k], r = solution_.r[first + k];
      local.r[k] = r * root;
      local.u[k] = (times_w(problem_.contacts, j, k) + c * r + bias) / root;
      local.rounding +=
          (at(rounding_.contact_rows, first + k) + kUlps * (std::abs(bias) + c * std::abs(r))) /
          root;
      const double m = possible_velocity(problem_.contacts, j, k, bias) / root;
      background += m * m;
    }
    local.rounding += kUlps * local.r.norm();
    local.background = std::min(std::sqrt(background), cap_);
    return local;
  }

  /// ‖r' − P_K'(r' − û')‖. The projection of z onto K' = {β ∈ μ'ν·B} is found along the one
  /// parameter ν: for given ν the nearest β is known, and ½ dist² has the slope ν − z_N − (z_T −
  /// β)·β/ν, which increases.
  static double natural_map(const Local& local, const FrictionSection& section, int num_tangents) {
    const Vector2d slip = local.u.tail<2>();
    Vector3d z = local.r - local.u;
    z[0] -= local.mu * section_support(section, num_tangents, -slip);
    const Vector2d z_T = z.tail<2>();
    const auto tangential = [&](double normal) {
      return nearest_in_section(section, num_tangents, local.mu * normal, z_T);
    };
    // The slope is positive beyond, since ‖β‖ ≤ μ'ν times the section's radius.
    double low = 0, high = std::max(0.0, z[0]) +
                           local.mu * section_radius(section, num_tangents) * z_T.norm();
    // Below, the apex is nearest; polygons of a size whose square is no number have no edges.
    const double smallest = 1e-30 * z.norm();
    while (high > smallest) {
      const double middle = 0.5 * (low + high);
      if (!(middle > low && middle < high)) break;
      const Vector2d beta = tangential(middle);
      const double slope = middle - z[0] - (z_T - beta).dot(beta) / middle;
      (slope < 0 ? low : high) = middle;
    }
    if (high <= smallest) return local.r.norm();
    Vector3d nearest;
    nearest[0] = high;
    nearest.tail<2>() = tangential(high);
    return (local.r - nearest).norm();
  }

  void judge_contacts() {
    const int n = problem_.num_contacts();
    std::vector<Local> locals;
    double total = 0, background = 0;
    for (int j = 0; j < n; ++j) {
      locals.push_back(look_at(j));
      if (!counts(problem_.contacts, j)) continue;
      raise(total, total + locals.back().r.norm());
      raise(background, locals.back().background);
    }
    const double scale = std::min(total, cap_) + kBackground * background;
    for (int j = 0; j < n; ++j)
      if (counts(problem_.contacts, j)) judge_contact(j, locals[j], scale);
  }

  /// With ε the natural map's value there are y ∈ K*, x ∈ K, x ⊥ y with û' = y + ε, r' = x + ε
  /// (Moreau's decomposition of r' − û'). Hence
  ///   dist(r', K) ≤ ‖ε‖, and β' is off the section of ν' by at most √(1 + (ρμ')²) times that,
  ///   −u'_N ≤ (1 + ρμ')‖ε‖ and min(ν', u'_N) ≤ (1 + ρμ')‖ε‖, since y_N = μ'σ(−y_T) where x_N > 0,
  ///     and σ has the Lipschitz constant ρ = max {‖b‖ : b ∈ B}, √2 for the box,
  ///   ‖β' − P(β' − u'_T)‖ ≤ (3 + ρμ')‖ε‖, P onto μ'ν'·B: zero for (x_T, y_T, μ'x_N), and β', u'_T
  ///     and the section differ from these by ε, ε and ρμ'ε.
  void judge_contact(int j, const Local& local, double scale) {
    const int num_tangents = problem_.contacts.num_rows(j) - 1;
    const FrictionSection& section = problem_.section[j];
    const auto where = [&] { return names_.contact(j); };
    const double slack = local.rounding;
    const double reach = section_radius(section, num_tangents) * local.mu;
    const Vector2d beta = local.r.tail<2>(), slip = local.u.tail<2>();
    const double normal = local.r[0], radius = local.mu * std::max(0.0, normal);

    const double outside =
        std::hypot(std::min(0.0, normal),
                   (beta - nearest_in_section(section, num_tangents, radius, beta)).norm());
    hold(Law::kCones, {outside / std::hypot(1.0, reach), kUlps * local.r.norm(), scale}, where);

    const double closing = std::max(-local.u[0], std::min(normal, local.u[0])) / (1 + reach);
    hold(Law::kComplementarity, {closing, slack, scale}, where);

    if (num_tangents > 0) {
      const double lack =
          (beta - nearest_in_section(section, num_tangents, radius, beta - slip)).norm() /
          (3 + reach);
      hold(Law::kDissipation, {lack, slack, scale}, where);
    }
    const double natural = natural_map(local, section, num_tangents);
    const double search = kUlps * local.r.norm();
    raise(bounds_.cone_low, relative(natural, (3 + reach) * slack + search, scale));
    raise(bounds_.cone_high, scale > 0 ? (natural + (3 + reach) * slack + search) / scale : 0);
  }

  const StepProblem& problem_;
  const StepSolution& solution_;
  const ProblemRounding& rounding_;
  double tolerance_;
  const ProblemNames& names_;
  AuditReport& report_;
  std::vector<char> is_left_out_;  // per block
  ResidualBounds bounds_;
  std::vector<Block> blocks_;
  std::vector<double> row_omega_;
  std::vector<MatrixXd> contact_W_;
  double load_ = 0, data_ = 0, cap_ = kInfinity;
};

/// Whether a block belongs to an island of which nothing has a velocity.
std::vector<char> find_resting(const StepProblem& problem, const StepSolution& solution) {
  DisjointSets islands;
  islands.reset(problem.num_blocks());
  const auto join = [&](const BlockRows& rows, int row_block) {
    for (int e = rows.entry_start(row_block) + 1; e < rows.entry_start(row_block + 1); ++e)
      islands.join(rows.entry_block(e - 1), rows.entry_block(e));
  };
  for (int i = 0; i < problem.num_bilateral(); ++i) join(problem.bilateral, i);
  for (int j = 0; j < problem.num_contacts(); ++j) join(problem.contacts, j);
  std::vector<char> rests(problem.num_blocks(), 1);
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const double* w = solution.w.data() + problem.dof_start[b];
    if (std::any_of(w, w + problem.block_size(b), [](double x) { return x != 0; }))
      rests[islands.root(b)] = 0;
  }
  for (int b = 0; b < problem.num_blocks(); ++b) rests[b] = rests[islands.root(b)];
  return rests;
}

}  // namespace

ResidualBounds check_problem_laws(const StepProblem& problem, const StepSolution& solution,
                                  const ProblemRounding& rounding, double tolerance,
                                  const ProblemNames& names, AuditReport& report) {
  ResidualBounds bounds = Judge(problem, solution, rounding, tolerance, names, report).judge();
  const std::vector<char> rests = find_resting(problem, solution);
  const bool some_rest = std::count(rests.begin(), rests.end(), 1) > 0;
  if (!some_rest || problem.coupling.num_rows() > 0) return bounds;
  // Without the impulses of what rests, errors of what moves are larger beside their scale.
  AuditReport unused;
  Judge moving(problem, solution, rounding, tolerance, names, unused);
  moving.leave_out(rests);
  const ResidualBounds alone = moving.judge();
  raise(bounds.momentum_high, alone.momentum_high);
  raise(bounds.bilateral_high, alone.bilateral_high);
  raise(bounds.cone_high, alone.cone_high);
  return bounds;
}

}  // namespace stiction
