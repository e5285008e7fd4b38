#include "stiction/view/viewed_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>

#include "stiction/base/error.h"
#include "stiction/view/binary_message.h"
#include "stiction/view/view_header.h"

namespace stiction {
namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kBinary = "application/octet-stream";
constexpr std::int64_t kChunkBytes = 512 << 10;  // about what one request should bring
constexpr std::int64_t kBlockRows = 1 << 16;     // read at once when a whole column is looked at

/// What can be told of the contacts of a row, all together or of a named one.
enum ContactFigure : std::int64_t {
  kCount,
  kSticking,
  kSlipping,
  kNormal,
  kFriction,
  kGap,
  kSlip,
};

std::vector<std::string> folders_of(const std::string& path, std::vector<std::string> others) {
  const std::string own = std::filesystem::path(path).parent_path().string();
  std::vector<std::string> folders{own};
  folders.insert(folders.end(), others.begin(), others.end());
  return folders;
}

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) {
    return name.size() > ending.size() && name.ends_with(ending);
  });
}

/// The unit of a column of rigid bodies, known by its ending.
std::string unit_of(std::string_view name, std::string_view group) {
  if (group == "reactions") return ends_with_any(name, {".fx", ".fy", ".fz"}) ? "N" : "N m";
  if (group == "joint impulses") return "N s";
  if (ends_with_any(name, {".x", ".y", ".z"})) return "m";
  if (ends_with_any(name, {".vx", ".vy", ".vz"})) return "m/s";
  if (ends_with_any(name, {".wx", ".wy", ".wz"})) return "rad/s";
  if (ends_with_any(name, {".angle", ".angle_x", ".angle_y"})) return "rad";
  return "";
}

std::optional<std::int64_t> number_after(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
  if (error != std::errc() || end != name.data() + name.size() || value < 0) return std::nullopt;
  return value;
}

std::vector<float> to_floats(std::span<const double> values) {
  std::vector<float> floats(values.size());
  std::transform(values.begin(), values.end(), floats.begin(),
                 [](double value) { return static_cast<float>(value); });
  return floats;
}

}  // namespace

ViewedRecording::ViewedRecording(const std::string& path, ViewOptions options)
    : file_(path),
      options_(std::move(options)),
      picture_(file_.description(), folders_of(path, options_.folders)) {
  const auto& joints = file_.description().joint_names;
  for (std::size_t i = 0; i < joints.size(); ++i)
    if (ends_with_any(joints[i], {".motor", ".friction"}))
      effort_columns_.push_back(static_cast<int>(i));
  add_series();
  const std::int64_t rows = std::max<std::int64_t>(1, file_.num_rows());
  const std::int64_t bytes = 64 + 28 * picture_.num_poses() + 80 * file_.extent().contacts / rows;
  constexpr std::int64_t kMostRows = 2048, kMostLiveRows = 128;
  rows_per_chunk_ = std::clamp<std::int64_t>(kChunkBytes / bytes, 8,
                                             options_.is_live ? kMostLiveRows : kMostRows);
  update_worst();
}

std::int64_t ViewedRecording::num_rows() const {
  return (file_.num_rows() + options_.stride - 1) / options_.stride;
}
std::int64_t ViewedRecording::num_chunks() const {
  return (num_rows() + rows_per_chunk_ - 1) / rows_per_chunk_;
}

void ViewedRecording::add_columns(const std::vector<std::string>& names, const std::string& object,
                                  const std::string& group) {
  for (std::size_t i = 0; i < names.size(); ++i)
    series_.push_back({.name = names[i],
                       .unit = unit_of(names[i], group),
                       .group = group,
                       .object = object,
                       .column = static_cast<std::int64_t>(i)});
}

void ViewedRecording::add_series() {
  const Recording& recording = file_.description();
  const auto add = [&](std::string name, std::string unit, std::string group, std::string object,
                       bool is_whole = false) {
    series_.push_back({.name = std::move(name),
                       .unit = std::move(unit),
                       .group = std::move(group),
                       .object = std::move(object),
                       .column = 0,
                       .is_whole = is_whole});
  };
  add("time", "s", "time", "time");
  for (const std::string_view name : kEnergyNames)
    add(fmt::format("energy.{}", name), "J", "energy", fmt::format("energy/{}", name));
  for (const std::string_view name : kCertificateNames)
    add(fmt::format("certificate.{}", name), name == "gap" ? "m" : "", "certificate",
        fmt::format("certificate/{}", name));
  if (options_.has_all_series) {
    add_columns(recording.q_names, "q", "coordinates");
    add_columns(recording.v_names, "v", "velocities");
  }
  const auto add_contact = [&](std::string name, std::string unit, ContactFigure figure,
                               int contact) {
    series_.push_back({.name = std::move(name),
                       .unit = std::move(unit),
                       .group = "contacts",
                       .object = "",
                       .column = figure,
                       .contact = contact});
  };
  for (std::size_t i = 0; i < recording.contact_names.size(); ++i) {
    const std::string& name = recording.contact_names[i];
    const int contact = static_cast<int>(i);
    add_contact(name + ".gap", "m", kGap, contact);
    add_contact(name + ".normal impulse", "N s", kNormal, contact);
    add_contact(name + ".friction impulse", "N s", kFriction, contact);
    add_contact(name + ".slip", "m/s", kSlip, contact);
  }
  add_contact("contacts.number", "", kCount, -1);
  add_contact("contacts.sticking", "", kSticking, -1);
  add_contact("contacts.slipping", "", kSlipping, -1);
  add_contact("contacts.normal impulse", "N s", kNormal, -1);
  add_contact("contacts.friction impulse", "N s", kFriction, -1);
  add_contact("contacts.smallest gap", "m", kGap, -1);
  add_contact("contacts.fastest slip", "m/s", kSlip, -1);
  if (options_.has_all_series) {
    add_columns(recording.joint_names, "joints/impulse", "joint impulses");
    add_columns(recording.reaction_names, "joints/reaction", "reactions");
  }
  add("solver.iterations", "", "solver", "solver/iterations", true);
  add("solver.wall", "s", "solver", "solver/wall");
  if (file_.has("times/detect"))
    for (const std::string_view name : kTimeNames)
      add(fmt::format("times.{}", name), "s", "solver", fmt::format("times/{}", name));
}

/// Looks at rows that were not there before. Only residuals are judged: gap and joint error are in
/// units of their own.
void ViewedRecording::update_worst() {
  constexpr int kNumResiduals = 3;
  const double tolerance = picture_.scene() ? picture_.scene()->simulate.tolerance
                                            : std::numeric_limits<double>::infinity();
  const bool has_flags = file_.has("solver/flagged");
  while (num_looked_at_ < file_.num_rows()) {
    const std::int64_t count = std::min(kBlockRows, file_.num_rows() - num_looked_at_);
    std::vector<double> largest(static_cast<std::size_t>(count), 0.0);
    for (int law = 0; law < kNumResiduals; ++law) {
      const auto values = file_.read<double>(fmt::format("certificate/{}", kCertificateNames[law]),
                                             num_looked_at_, count);
      for (std::int64_t i = 0; i < count; ++i) {
        largest[i] = std::max(largest[i], values[i]);
        // Not finite is worse than anything.
        if (values[i] > worst_.value || (!std::isfinite(values[i]) && std::isfinite(worst_.value)))
          worst_ = {num_looked_at_ + i, law, values[i]};
      }
    }
    if (has_flags)
      for (const int flagged : file_.read<int>("solver/flagged", num_looked_at_, count))
        num_above_ += flagged;
    else
      num_above_ += std::count_if(largest.begin(), largest.end(),
                                  [&](double value) { return !(value <= tolerance); });
    num_looked_at_ += count;
  }
}

std::vector<std::string> ViewedRecording::names() const {
  std::vector<std::string> names{"header.json", "extent.json", "events"};
  for (std::size_t i = 0; i < picture_.geometries().size(); ++i)
    if (has_triangles(picture_.geometries()[i])) names.push_back(fmt::format("geometry/{}", i));
  for (std::int64_t i = 0; i < num_chunks(); ++i)
    for (const char* kind : {"poses", "contacts", "joints"})
      names.push_back(fmt::format("{}/{}", kind, i));
  for (std::size_t i = 0; i < series_.size(); ++i) names.push_back(fmt::format("series/{}", i));
  return names;
}

std::optional<ViewResource> ViewedRecording::find(std::string_view name) {
  if (name == "header.json") return ViewResource{std::string(kJson), make_header()};
  if (name == "extent.json") {
    if (file_.refresh()) update_worst();
    return ViewResource{std::string(kJson), make_extent()};
  }
  if (name == "events") return ViewResource{std::string(kBinary), make_events()};
  const auto binary = [&](std::string bytes) {
    return ViewResource{std::string(kBinary), std::move(bytes)};
  };
  if (const auto i = number_after(name, "poses/"); i && *i < num_chunks())
    return binary(make_poses(*i));
  if (const auto i = number_after(name, "contacts/"); i && *i < num_chunks())
    return binary(make_contacts(*i));
  if (const auto i = number_after(name, "joints/"); i && *i < num_chunks())
    return binary(make_joints(*i));
  if (const auto i = number_after(name, "series/");
      i && *i < static_cast<std::int64_t>(series_.size()))
    return binary(make_series(static_cast<std::size_t>(*i)));
  if (const auto first = number_after(name, "series/0/"); first && *first < num_rows())
    return binary(make_times(*first));
  if (const auto i = number_after(name, "geometry/");
      i && *i < static_cast<std::int64_t>(picture_.geometries().size()) &&
      has_triangles(picture_.geometries()[static_cast<std::size_t>(*i)]))
    return binary(make_geometry(static_cast<std::size_t>(*i)));
  return std::nullopt;
}

std::string ViewedRecording::make_header() const {
  std::vector<HeaderSeries> series;
  for (const Series& one : series_) series.push_back({one.name, one.unit, one.group});
  return make_view_header(file_.description(), picture_,
                          {.rows = num_rows(),
                           .rows_per_chunk = rows_per_chunk_,
                           .stride = options_.stride,
                           .series = std::move(series),
                           .effort_columns = effort_columns_});
}

std::string ViewedRecording::make_extent() const {
  return make_view_extent({.rows = num_rows(),
                           .status = file_.description().status,
                           .is_growing = file_.is_growing(),
                           .worst_row = worst_.row < 0 ? -1 : worst_.row / options_.stride,
                           .worst_law = std::string(kCertificateNames[worst_.law]),
                           .worst_value = worst_.value,
                           .num_above = num_above_});
}

template <class T>
std::vector<T> ViewedRecording::read_shown(const std::string& object, std::int64_t first,
                                           std::int64_t last) const {
  const std::int64_t stride = options_.stride, begin = first * stride;
  const std::int64_t end = std::min(file_.num_rows(), (last - 1) * stride + 1);
  std::vector<T> all = file_.read<T>(object, begin, end - begin);
  if (stride == 1) return all;
  const std::int64_t columns = file_.num_columns(object);
  std::vector<T> shown;
  shown.reserve(static_cast<std::size_t>((last - first) * columns));
  for (std::int64_t row = 0; row < end - begin; row += stride)
    shown.insert(shown.end(), all.begin() + row * columns, all.begin() + (row + 1) * columns);
  return shown;
}

DrawnPoses ViewedRecording::draw_poses(std::int64_t first, std::int64_t last) const {
  const auto n = static_cast<std::size_t>(last - first);
  const auto num_poses = static_cast<std::size_t>(picture_.num_poses());
  const auto num_links = static_cast<std::size_t>(picture_.num_links());
  DrawnPoses drawn{.time = read_shown<double>("time", first, last),
                   .poses = std::vector<float>(n * 7 * num_poses),
                   .lengths = std::vector<float>(n * num_links)};
  if (num_poses == 0) return drawn;
  const std::size_t num_q = file_.description().q_names.size();
  const auto q = read_shown<double>("q", first, last);
  for (std::size_t i = 0; i < n; ++i)
    picture_.place(drawn.time[i], std::span(q).subspan(i * num_q, num_q),
                   drawn.poses.data() + i * 7 * num_poses, drawn.lengths.data() + i * num_links);
  return drawn;
}

std::string ViewedRecording::make_poses(std::int64_t chunk) const {
  const std::int64_t first = chunk * rows_per_chunk_;
  const std::int64_t last = std::min(num_rows(), first + rows_per_chunk_);
  const auto n = static_cast<std::size_t>(last - first);
  const DrawnPoses drawn = draw_poses(first, last);
  const auto steps = read_shown<std::int64_t>("step", first, last);
  std::vector<float> certificate(n * kCertificateNames.size());
  for (std::size_t law = 0; law < kCertificateNames.size(); ++law) {
    const auto values =
        read_shown<double>(fmt::format("certificate/{}", kCertificateNames[law]), first, last);
    for (std::size_t i = 0; i < n; ++i)
      certificate[i * kCertificateNames.size() + law] = static_cast<float>(values[i]);
  }
  std::vector<std::int32_t> flagged(n, -1);  // −1: the recording does not say
  if (file_.has("solver/flagged")) flagged = read_shown<int>("solver/flagged", first, last);
  BinaryMessage message;
  message.add("time", std::span<const double>(drawn.time));
  message.add("step", std::span<const double>(std::vector<double>(steps.begin(), steps.end())));
  message.add("pose", std::span<const float>(drawn.poses));
  message.add("length", std::span<const float>(drawn.lengths));
  message.add("certificate", std::span<const float>(certificate));
  message.add("flagged", std::span<const std::int32_t>(flagged));
  message.add("iterations",
              std::span<const std::int32_t>(read_shown<int>("solver/iterations", first, last)));
  return std::move(message).finish();
}

namespace {

/// Contacts of a range of rows of /contacts.
struct ContactBlock {
  std::vector<std::int32_t> a, b, status;
  std::vector<std::uint64_t> id;
  std::vector<double> position, normal, gap, impulse, slip;
};

ContactBlock read_contact_block(const RecordingFile& file, std::int64_t first, std::int64_t last) {
  const std::int64_t n = last - first;
  return {.a = file.read<int>("contacts/a", first, n),
          .b = file.read<int>("contacts/b", first, n),
          .status = file.read<int>("contacts/status", first, n),
          .id = file.read<std::uint64_t>("contacts/id", first, n),
          .position = file.read<double>("contacts/position", first, n),
          .normal = file.read<double>("contacts/normal", first, n),
          .gap = file.read<double>("contacts/gap", first, n),
          .impulse = file.read<double>("contacts/impulse", first, n),
          .slip = file.read<double>("contacts/slip", first, n)};
}

void push(std::vector<float>& out, const Eigen::Vector3d& vector) {
  for (int k = 0; k < 3; ++k) out.push_back(static_cast<float>(vector[k]));
}

}  // namespace

DrawnContacts ViewedRecording::draw_contacts(std::int64_t first, std::int64_t last) const {
  const auto time = read_shown<double>("time", first, last);
  const auto q = read_shown<double>("q", first, last);
  const std::size_t num_q = file_.description().q_names.size();
  const auto num_names = static_cast<std::uint64_t>(file_.description().contact_names.size());
  DrawnContacts drawn;
  const auto draw = [&](const ContactBlock& block, std::size_t i, std::int64_t row) {
    Eigen::Vector3d normal = Eigen::Map<const Eigen::Vector3d>(&block.normal[3 * i]);
    Eigen::Vector3d position = Eigen::Map<const Eigen::Vector3d>(&block.position[3 * i]);
    const Eigen::Vector3d impulse = Eigen::Map<const Eigen::Vector3d>(&block.impulse[3 * i]);
    std::array<Eigen::Vector3d, 2> tangents = picture_.tangents_of(block.a[i], block.b[i], normal);
    const bool is_named = block.id[i] < num_names;
    double mu = picture_.friction_of(block.a[i], block.b[i], impulse[0], impulse.tail<2>().norm());
    if (is_named && picture_.scene()) {
      const int contact = static_cast<int>(block.id[i]);
      if (contact < picture_.scene()->model.num_fixed_contacts())
        mu = picture_.scene()->model.fixed_contact(contact).mu;
      const auto place = picture_.place_contact(
          time[row], std::span(q).subspan(static_cast<std::size_t>(row) * num_q, num_q), contact);
      if (place) {
        position = place->position;
        normal = place->normal;
        tangents = {place->tangent_1, place->tangent_2};
      }
    }
    drawn.a.push_back(block.a[i]);
    drawn.b.push_back(block.b[i]);
    drawn.status.push_back(block.status[i]);
    drawn.name.push_back(is_named ? static_cast<std::int32_t>(block.id[i]) : -1);
    push(drawn.position, position);
    push(drawn.normal, normal);
    push(drawn.friction, impulse[1] * tangents[0] + impulse[2] * tangents[1]);
    push(drawn.impulse, impulse);
    drawn.gap.push_back(static_cast<float>(block.gap[i]));
    drawn.slip.push_back(static_cast<float>(std::hypot(block.slip[2 * i], block.slip[2 * i + 1])));
    drawn.mu.push_back(static_cast<float>(mu));
  };
  // All rows at once: opening datasets costs more than reading what is between shown rows.
  const auto start_of = [&](std::int64_t row, std::int64_t next) {
    return file_.contact_start()[static_cast<std::size_t>(row * options_.stride + next)];
  };
  const std::int64_t begin = start_of(first, 0);
  const ContactBlock block = read_contact_block(file_, begin, start_of(last - 1, 1));
  for (std::int64_t row = first; row < last; ++row) {
    for (std::int64_t i = start_of(row, 0); i < start_of(row, 1); ++i)
      draw(block, static_cast<std::size_t>(i - begin), row - first);
    drawn.start.push_back(static_cast<std::uint32_t>(drawn.a.size()));
  }
  return drawn;
}

std::string ViewedRecording::make_contacts(std::int64_t chunk) const {
  const std::int64_t first = chunk * rows_per_chunk_;
  const DrawnContacts drawn = draw_contacts(first, std::min(num_rows(), first + rows_per_chunk_));
  BinaryMessage message;
  message.add("start", std::span<const std::uint32_t>(drawn.start));
  message.add("a", std::span<const std::int32_t>(drawn.a));
  message.add("b", std::span<const std::int32_t>(drawn.b));
  message.add("status", std::span<const std::int32_t>(drawn.status));
  message.add("name", std::span<const std::int32_t>(drawn.name));
  message.add("position", std::span<const float>(drawn.position));
  message.add("normal", std::span<const float>(drawn.normal));
  message.add("friction", std::span<const float>(drawn.friction));
  message.add("impulse", std::span<const float>(drawn.impulse));
  message.add("gap", std::span<const float>(drawn.gap));
  message.add("slip", std::span<const float>(drawn.slip));
  message.add("mu", std::span<const float>(drawn.mu));
  return std::move(message).finish();
}

std::string ViewedRecording::make_joints(std::int64_t chunk) const {
  const std::int64_t first = chunk * rows_per_chunk_;
  const std::int64_t last = std::min(num_rows(), first + rows_per_chunk_);
  BinaryMessage message;
  std::vector<float> reactions, efforts;
  if (!file_.description().reaction_names.empty())
    reactions = to_floats(read_shown<double>("joints/reaction", first, last));
  if (!effort_columns_.empty()) {
    const auto all = read_shown<double>("joints/impulse", first, last);
    const std::size_t width = file_.description().joint_names.size();
    const double h = file_.description().h;
    for (std::size_t row = 0; row * width < all.size(); ++row)
      for (const int column : effort_columns_)
        efforts.push_back(
            static_cast<float>(all[row * width + static_cast<std::size_t>(column)] / h));
  }
  message.add("reaction", std::span<const float>(reactions));
  message.add("effort", std::span<const float>(efforts));
  return std::move(message).finish();
}

namespace {

/// One figure of contacts, and the numbers that it takes: others are not read.
class ContactFigureReader {
 public:
  ContactFigureReader(std::int64_t figure, bool is_named) : figure_(figure), is_named_(is_named) {}

  void read(const RecordingFile& file, std::int64_t first, std::int64_t last) {
    const std::int64_t n = last - first;
    if (is_named_) id_ = file.read<std::uint64_t>("contacts/id", first, n);
    if (figure_ == kSticking || figure_ == kSlipping)
      status_ = file.read<int>("contacts/status", first, n);
    if (figure_ == kNormal || figure_ == kFriction)
      values_ = file.read<double>("contacts/impulse", first, n);
    if (figure_ == kGap) values_ = file.read<double>("contacts/gap", first, n);
    if (figure_ == kSlip) values_ = file.read<double>("contacts/slip", first, n);
  }

  bool is_of(std::size_t i, int contact) const {
    return !is_named_ || id_[i] == static_cast<std::uint64_t>(contact);
  }

  void take(std::size_t i, double& value) const {
    switch (figure_) {
      case kCount:
        value += 1;
        break;
      case kSticking:
        value += status_[i] == 1 ? 1 : 0;
        break;
      case kSlipping:
        value += status_[i] == 2 ? 1 : 0;
        break;
      case kNormal:
        value += values_[3 * i];
        break;
      case kFriction:
        // Of one contact with its sign, where it has one tangent.
        value += is_named_ && values_[3 * i + 2] == 0
                     ? values_[3 * i + 1]
                     : std::hypot(values_[3 * i + 1], values_[3 * i + 2]);
        break;
      case kGap:
        value = std::fmin(value, values_[i]);
        break;
      default:
        value = std::max(value, std::hypot(values_[2 * i], values_[2 * i + 1]));
    }
  }

 private:
  std::int64_t figure_;
  bool is_named_;
  std::vector<std::uint64_t> id_{};
  std::vector<int> status_{};
  std::vector<double> values_{};
};

}  // namespace

std::vector<double> ViewedRecording::compute_contact_series(const Series& series) const {
  const std::int64_t rows = num_rows();
  // Without contacts there is no gap, but no impulse either.
  std::vector<double> values(static_cast<std::size_t>(rows),
                             series.column == kGap ? std::numeric_limits<double>::quiet_NaN() : 0);
  const auto& start = file_.contact_start();
  const auto recorded = [&](std::int64_t row) {
    return static_cast<std::size_t>(std::min(row * options_.stride, file_.num_rows()));
  };
  ContactFigureReader figure(series.column, series.contact >= 0);
  for (std::int64_t row = 0; row < rows;) {
    // As many rows as have their contacts in one block.
    std::int64_t end = row + 1;
    while (end < rows && start[recorded(end + 1)] - start[recorded(row)] < kBlockRows) ++end;
    const std::int64_t first = start[recorded(row)];
    figure.read(file_, first, start[recorded(end)]);
    for (; row < end; ++row)
      for (std::int64_t i = start[recorded(row)]; i < start[recorded(row) + 1]; ++i)
        if (const auto k = static_cast<std::size_t>(i - first); figure.is_of(k, series.contact))
          figure.take(k, values[static_cast<std::size_t>(row)]);
  }
  return values;
}

std::string ViewedRecording::make_series(std::size_t index) const {
  const Series& series = series_[index];
  std::vector<double> values;
  if (series.object.empty()) {
    values = compute_contact_series(series);
  } else if (series.is_whole) {
    const auto whole = read_shown<int>(series.object, 0, num_rows());
    values.assign(whole.begin(), whole.end());
  } else {
    const auto all = file_.read_column(series.object, series.column, 0, file_.num_rows());
    for (std::size_t i = 0; i < all.size(); i += static_cast<std::size_t>(options_.stride))
      values.push_back(all[i]);
  }
  BinaryMessage message;
  message.add("values", std::span<const double>(values));
  return std::move(message).finish();
}

/// Times from a row on, for pages that know those before.
std::string ViewedRecording::make_times(std::int64_t first) const {
  BinaryMessage message;
  message.add("values", std::span<const double>(read_shown<double>("time", first, num_rows())));
  return std::move(message).finish();
}

std::string ViewedRecording::make_geometry(std::size_t index) const {
  const Triangles triangles = triangles_of(picture_.geometries()[index].shape);
  BinaryMessage message;
  message.add("vertices", std::span<const float>(triangles.vertices));
  message.add("triangles", std::span<const std::uint32_t>(triangles.indices));
  return std::move(message).finish();
}

std::string ViewedRecording::make_events() const {
  BinaryMessage message;
  std::vector<double> time, energy;
  std::vector<std::int32_t> kind, contact;
  if (const std::int64_t n = file_.extent().events; n > 0) {
    time = file_.read<double>("events/time", 0, n);
    energy = file_.read<double>("events/energy", 0, n);
    kind = file_.read<int>("events/kind", 0, n);
    const auto num_names = static_cast<std::int64_t>(file_.description().contact_names.size());
    for (const std::int64_t id : file_.read<std::int64_t>("events/contact", 0, n))
      contact.push_back(id < num_names ? static_cast<std::int32_t>(id) : -1);
  }
  message.add("time", std::span<const double>(time));
  message.add("energy", std::span<const double>(energy));
  message.add("kind", std::span<const std::int32_t>(kind));
  message.add("contact", std::span<const std::int32_t>(contact));
  return std::move(message).finish();
}

}  // namespace stiction
