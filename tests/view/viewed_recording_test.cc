// Resources of a recording against the recording itself.
#include "stiction/view/viewed_recording.h"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "stiction/record/recording_observer.h"
#include "stiction/sim/simulation.h"
#include "tests/base/temporary_folder.h"
#include "tests/example_scene.h"

namespace stiction {
namespace {

using nlohmann::json;

/// A short run of an example, recorded.
std::string record(const TemporaryFolder& folder, const std::string& name, double duration) {
  const Scene scene = testing::example_scene(name);
  Simulation simulation(scene.model, {.scheme = scene.simulate.scheme,
                                      .solver = scene.simulate.solver,
                                      .h = scene.simulate.h,
                                      .friction = scene.simulate.friction,
                                      .penetration_tolerance = 1e-3});
  RecordingObserver observer(folder.file(name + ".h5"), simulation, scene.name, scene.text, 1);
  simulation.add_observer(observer);
  simulation.run(duration);
  observer.close(simulation, "complete");
  return folder.file(name + ".h5");
}

/// An array of a binary message.
template <class T>
std::vector<T> array_of(const std::string& bytes, const std::string& name) {
  std::uint32_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof size);
  const json directory = json::parse(bytes.substr(sizeof size, size));
  for (const json& entry : directory) {
    if (entry.at("name") != name) continue;
    std::vector<T> values(entry.at("count").get<std::size_t>());
    const std::size_t offset = sizeof size + size + entry.at("offset").get<std::size_t>();
    EXPECT_EQ(offset % 8, 0u) << "the page could not look at it in place";
    if (!values.empty())
      std::memcpy(values.data(), bytes.data() + offset, values.size() * sizeof(T));
    return values;
  }
  ADD_FAILURE() << "no array " << name;
  return {};
}

TEST(ViewedRecording, SeriesAreTheRecordedColumnsBitByBit) {
  const TemporaryFolder folder;
  const std::string path = record(folder, "dominoes", 0.05);
  const Recording recording = read_recording(path);
  ViewedRecording viewed(path);
  const json header = json::parse(viewed.find("header.json")->bytes);
  for (std::size_t i = 0; i < header.at("series").size(); i += 17) {
    const std::string name = header["series"][i].at("name");
    const auto found = std::find(recording.q_names.begin(), recording.q_names.end(), name);
    if (found == recording.q_names.end()) continue;
    const auto values =
        array_of<double>(viewed.find("series/" + std::to_string(i))->bytes, "values");
    ASSERT_EQ(values.size(), recording.time.size());
    for (std::size_t k = 0; k < values.size(); ++k)
      EXPECT_EQ(values[k],
                recording.q(static_cast<Eigen::Index>(k), found - recording.q_names.begin()));
  }
}

/// Σ over the contacts of a row of what acts on a body is m (v⁺ − v) + m g h: the
/// friction vectors and normals that are drawn are those of the step.
TEST(ViewedRecording, DrawnImpulsesChangeTheMomentum) {
  const TemporaryFolder folder;
  const std::string path = record(folder, "dominoes", 0.05);
  const Recording recording = read_recording(path);
  ViewedRecording viewed(path);
  const json header = json::parse(viewed.find("header.json")->bytes);
  const std::string bytes = viewed.find("contacts/0")->bytes;
  const auto start = array_of<std::uint32_t>(bytes, "start");
  const auto a = array_of<std::int32_t>(bytes, "a"), b = array_of<std::int32_t>(bytes, "b");
  const auto normal = array_of<float>(bytes, "normal"),
             friction = array_of<float>(bytes, "friction");
  const auto impulse = array_of<float>(bytes, "impulse"), mu = array_of<float>(bytes, "mu");
  ASSERT_GT(start.back(), 0u);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Eigen::Vector3f n(normal[3 * i], normal[3 * i + 1], normal[3 * i + 2]);
    const Eigen::Vector3f t(friction[3 * i], friction[3 * i + 1], friction[3 * i + 2]);
    const float r_n = impulse[3 * i], r_t = std::hypot(impulse[3 * i + 1], impulse[3 * i + 2]);
    EXPECT_NEAR(t.norm(), r_t, 1e-6 * r_n);
    EXPECT_NEAR(t.dot(n), 0, 1e-6 * r_n);
    EXPECT_LE(r_t, mu[i] * r_n * 1.00001f);
  }
  const json& frames = header.at("frames");
  for (std::size_t body = 0; body < frames.size(); ++body) {
    if (frames[body].at("kind") != "dynamic") continue;
    const double mass = frames[body].at("mass");
    const std::string name = frames[body].at("name");
    const auto column =
        std::find(recording.v_names.begin(), recording.v_names.end(), name + ".vx") -
        recording.v_names.begin();
    const Eigen::Vector3d g(header["gravity"][0], header["gravity"][1], header["gravity"][2]);
    for (std::size_t row = 1; row + 1 < start.size() && row < 20; ++row) {
      Eigen::Vector3d sum = Eigen::Vector3d::Zero();
      double size = 0;
      for (std::size_t i = start[row]; i < start[row + 1]; ++i)
        for (int k = 0; k < 3; ++k) {
          const double part = impulse[3 * i] * normal[3 * i + k] + friction[3 * i + k];
          if (a[i] == static_cast<int>(body)) sum[k] += part;
          if (b[i] == static_cast<int>(body)) sum[k] -= part;
          size += std::abs(part);
        }
      const auto k = static_cast<Eigen::Index>(row);
      const double h = recording.time[row] - recording.time[row - 1];
      const Eigen::Vector3d change =
          mass *
          ((recording.v.row(k) - recording.v.row(k - 1)).segment<3>(column).transpose() - h * g);
      // Single precision on the way.
      EXPECT_LE((sum - change).norm(), 1e-5 * (size + mass * h * g.norm()))
          << name << ", row " << row;
    }
  }
}

TEST(ViewedRecording, UnknownNamesAreNothing) {
  const TemporaryFolder folder;
  ViewedRecording viewed(record(folder, "woodpecker", 0.01));
  for (const std::string name : {"", "header", "poses/", "poses/1x", "poses/-1", "poses/9999",
                                 "series/99999", "../header.json", "poses/99999999999999999999"})
    EXPECT_FALSE(viewed.find(name).has_value()) << name;
  for (const std::string& name : viewed.names()) EXPECT_TRUE(viewed.find(name).has_value()) << name;
}

TEST(ViewedRecording, FewerRowsAreEveryNth) {
  const TemporaryFolder folder;
  const std::string path = record(folder, "woodpecker", 0.02);
  const Recording recording = read_recording(path);
  ViewedRecording viewed(path, {.stride = 7});
  const auto time = array_of<double>(viewed.find("series/0")->bytes, "values");
  ASSERT_EQ(static_cast<std::int64_t>(time.size()), viewed.num_rows());
  const auto of_poses = array_of<double>(viewed.find("poses/0")->bytes, "time");
  for (std::size_t i = 0; i < time.size(); ++i) {
    EXPECT_EQ(time[i], recording.time[7 * i]);
    EXPECT_EQ(of_poses[i], time[i]);
  }
  const auto start = array_of<std::uint32_t>(viewed.find("contacts/0")->bytes, "start");
  for (std::size_t i = 0; i + 1 < start.size(); ++i)
    EXPECT_EQ(start[i + 1] - start[i],
              recording.contacts.row_start[7 * i + 1] - recording.contacts.row_start[7 * i]);
}

}  // namespace
}  // namespace stiction
