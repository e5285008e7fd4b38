// stiction: the command line. Parses, dispatches, and turns errors into messages and exit status.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <iostream>

#include "stiction/app/commands.h"
#include "stiction/app/console.h"
#include "stiction/app/exit_status.h"
#include "stiction/base/error.h"
#include "stiction/base/hdf5_file.h"
#include "stiction/base/version.h"

namespace {

int run_program(int argc, char** argv) {
  CLI::App app{
      "Rigid bodies that touch: hard contact, friction and impacts by complementarity\n"
      "time-stepping. Every step carries a certificate.",
      "stiction"};
  app.set_version_flag("--version", std::string(stiction::version()));
  app.require_subcommand(0, 1);  // checked below: a misspelt one is unexpected, not missing
  app.footer(
      "Exit status: 0 done, 2 bad input, 3 above tolerance, 4 not verified, 130\ninterrupted.");
  stiction::Action action;
  stiction::add_run_command(app, action);
  stiction::add_solve_command(app, action);
  stiction::add_compare_command(app, action);
  stiction::add_check_command(app, action);
  stiction::add_list_command(app, action);
  stiction::add_export_command(app, action);
  stiction::add_verify_command(app, action);
  stiction::add_view_command(app, action);
  stiction::add_import_command(app, action);
  stiction::add_reproduce_command(app, action);
  stiction::add_sweep_command(app, action);
  stiction::add_report_command(app, action);
  try {
    app.parse(argc, argv);
    if (!action) throw CLI::RequiredError("A command (--help lists them)");
  } catch (const CLI::ParseError& error) {
    if (app.exit(error) != 0) return stiction::kBadInput;
    if (!std::cout.flush()) throw stiction::IoError("cannot write to the standard output");
    return stiction::kDone;
  }
  return action();
}

}  // namespace

int main(int argc, char** argv) {
  // A full disk under a file size limit is an error of write(), not a death of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  // All files are closed by their owners; HDF5's own farewell only complains about damaged ones.
  stiction::skip_hdf5_cleanup_at_exit();
  try {
    return run_program(argc, argv);
  } catch (const stiction::Error& error) {
    stiction::print_message(fmt::format("stiction: {}\n", error.what()));
  } catch (const std::bad_alloc&) {
    stiction::print_message("stiction: out of memory\n");
  } catch (const std::exception& error) {
    stiction::print_message(fmt::format("stiction: {}\n", error.what()));
  }
  return stiction::kBadInput;
}
