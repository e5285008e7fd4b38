#include "bench/peers/mujoco_model.h"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

namespace stiction::bench {

// MuJoCo reads from files, real ones or those of its virtual file system.
MujocoModel load_mujoco_model(const std::string& text) {
  // By default a warning is appended to a file in the working directory.
  mju_user_warning = [](const char*) {};
  const auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
  mj_makeEmptyFileVFS(files.get(), "model.xml", static_cast<int>(text.size()));
  std::memcpy(files->filedata[mj_findFileVFS(files.get(), "model.xml")], text.data(), text.size());
  char error[1000] = "";
  MujocoModel model(mj_loadXML("model.xml", files.get(), error, sizeof error));
  mj_deleteVFS(files.get());
  if (!model) throw std::runtime_error(std::string("MuJoCo: ") + error);
  return model;
}

bool has_been_reset(const mjData& data) {
  return data.warning[mjWARN_BADQPOS].number + data.warning[mjWARN_BADQVEL].number +
             data.warning[mjWARN_BADQACC].number >
         0;
}

BodyState read_state(const mjModel& model, const mjData& data, int body) {
  const mjtNum* q = data.xquat + 4 * body;
  mjtNum velocity[6];  // angular, linear, of the centre of mass, in world axes
  mj_objectVelocity(&model, &data, mjOBJ_BODY, body, velocity, 0);
  return {Eigen::Vector3d::Map(data.xipos + 3 * body), Eigen::Quaterniond(q[0], q[1], q[2], q[3]),
          Eigen::Vector3d::Map(velocity + 3), Eigen::Vector3d::Map(velocity)};
}

std::string format_vector(const Eigen::Vector3d& v) {
  return fmt::format("{:.17g} {:.17g} {:.17g}", v.x(), v.y(), v.z());
}

}  // namespace stiction::bench
