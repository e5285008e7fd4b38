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

sigset_t signals_that_end() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

}  // namespace

struct ViewServer::Impl {
  ServerOptions options;
  std::shared_ptr<const std::string> page;
  FindResource resource;
  httplib::Server server;
  std::thread thread;
  std::mutex mutex;  // HDF5 is not made for several threads

  /// Why a request is refused; empty if it is not. A page from elsewhere whose name was made to
  /// point at us (DNS rebinding) is told by its Host.
  std::string refusal(const httplib::Request& request) const {
    const bool is_command = request.method == "POST" && options.on_command != nullptr;
    if (!is_command && request.method != "GET" && request.method != "HEAD")
      return "only GET is answered";
    if (std::string reason = name_refusal(request); !reason.empty()) return reason;
    return is_command ? command_refusal(request) : "";
  }

  std::string name_refusal(const httplib::Request& request) const {
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

  /// A page from elsewhere can make a browser send requests, though not read answers: it does not
  /// know the token, cannot set the header without our leave, and its origin is another one.
  std::string command_refusal(const httplib::Request& request) const {
    if (request.get_header_value("Origin") != "http://" + request.get_header_value("Host"))
      return "commands are taken from this server's own page only";
    return is_equal_secret(request.get_header_value("X-Stiction-Command"), options.command_token)
               ? ""
               : "the token of the run is missing or wrong";
  }

  void obey(const httplib::Request& request, httplib::Response& response) const {
    try {
      response.set_content(options.on_command(request.body), "application/json");
    } catch (const std::exception& error) {
      response.status = 400;
      response.set_content(error_text(error.what()), "application/json");
    }
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
    // Browsers keep several connections open, each of which holds a thread.
    constexpr std::size_t kThreads = 32;
    server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    server.set_tcp_nodelay(true);
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
    constexpr std::size_t kMaxCommand = 4096;  // [bytes]
    server.set_payload_max_length(kMaxCommand);
    server.Post("/live", [this](const auto& request, auto& response) { obey(request, response); });
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

ViewServer::~ViewServer() { stop(); }

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
  const sigset_t signals = signals_that_end();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  start();
  int signal = 0;
  sigwait(&signals, &signal);
  stop();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

void ViewServer::start() {
  const sigset_t signals = signals_that_end();
  sigset_t before;
  // Before the threads start, so that none of them gets the signal.
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  impl_->thread = std::thread([this] { impl_->server.listen_after_bind(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void ViewServer::stop() {
  if (!impl_->thread.joinable()) return;
  // A server that has not begun to listen would not hear it.
  for (int look = 0; look < 1000 && !impl_->server.is_running(); ++look)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  impl_->server.stop();
  impl_->thread.join();
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
