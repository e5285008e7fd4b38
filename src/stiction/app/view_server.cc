#include "stiction/app/view_server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "stiction/base/error.h"

extern char** environ;  // NOLINT: declared by no header

namespace stiction {
namespace {

constexpr int kPortsTried = 50;

std::string error_text(std::string_view message) {
  return nlohmann::json{{"error", message}}.dump(-1, ' ', false,
                                                 nlohmann::json::error_handler_t::replace);
}

/// Compares in the same time wherever they differ.
bool is_equal_secret(const std::string& a, const std::string& b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

}  // namespace

struct ViewServer::Impl {
  ServerOptions options;
  std::shared_ptr<const std::string> page;
  FindResource resource;
  httplib::Server server;
  std::mutex mutex;  // HDF5 is not made for several threads

  /// Why a request is refused; empty if it is not. A page from elsewhere whose name was made to
  /// point at us (DNS rebinding) is told by its Host.
  std::string refusal(const httplib::Request& request) const {
    if (request.method != "GET" && request.method != "HEAD") return "only GET is answered";
    if (options.token.empty()) {
      const std::string host = request.get_header_value("Host");
      for (const char* name : {"127.0.0.1", "localhost", "[::1]"})
        if (host == fmt::format("{}:{}", name, options.port)) return "";
      return "this address is not served under that name";
    }
    const std::string token = request.has_param("token")
                                  ? request.get_param_value("token")
                                  : request.get_header_value("X-Stiction-Token");
    return is_equal_secret(token, options.token) ? "" : "the token is missing or wrong";
  }

  /// As it is: by itself cpp-httplib would pack texts with brotli, seconds for what takes none to
  /// send to this machine.
  static void send(std::shared_ptr<const std::string> bytes, const std::string& type,
                   httplib::Response& response) {
    const std::size_t size = bytes->size();
    response.set_content_provider(size, type,
                                  [bytes = std::move(bytes)](std::size_t offset, std::size_t length,
                                                             httplib::DataSink& sink) {
                                    return sink.write(bytes->data() + offset, length);
                                  });
  }

  void answer(const httplib::Request& request, httplib::Response& response) {
    const std::string prefix = "/data/";
    if (request.path == "/") return send(page, "text/html; charset=utf-8", response);
    if (request.path.rfind(prefix, 0) == 0) {
      try {
        const std::lock_guard lock(mutex);
        if (auto found = resource(request.path.substr(prefix.size())))
          return send(std::make_shared<const std::string>(std::move(found->bytes)), found->type,
                      response);
      } catch (const std::exception& error) {
        response.status = 500;
        return response.set_content(error_text(error.what()), "application/json");
      }
    }
    response.status = 404;
    response.set_content(error_text("there is nothing of this name"), "application/json");
  }

  void set_up() {
    // Without SO_REUSEPORT, which would let two programs share a port.
    server.set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server.set_default_headers({{"X-Content-Type-Options", "nosniff"},
                                {"X-Frame-Options", "DENY"},
                                {"Referrer-Policy", "no-referrer"},
                                {"Cross-Origin-Resource-Policy", "same-origin"},
                                {"Cache-Control", "no-store"}});
    server.set_pre_routing_handler([this](const auto& request, auto& response) {
      const std::string reason = refusal(request);
      if (reason.empty()) return httplib::Server::HandlerResponse::Unhandled;
      response.status = 403;
      response.set_content(error_text(reason), "application/json");
      return httplib::Server::HandlerResponse::Handled;
    });
    server.Get(".*", [this](const auto& request, auto& response) { answer(request, response); });
  }
};

ViewServer::ViewServer(ServerOptions options, std::string page, FindResource resource)
    : impl_(std::make_unique<Impl>()) {
  impl_->options = std::move(options);
  impl_->page = std::make_shared<const std::string>(std::move(page));
  impl_->resource = std::move(resource);
  impl_->set_up();
  const int first = impl_->options.port;
  for (int port = first; port < first + kPortsTried && port < 65536; ++port) {
    impl_->options.port = port;
    if (impl_->server.bind_to_port(impl_->options.host, port)) return;
  }
  throw IoError(fmt::format("no port of {} from {} on can be had", impl_->options.host, first));
}

ViewServer::~ViewServer() = default;

int ViewServer::port() const { return impl_->options.port; }

std::string ViewServer::address() const {
  const ServerOptions& options = impl_->options;
  const std::string host =
      options.host.find(':') == std::string::npos ? options.host : '[' + options.host + ']';
  return options.token.empty()
             ? fmt::format("http://{}:{}/", host, options.port)
             : fmt::format("http://{}:{}/?token={}", host, options.port, options.token);
}

void ViewServer::serve() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  // Before the threads start, so that none of them gets the signal.
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread thread([this] { impl_->server.listen_after_bind(); });
  int signal = 0;
  sigwait(&signals, &signal);
  impl_->server.stop();
  thread.join();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

std::string make_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

bool open_browser(const std::string& address) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return false;
  std::string program = "xdg-open", argument = address;
  std::array<char*, 3> arguments{program.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int output : {1, 2})
    posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return false;
  // What opens a browser may stay as long as the browser does. One that fails, fails at once.
  constexpr int kLooks = 20;
  constexpr auto kPause = std::chrono::milliseconds(50);
  for (int look = 0; look < kLooks; ++look) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return status == 0;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

}  // namespace stiction
