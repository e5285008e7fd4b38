#include "stiction/view/gltf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "stiction/base/base64.h"
#include "stiction/base/error.h"
#include "stiction/base/version.h"
#include "stiction/view/surface_mesh.h"

namespace stiction {
namespace {

using Eigen::Quaterniond;
using Eigen::Vector3f;
using nlohmann::json;

// Numbers of the glTF 2.0 specification, section 3.6.
constexpr int kFloat = 5126, kUnsignedInt = 5125, kArrayBuffer = 34962, kIndexBuffer = 34963;
/// Side of the square that stands for a plane [m].
constexpr double kPlaneSize = 20;

json to_json(const Eigen::Vector3d& v) { return {v[0], v[1], v[2]}; }
json to_json(const Quaterniond& turn) { return {turn.x(), turn.y(), turn.z(), turn.w()}; }

class GltfWriter {
 public:
  explicit GltfWriter(const ViewedRecording& recording)
      : recording_(recording), picture_(recording.picture()) {}

  json write() {
    document_["asset"] = {{"version", "2.0"}, {"generator", fmt::format("stiction {}", version())}};
    document_["scene"] = 0;
    document_["scenes"] = json::array({{{"nodes", json::array({0})}}});
    add_nodes();
    add_animation();
    return std::move(document_);
  }
  const std::string& data() const { return data_; }

 private:
  int add_accessor(const void* values, std::size_t count, std::size_t size, json accessor,
                   int target) {
    json view = {{"buffer", 0}, {"byteOffset", data_.size()}, {"byteLength", count * size}};
    if (target != 0) view["target"] = target;
    data_.append(static_cast<const char*>(values), count * size);  // all sizes are multiples of 4
    document_["bufferViews"].push_back(std::move(view));
    accessor["bufferView"] = document_["bufferViews"].size() - 1;
    accessor["count"] = count;
    document_["accessors"].push_back(std::move(accessor));
    return static_cast<int>(document_["accessors"].size()) - 1;
  }

  int add_vectors(const std::vector<Vector3f>& values, bool has_bounds, int target) {
    json accessor = {{"componentType", kFloat}, {"type", "VEC3"}};
    if (has_bounds) {
      Vector3f low = values.front(), high = values.front();
      for (const Vector3f& value : values) {
        low = low.cwiseMin(value);
        high = high.cwiseMax(value);
      }
      accessor["min"] = {low[0], low[1], low[2]};
      accessor["max"] = {high[0], high[1], high[2]};
    }
    return add_accessor(values.data(), values.size(), sizeof(Vector3f), std::move(accessor),
                        target);
  }

  int add_material(const Vector3f& color) {
    const std::array<float, 3> key{color[0], color[1], color[2]};
    if (const auto found = materials_.find(key); found != materials_.end()) return found->second;
    // glTF's colours are linear; ours are as screens show them.
    json linear = json::array();
    for (const float c : key)
      linear.push_back(c <= 0.04045F ? c / 12.92F : std::pow((c + 0.055F) / 1.055F, 2.4F));
    linear.push_back(1);
    document_["materials"].push_back(
        {{"pbrMetallicRoughness",
          {{"baseColorFactor", linear}, {"metallicFactor", 0}, {"roughnessFactor", 0.8}}}});
    return materials_[key] = static_cast<int>(document_["materials"].size()) - 1;
  }

  /// Accessors of a geometry, made once.
  json attributes_of(int geometry) {
    if (const auto found = geometries_.find(geometry); found != geometries_.end())
      return found->second;
    const SurfaceMesh mesh =
        make_surface_mesh(picture_.geometries()[static_cast<std::size_t>(geometry)], kPlaneSize);
    json primitive;
    if (!mesh.vertices.empty()) {
      primitive["attributes"] = {{"POSITION", add_vectors(mesh.vertices, true, kArrayBuffer)},
                                 {"NORMAL", add_vectors(mesh.normals, false, kArrayBuffer)}};
      primitive["indices"] =
          add_accessor(mesh.indices.data(), mesh.indices.size(), sizeof(std::uint32_t),
                       {{"componentType", kUnsignedInt}, {"type", "SCALAR"}}, kIndexBuffer);
    }
    return geometries_[geometry] = primitive;
  }

  int add_mesh(const PictureShape& shape) {
    const auto& frame = picture_.frames()[static_cast<std::size_t>(shape.frame)];
    const int material = add_material(color_of(shape, frame));
    const std::pair key{shape.geometry, material};
    if (const auto found = meshes_.find(key); found != meshes_.end()) return found->second;
    json primitive = attributes_of(shape.geometry);
    if (primitive.is_null()) return meshes_[key] = -1;
    primitive["material"] = material;
    document_["meshes"].push_back({{"primitives", json::array({std::move(primitive)})}});
    return meshes_[key] = static_cast<int>(document_["meshes"].size()) - 1;
  }

  /// Node 0 is the root, node 1 + i frame i, then shapes.
  void add_nodes() {
    const std::size_t num_frames = picture_.frames().size();
    std::vector<json> nodes(1 + num_frames);
    const Quaterniond to_y = Quaterniond::FromTwoVectors(picture_.up(), Eigen::Vector3d::UnitY());
    nodes[0] = {{"name", recording_.file().description().name}, {"rotation", to_json(to_y)}};
    for (std::size_t i = 0; i < num_frames; ++i) {
      const PictureFrame& frame = picture_.frames()[i];
      nodes[1 + i] = {{"name", frame.name},
                      {"translation", to_json(frame.position)},
                      {"rotation", to_json(frame.orientation)}};
      nodes[0]["children"].push_back(1 + i);
    }
    for (const PictureShape& shape : picture_.shapes()) {
      const int mesh = add_mesh(shape);
      if (mesh < 0) continue;
      nodes[1 + static_cast<std::size_t>(shape.frame)]["children"].push_back(nodes.size());
      nodes.push_back({{"mesh", mesh},
                       {"translation", to_json(shape.pose.position)},
                       {"rotation", to_json(Quaterniond(shape.pose.rotation).normalized())}});
    }
    document_["nodes"] = std::move(nodes);
  }

  void add_channel(std::size_t frame, const char* path, int times, int values) {
    json& animation = document_["animations"][0];
    animation["samplers"].push_back({{"input", times}, {"output", values}});
    animation["channels"].push_back({{"sampler", animation["samplers"].size() - 1},
                                     {"target", {{"node", 1 + frame}, {"path", path}}}});
  }

  void add_animation() {
    const std::int64_t rows = recording_.num_rows();
    if (rows < 2 || picture_.num_poses() == 0) return;
    const DrawnPoses drawn = recording_.draw_poses(0, rows);
    check_finite(drawn);
    std::vector<float> times(drawn.time.begin(), drawn.time.end());
    // Single precision may make neighbours equal, which glTF does not allow.
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < times.size(); ++i)
      if (kept.empty() || times[i] > times[kept.back()]) kept.push_back(i);
    std::vector<float> input;
    for (const std::size_t i : kept) input.push_back(times[i] - times[kept.front()]);
    document_["animations"] = json::array({{{"name", "recording"}}});
    const int time = add_accessor(input.data(), input.size(), sizeof(float),
                                  {{"componentType", kFloat},
                                   {"type", "SCALAR"},
                                   {"min", {input.front()}},
                                   {"max", {input.back()}}},
                                  0);
    for (std::size_t i = 0; i < picture_.frames().size(); ++i)
      if (picture_.frames()[i].pose >= 0) animate(i, time, kept, drawn);
  }

  /// Viewers refuse a file with numbers that are none, most of them without saying why.
  void check_finite(const DrawnPoses& drawn) const {
    const auto is_bad = [](auto x) { return !std::isfinite(x); };
    const auto num_poses = static_cast<std::size_t>(picture_.num_poses());
    for (std::size_t row = 0; row < drawn.time.size(); ++row) {
      const auto pose = drawn.poses.begin() + static_cast<std::ptrdiff_t>(7 * num_poses * row);
      if (is_bad(drawn.time[row]) ||
          std::any_of(pose, pose + static_cast<std::ptrdiff_t>(7 * num_poses), is_bad))
        throw InputError(
            fmt::format("{}: a pose at t = {} s is not finite (or beyond single precision), and "
                        "glTF has no such numbers",
                        recording_.file().description().path, drawn.time[row]));
    }
    if (std::any_of(drawn.lengths.begin(), drawn.lengths.end(), is_bad))
      throw InputError(fmt::format("{}: a length of its picture is not finite",
                                   recording_.file().description().path));
  }

  void animate(std::size_t frame, int time, const std::vector<std::size_t>& rows,
               const DrawnPoses& drawn) {
    const PictureFrame& info = picture_.frames()[frame];
    std::vector<Vector3f> positions, scales;
    std::vector<Eigen::Vector4f> turns;
    for (const std::size_t row : rows) {
      const auto num_poses = static_cast<std::size_t>(picture_.num_poses());
      const float* pose = &drawn.poses[7 * (row * num_poses + static_cast<std::size_t>(info.pose))];
      positions.emplace_back(pose[0], pose[1], pose[2]);
      Eigen::Vector4f turn(pose[4], pose[5], pose[6], pose[3]);
      turn.normalize();
      // The sign that is nearer to the one before: viewers interpolate.
      if (!turns.empty() && turn.dot(turns.back()) < 0) turn = -turn;
      turns.push_back(turn);
      if (info.link >= 0)
        scales.emplace_back(1.0F, 1.0F,
                            drawn.lengths[row * static_cast<std::size_t>(picture_.num_links()) +
                                          static_cast<std::size_t>(info.link)]);
    }
    add_channel(frame, "translation", time, add_vectors(positions, false, 0));
    add_channel(frame, "rotation", time,
                add_accessor(turns.data(), turns.size(), sizeof(Eigen::Vector4f),
                             {{"componentType", kFloat}, {"type", "VEC4"}}, 0));
    if (!scales.empty()) add_channel(frame, "scale", time, add_vectors(scales, false, 0));
  }

  const ViewedRecording& recording_;
  const Picture& picture_;
  json document_ = {{"bufferViews", json::array()}, {"accessors", json::array()}};
  std::string data_;
  std::map<std::array<float, 3>, int> materials_;
  std::map<int, json> geometries_;
  std::map<std::pair<int, int>, int> meshes_;
};

void append_number(std::string& out, std::size_t value) {
  const auto number = static_cast<std::uint32_t>(value);
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// The binary container: a header, the JSON and the data, each padded to four bytes.
std::string make_container(std::string text, std::string data) {
  text.append((4 - text.size() % 4) % 4, ' ');
  data.append((4 - data.size() % 4) % 4, '\0');
  std::string out = "glTF";
  append_number(out, 2);
  append_number(out, 12 + 8 + text.size() + 8 + data.size());
  append_number(out, text.size());
  out += "JSON" + text;
  append_number(out, data.size());
  out.append("BIN\0", 4);
  return out + data;
}

}  // namespace

std::string make_gltf(const ViewedRecording& recording, bool is_binary) {
  const Picture& picture = recording.picture();
  const std::string& path = recording.file().description().path;
  if (!picture.fault().empty())
    throw InputError(fmt::format("{}: its scene cannot be read: {}", path, picture.fault()));
  if (picture.shapes().empty())
    throw InputError(fmt::format("{}: the scene has nothing to draw", path));
  GltfWriter writer(recording);
  json document = writer.write();
  json buffer = {{"byteLength", writer.data().size()}};
  if (!is_binary)
    buffer["uri"] = "data:application/octet-stream;base64," + to_base64(writer.data());
  document["buffers"] = json::array({std::move(buffer)});
  std::string text = document.dump(-1, ' ', false, json::error_handler_t::replace);
  return is_binary ? make_container(std::move(text), writer.data()) : text;
}

}  // namespace stiction
