#include "stiction/app/view_page.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "stiction/base/base64.h"
#include "stiction/base/error.h"
#include "stiction/base/whole_file.h"
#include "stiction/view/viewed_recording.h"

namespace stiction {
namespace {

/// Where the page carries its data; the build of the page puts it there.
constexpr std::string_view kDataMark = "<!-- stiction data -->";

std::string packed(const std::string& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string out(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()),
                               static_cast<uLong>(bytes.size()), Z_DEFAULT_COMPRESSION);
  if (status != Z_OK) throw std::bad_alloc();
  out.resize(size);
  return out;
}

/// Bytes of one recorded row, contacts included, before packing.
std::int64_t bytes_per_row(const ViewedRecording& recording) {
  constexpr std::int64_t kContactBytes = 84, kOtherBytes = 64;
  const std::int64_t rows = std::max<std::int64_t>(1, recording.num_rows());
  const auto& names = recording.file().description();
  return kOtherBytes + 28 * recording.picture().num_poses() +
         8 * static_cast<std::int64_t>(recording.num_series()) +
         4 * static_cast<std::int64_t>(names.reaction_names.size()) +
         kContactBytes * recording.file().extent().contacts / rows;
}

/// Resources as elements that no browser runs; base64, so that no text can end them.
void append_data(ViewedRecording& recording, std::size_t index, std::string& html) {
  for (const std::string& name : recording.names())
    html += fmt::format("<script type=\"application/x-stiction\" data-name=\"{}/{}\">{}</script>\n",
                        index, name, to_base64(packed(recording.find(name)->bytes)));
}

}  // namespace

std::string read_view_page() {
  std::error_code ignored;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::filesystem::path folder = program.parent_path();
  // Of a build folder (build/release/bin), then of an installation.
  for (const char* place : {"../../viewer/index.html", "../share/stiction/viewer/index.html"})
    if (auto page = try_read_file(folder / place)) {
      if (page->find(kDataMark) == std::string::npos)
        throw IoError(fmt::format("'{}' is not the page of the viewer",
                                  (folder / place).lexically_normal().string()));
      return std::move(*page);
    }
  throw IoError(
      "the page of the viewer is not built: './stiction view' builds it, or run 'npm ci && npm run "
      "build' in viewer/");
}

SelfContainedPage make_self_contained_page(const PageContent& content, const std::string& mode) {
  std::string html = content.page.empty() ? read_view_page() : content.page;
  if (html.find(kDataMark) == std::string::npos)
    throw InputError("the page of the viewer has no place for data: it is not that page");
  SelfContainedPage page;
  ViewOptions options{.folders = content.folders};
  std::int64_t bytes = 0, rows = 0;
  for (const bool has_all : {true, false}) {
    options.has_all_series = has_all;
    bytes = rows = 0;
    for (const std::string& path : content.recordings) {
      const ViewedRecording recording(path, options);
      bytes += recording.num_rows() * bytes_per_row(recording);
      rows = std::max(rows, recording.num_rows());
    }
    // A few hundred rows are what a motion needs; then curves of every coordinate are too many.
    constexpr std::int64_t kEnoughRows = 1000;
    if (bytes <= content.max_bytes || rows * content.max_bytes / bytes >= kEnoughRows) break;
  }
  options.stride = std::max<std::int64_t>(1, (bytes + content.max_bytes - 1) / content.max_bytes);
  page.stride = options.stride;
  page.has_all_series = options.has_all_series;
  std::string data = fmt::format("<meta name=\"stiction-mode\" content=\"{}\">\n", mode);
  for (std::size_t i = 0; i < content.recordings.size(); ++i) {
    ViewedRecording recording(content.recordings[i], options);
    append_data(recording, i, data);
  }
  html.replace(html.find(kDataMark), kDataMark.size(), data);
  page.html = std::move(html);
  return page;
}

}  // namespace stiction
