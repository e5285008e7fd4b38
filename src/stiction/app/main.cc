// stiction: the command line. Parses, dispatches, and turns errors into messages and exit status.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>

#include "stiction/app/commands.h"
#include "stiction/app/exit_status.h"
#include "stiction/base/error.h"
#include "stiction/base/version.h"

namespace {

int run_program(int argc, char** argv) {
  CLI::App app{"Rigid bodies that touch: hard contact, friction and impacts by complementarity\n"
               "time-stepping. Every step carries a certificate.",
               "stiction"};
  app.set_version_flag("--version", std::string(stiction::version()));
  app.require_subcommand(1);
  app.footer("Exit status: 0 done, 2 bad input, 3 a step above tolerance, 130 interrupted.");
  stiction::Action action;
  stiction::add_run_command(app, action);
  stiction::add_check_command(app, action);
  stiction::add_list_command(app, action);
  stiction::add_export_command(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? stiction::kDone : stiction::kBadInput;
  }
  return action();
}

}  // namespace

int main(int argc, char** argv) {
  // A full disk under a file size limit is an error of write(), not a death of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run_program(argc, argv);
  } catch (const stiction::Error& error) {
    fmt::print(stderr, "stiction: {}\n", error.what());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "stiction: out of memory\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "stiction: {}\n", error.what());
  }
  return stiction::kBadInput;
}
