// The commands of the program. Each adds its options to the command line and, when chosen, runs and
// returns the exit status.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace stiction {

/// Set by the command that was chosen; asked by main after parsing.
using Action = std::function<int()>;

void add_run_command(CLI::App& app, Action& action);
void add_solve_command(CLI::App& app, Action& action);
void add_compare_command(CLI::App& app, Action& action);
void add_check_command(CLI::App& app, Action& action);
void add_list_command(CLI::App& app, Action& action);
void add_export_command(CLI::App& app, Action& action);
void add_verify_command(CLI::App& app, Action& action);
void add_view_command(CLI::App& app, Action& action);
void add_import_command(CLI::App& app, Action& action);
void add_reproduce_command(CLI::App& app, Action& action);

/// What `reproduce` knows, in the order of the papers.
std::vector<std::string> experiment_names();
void add_sweep_command(CLI::App& app, Action& action);
void add_report_command(CLI::App& app, Action& action);

}  // namespace stiction
