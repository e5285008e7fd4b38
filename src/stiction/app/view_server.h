// Serves the page of the viewer and its recordings, read only. On loopback unless another address
// is asked for, and then only to those who know a token.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stiction/view/viewed_recording.h"

namespace stiction {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 8765;      // the next free one from here on
  std::string token{};  // asked for if not empty

  /// Answers to commands that pages send (POST /live); none are taken without it. What it throws
  /// becomes a message in the page. Called by several threads at once.
  std::function<std::string(const std::string& command)> on_command{};
  /// That commands need: only this server's own page knows it.
  std::string command_token{};
};

class ViewServer {
 public:
  /// Binds; throws IoError if no port is free. `resource` answers for names such as
  /// "0/header.json", one call at a time; what it throws becomes a message in the page.
  using FindResource = std::function<std::optional<ViewResource>(std::string_view name)>;
  ViewServer(ServerOptions options, std::string page, FindResource resource);
  ~ViewServer();
  ViewServer(const ViewServer&) = delete;
  ViewServer& operator=(const ViewServer&) = delete;

  /// Where it was bound.
  int port() const;
  /// For the address line of a browser.
  std::string address() const;
  /// Answers until SIGINT or SIGTERM.
  void serve();
  /// Answers in threads of its own, to which signals do not go, until stop().
  void start();
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A token that cannot be guessed.
std::string make_token();
/// Opens an address in the browser of the desktop; false if there is none.
bool open_browser(const std::string& address);

}  // namespace stiction
