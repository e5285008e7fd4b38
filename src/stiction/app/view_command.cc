// stiction view FILE.h5: a recording as a moving picture with plots, in the browser or as one file.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <memory>

#include "stiction/app/commands.h"
#include "stiction/app/console.h"
#include "stiction/app/exit_status.h"
#include "stiction/app/view_page.h"
#include "stiction/app/view_server.h"
#include "stiction/base/atomic_file.h"
#include "stiction/base/error.h"

namespace stiction {
namespace {

struct ViewCommandOptions {
  std::string recording, ghost, html, host;
  std::vector<std::string> folders{".", "examples"};
  int port = 8765;
  double max_megabytes = 64;
  bool opens_browser = true;
};

std::vector<std::string> recordings_of(const ViewCommandOptions& options) {
  std::vector<std::string> all{options.recording};
  if (!options.ghost.empty()) all.push_back(options.ghost);
  return all;
}

int write_page(const ViewCommandOptions& options, const std::string& mode) {
  for (const std::string& recording : recordings_of(options))
    demand_other_file(recording, options.html);
  const SelfContainedPage page = make_self_contained_page(
      {.recordings = recordings_of(options),
       .folders = options.folders,
       .max_bytes = static_cast<std::int64_t>(options.max_megabytes * 1e6)},
      mode);
  AtomicFile file(options.html);
  file.write(page.html);
  file.commit();
  if (page.stride > 1)
    print_message(
        fmt::format("stiction: note: {} shows every {}th recorded step; --max-size gives "
                    "it more room\n",
                    options.html, page.stride));
  if (!page.has_all_series)
    print_message(
        fmt::format("stiction: note: {} has no curves of single coordinates\n", options.html));
  return kDone;
}

/// "1/poses/3": of the second recording.
std::optional<ViewResource> find_resource(std::vector<ViewedRecording>& recordings,
                                          std::string_view name) {
  if (name == "recordings.json")
    return ViewResource{"application/json", fmt::format("{{\"count\": {}}}", recordings.size())};
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (error != std::errc() || end == name.data() + name.size() || *end != '/' ||
      index >= recordings.size())
    return std::nullopt;
  return recordings[index].find(name.substr(static_cast<std::size_t>(end - name.data()) + 1));
}

int serve(const ViewCommandOptions& options) {
  std::vector<ViewedRecording> recordings;
  for (const std::string& path : recordings_of(options))
    recordings.emplace_back(path, ViewOptions{.folders = options.folders});
  if (const std::string& fault = recordings.front().picture().fault(); !fault.empty())
    print_message(fmt::format(
        "stiction: note: only plots are shown, since the scene cannot be read: {}\n", fault));
  ServerOptions server_options{.port = options.port};
  if (!options.host.empty()) {
    server_options.host = options.host;
    server_options.token = make_token();
  }
  ViewServer server(std::move(server_options), read_view_page(),
                    [&](std::string_view name) { return find_resource(recordings, name); });
  if (server.port() != options.port)
    print_message(
        fmt::format("stiction: port {} is in use, taking {}\n", options.port, server.port()));
  print_message(fmt::format("stiction: {} at {}\n", options.recording, server.address()));
  if (options.opens_browser && !open_browser(server.address()))
    print_message("stiction: no browser could be opened; open that address in one\n");
  print_message("stiction: Ctrl-C ends\n");
  server.serve();
  return kDone;
}

}  // namespace

void add_view_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("view", "Show a recording in the browser");
  auto options = std::make_shared<ViewCommandOptions>();
  command->add_option("recording", options->recording, "recording (HDF5)")->required();
  command->add_option("--ghost", options->ghost, "a second recording, shown through the first");
  command->add_option("--html", options->html,
                      "write one file with page and data instead of serving");
  command->add_option("--max-size", options->max_megabytes, "data in that file before packing [MB]")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1e6));
  command->add_option("--port", options->port, "port, or the next free one")
      ->capture_default_str()
      ->check(CLI::Range(1, 65535));
  command->add_option("--host", options->host,
                      "serve other machines at this address, to those with the token");
  command->add_option("--meshes", options->folders, "folders of mesh files that the scene names");
  command->add_flag("!--no-browser", options->opens_browser, "open no browser");
  command->callback([&action, options] {
    action = [options] {
      return options->html.empty() ? serve(*options) : write_page(*options, "view");
    };
  });
}

void add_report_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("report", "Write a report on a recording, one HTML file");
  auto options = std::make_shared<ViewCommandOptions>();
  command->add_option("recording", options->recording, "recording (HDF5)")->required();
  command->add_option("--out", options->html, "the file; default NAME.html beside the recording");
  command->add_option("--max-size", options->max_megabytes, "data in that file before packing [MB]")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1e6));
  command->add_option("--meshes", options->folders, "folders of mesh files that the scene names");
  command->callback([&action, options] {
    if (options->html.empty())
      options->html = std::filesystem::path(options->recording).replace_extension("html").string();
    action = [options] { return write_page(*options, "report"); };
  });
}

}  // namespace stiction
