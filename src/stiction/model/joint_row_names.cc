// What joints, their rows and their coordinates are called, and how many rows each type has.
#include <array>

#include "stiction/base/check.h"
#include "stiction/model/joint_geometry.h"

namespace stiction {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 3> kPoint{"x", "y", "z"};
constexpr std::array<std::string_view, 5> kHingeRows{"x", "y", "z", "tilt x", "tilt y"};
constexpr std::array<std::string_view, 5> kSliderRows{"x", "y", "turn x", "turn y", "turn z"};
constexpr std::array<std::string_view, 5> kScrewRows{"x", "y", "tilt x", "tilt y", "advance"};
constexpr std::array<std::string_view, 4> kUniversalRows{"x", "y", "z", "skew"};
constexpr std::array<std::string_view, 6> kFixedRows{"x", "y", "z", "turn x", "turn y", "turn z"};
constexpr std::array<std::string_view, 1> kDistanceRows{"length"};
constexpr std::array<std::string_view, 3> kPlanarRows{"z", "tilt x", "tilt y"};
constexpr std::array<std::string_view, 1> kRollingRows{"height"};
constexpr std::array<std::string_view, 2> kRollingVelocityRows{"roll x", "roll y"};
constexpr std::array<std::string_view, 1> kKnifeEdgeVelocityRows{"sideways"};

// In the order of the enumerations.
constexpr std::array<std::string_view, kNumJointTypes> kTypes{
    "ball",     "hinge",  "slider", "cylindrical",  "universal",    "fixed",
    "distance", "planar", "screw",  "rolling-disc", "rolling-ball", "knife-edge"};
constexpr std::array<std::string_view, 7> kCoordinates{"angle",  "slide",  "angle x", "angle y",
                                                       "turn x", "turn y", "turn z"};

}  // namespace

std::string_view name_of(JointType type) { return kTypes[static_cast<std::size_t>(type)]; }

std::string_view name_of(JointCoordinate coordinate) {
  return kCoordinates[static_cast<std::size_t>(coordinate)];
}

std::span<const std::string_view> constraint_row_names(JointType type) {
  switch (type) {
    case JointType::kBall:
      return kPoint;
    case JointType::kHinge:
      return kHingeRows;
    case JointType::kSlider:
      return kSliderRows;
    case JointType::kCylindrical:
      return Names(kScrewRows).first(4);
    case JointType::kUniversal:
      return kUniversalRows;
    case JointType::kFixed:
      return kFixedRows;
    case JointType::kDistance:
      return kDistanceRows;
    case JointType::kPlanar:
      return kPlanarRows;
    case JointType::kScrew:
      return kScrewRows;
    case JointType::kRollingDisc:
    case JointType::kRollingBall:
      return kRollingRows;
    case JointType::kKnifeEdge:
      return {};
  }
  demand_failed("a joint type of the list", __FILE__, __LINE__);
}

std::span<const std::string_view> velocity_row_names(JointType type) {
  switch (type) {
    case JointType::kRollingDisc:
    case JointType::kRollingBall:
      return kRollingVelocityRows;
    case JointType::kKnifeEdge:
      return kKnifeEdgeVelocityRows;
    default:
      return {};
  }
}

int num_velocity_rows(JointType type) { return static_cast<int>(velocity_row_names(type).size()); }

}  // namespace stiction
