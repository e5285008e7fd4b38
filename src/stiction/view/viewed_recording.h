// A recording as the page of the viewer asks for it: named resources, which a server hands out one
// by one and a self-contained page carries with it. docs/viewer.md lists them.
//
// Only what is asked for is read from the file; rows come in chunks of a fixed number of rows.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stiction/record/recording_file.h"
#include "stiction/view/picture.h"

namespace stiction {

struct ViewOptions {
  std::int64_t stride = 1;             // shows every stride-th recorded row
  bool has_all_series = true;          // false leaves out curves of single coordinates and joints
  std::vector<std::string> folders{};  // where meshes may be, beside the recording's own
  bool is_live = false;  // the last rows are asked for again and again: chunks are small
};

/// Content of a resource and what it is (a MIME type).
struct ViewResource {
  std::string type{};
  std::string bytes{};
};

/// Poses of moving frames, seven numbers each, and lengths of links, row after row.
struct DrawnPoses {
  std::vector<double> time{};
  std::vector<float> poses{}, lengths{};
};

/// Contacts as they are drawn: friction as a vector in the world, and μ. Those of row k are
/// [start[k], start[k + 1]).
struct DrawnContacts {
  std::vector<std::uint32_t> start{0};
  std::vector<std::int32_t> a{}, b{}, status{}, name{};  // name: of a named one, or −1
  std::vector<float> position{}, normal{}, friction{};   // three each
  std::vector<float> impulse{};                          // three each, as recorded
  std::vector<float> gap{}, slip{}, mu{};
};

class ViewedRecording {
 public:
  /// Throws as read_recording does.
  explicit ViewedRecording(const std::string& path, ViewOptions options = {});

  /// A resource by its name; none if there is no such name.
  std::optional<ViewResource> find(std::string_view name);
  /// The names of all that there are now, the header first.
  std::vector<std::string> names() const;
  const Picture& picture() const { return picture_; }
  const RecordingFile& file() const { return file_; }
  std::int64_t num_rows() const;  // that are shown
  std::size_t num_series() const { return series_.size(); }
  /// Rows [first, last) of those that are shown.
  DrawnPoses draw_poses(std::int64_t first, std::int64_t last) const;
  DrawnContacts draw_contacts(std::int64_t first, std::int64_t last) const;

 private:
  /// A curve that can be plotted.
  struct Series {
    std::string name, unit, group;
    std::string object;     // dataset; empty: computed from contacts
    std::int64_t column;    // of the dataset, or what is computed
    int contact = -1;       // a named contact, or −1 for all
    bool is_whole = false;  // stored as integers
  };
  struct Worst {
    std::int64_t row = -1;
    int law = 0;  // index into kCertificateNames
    double value = 0;
  };

  std::int64_t num_chunks() const;
  void add_series();
  void add_columns(const std::vector<std::string>& names, const std::string& object,
                   const std::string& group);
  void update_worst();
  std::string make_header() const;
  std::string make_extent() const;
  std::string make_poses(std::int64_t chunk) const;
  std::string make_contacts(std::int64_t chunk) const;
  std::string make_joints(std::int64_t chunk) const;
  std::string make_series(std::size_t index) const;
  std::string make_times(std::int64_t first) const;
  std::string make_geometry(std::size_t index) const;
  std::string make_events() const;
  std::vector<double> compute_contact_series(const Series& series) const;
  /// Rows [first, last) that are shown, of a dataset.
  template <class T>
  std::vector<T> read_shown(const std::string& object, std::int64_t first, std::int64_t last) const;

  RecordingFile file_;
  ViewOptions options_;
  Picture picture_;
  std::vector<Series> series_{};
  std::vector<int> effort_columns_{};  // of /joints/impulse: motors and friction
  std::int64_t rows_per_chunk_ = 1;
  std::int64_t num_looked_at_ = 0;  // rows that worst_ and num_above_ know
  Worst worst_{};
  std::int64_t num_above_ = 0;
};

}  // namespace stiction
