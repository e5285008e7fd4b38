// Models and data of MuJoCo that clean up after themselves.
#pragma once

#include <mujoco/mujoco.h>

#include <Eigen/Core>
#include <memory>
#include <string>

#include "bench/peers/body_state.h"

namespace stiction::bench {

struct MujocoModelDeleter {
  void operator()(mjModel* model) const { mj_deleteModel(model); }
};
struct MujocoDataDeleter {
  void operator()(mjData* data) const { mj_deleteData(data); }
};
using MujocoModel = std::unique_ptr<mjModel, MujocoModelDeleter>;
using MujocoData = std::unique_ptr<mjData, MujocoDataDeleter>;

/// From the text of an MJCF document. Throws std::runtime_error with what MuJoCo says.
MujocoModel load_mujoco_model(const std::string& text);

/// Whether MuJoCo has put everything back to the start since a number became too large.
bool has_been_reset(const mjData& data);

/// After mj_comVel.
BodyState read_state(const mjModel& model, const mjData& data, int body);

/// "x y z" with all digits.
std::string format_vector(const Eigen::Vector3d& v);

}  // namespace stiction::bench
