// The page of the viewer: where it is, and how it becomes one file with its data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stiction {

/// The page as it was built, one HTML file. Throws IoError, with what to do, if there is none.
std::string read_view_page();

/// What a self-contained page shows.
struct PageContent {
  std::vector<std::string> recordings{};  // the first, and its ghost if there is one
  std::vector<std::string> folders{};     // where meshes may be
  std::int64_t max_bytes = 0;             // of all data before they are packed
  std::string page{};                     // without data; empty: read_view_page()
};

struct SelfContainedPage {
  std::string html{};
  std::int64_t stride = 1;  // every stride-th recorded row is in it
  bool has_all_series = true;
};

/// The page with its data, which a browser shows from a file. Rows, then curves of single
/// coordinates, are left out where the data would not fit into max_bytes. `mode` is how the page
/// starts, "view" or "report".
SelfContainedPage make_self_contained_page(const PageContent& content, const std::string& mode);

}  // namespace stiction
