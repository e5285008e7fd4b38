#include "tests/solve/saddle_ldlt_problems.h"

#include <Eigen/Geometry>
#include <cmath>

namespace stiction::testing {

int MechanismMaker::add_body(const Vector& position) {
  const int body = problem_.num_blocks();
  const double mass = body % 2 == 0 ? 1 : options_.mass_ratio;
  RowMatrixMap block = problem_.add_mass_block(6);
  Eigen::Matrix3d factor;
  for (double& x : factor.reshaped()) x = 0.1 * random_.normal();
  block.topLeftCorner<3, 3>() = mass * Eigen::Matrix3d::Identity();
  block.bottomRightCorner<3, 3>() =
      mass * (0.1 * Eigen::Matrix3d::Identity() + factor * factor.transpose());
  for (double& p : problem_.block_p(body)) p = mass * 0.1 * random_.normal();
  problem_.p[problem_.dof_start[body] + 2] -= 0.0981 * mass;
  position_.push_back(position + jitter());
  return body;
}

void MechanismMaker::add_joint(int a, int b, const Vector& ground) {
  const Vector at = (position_[a] + (b < 0 ? ground : position_[b])) / 2 + jitter();
  for (int i = 0; i < options_.rows_per_joint; ++i) {
    problem_.add_bilateral_row({.compliance = options_.compliance});
    append_axis(a, at, i, 1);
    if (b >= 0) append_axis(b, at, i, -1);
  }
}

void MechanismMaker::add_contact(int upper, int lower, const Vector& at) {
  problem_.add_contact({.num_tangents = options_.num_tangents,
                        .mu = options_.mu,
                        .section = {},
                        .key = static_cast<std::uint64_t>(problem_.num_contacts())});
  const Vector axes[3] = {Vector::UnitZ(), Vector::UnitX(), Vector::UnitY()};
  const auto append = [&](int body, double sign) {
    RowMatrixMap piece = problem_.contacts.add_entry(body, 6);
    for (int i = 0; i <= options_.num_tangents; ++i)
      piece.row(i) << sign * axes[i].transpose(),
          sign * (at - position_[body]).cross(axes[i]).transpose();
  };
  append(upper, 1);
  if (lower >= 0) append(lower, -1);
}

MechanismMaker::Vector MechanismMaker::jitter() {
  Vector result;
  for (double& x : result) x = options_.jitter * (random_.uniform() - 0.5);
  return result;
}

void MechanismMaker::append_axis(int body, const Vector& at, int row, double sign) {
  RowMatrixMap piece = problem_.bilateral.add_entry(body, 6);
  const Vector axis = Vector::Unit(row % 3);
  if (row < 3)
    piece.row(0) << sign * axis.transpose(), sign * (at - position_[body]).cross(axis).transpose();
  else
    piece.row(0).tail<3>() = sign * axis.transpose();
}

StepProblem make_chain(int num_bodies, const MechanismOptions& options) {
  MechanismMaker maker(options);
  for (int i = 0; i < num_bodies; ++i) {
    maker.add_body({static_cast<double>(i + 1), 0, 0});
    maker.add_joint(i, i - 1);
  }
  return maker.problem();
}

StepProblem make_tree(int num_bodies, int arity, const MechanismOptions& options) {
  MechanismMaker maker(options);
  for (int i = 0; i < num_bodies; ++i) {
    maker.add_body({static_cast<double>(i % 17), i / 17.0, 1});
    maker.add_joint(i, i == 0 ? -1 : (i - 1) / arity);
  }
  return maker.problem();
}

StepProblem make_net(int nx, int ny, const MechanismOptions& options) {
  MechanismMaker maker(options);
  for (int y = 0; y < ny; ++y)
    for (int x = 0; x < nx; ++x) {
      const int body = maker.add_body({static_cast<double>(x), static_cast<double>(y), 0});
      if (body == 0) maker.add_joint(body, -1);
      if (x > 0) maker.add_joint(body, body - 1);
      if (y > 0) maker.add_joint(body, body - nx);
    }
  return maker.problem();
}

StepProblem make_wall(int nx, int ny, const MechanismOptions& options) {
  MechanismMaker maker(options);
  for (int y = 0; y < ny; ++y)
    for (int x = 0; x < nx; ++x) {
      const double left = 2 * x + (y % 2), bottom = y;
      const int brick = maker.add_body({left + 1, 0.5, bottom + 0.5});
      for (const double depth : {0.0, 1.0})
        for (int half = 0; half < 2; ++half) {
          // Courses are offset by half a brick: each half lies on another brick.
          const int below = y % 2 == 0 ? x - 1 + half : x + half;
          const bool is_over = y > 0 && below >= 0 && below < nx;
          if (y > 0 && !is_over) continue;
          const int lower = y == 0 ? -1 : (y - 1) * nx + below;
          for (const double along : {0.1, 0.9})
            maker.add_contact(brick, lower, {left + half + along, depth, bottom});
        }
    }
  return maker.problem();
}

StepProblem make_star(int num_bodies, const MechanismOptions& options) {
  MechanismMaker maker(options);
  maker.add_body({0, 0, 0});
  maker.add_joint(0, -1);
  for (int i = 1; i < num_bodies; ++i) {
    maker.add_body({std::cos(i), std::sin(i), 1});
    maker.add_joint(i, 0);
  }
  return maker.problem();
}

}  // namespace stiction::testing
