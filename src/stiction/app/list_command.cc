// stiction list WHAT: names that scenes and options may use.
#include <map>

#include "stiction/app/commands.h"
#include "stiction/app/console.h"
#include "stiction/app/exit_status.h"
#include "stiction/scene/joint_reader.h"
#include "stiction/scene/shape_reader.h"
#include "stiction/scheme/scheme.h"
#include "stiction/solve/solvers.h"

namespace stiction {
namespace {

int list(const std::string& what) {
  const std::map<std::string, std::vector<std::string>> lists = {
      {"schemes", scheme_names()},
      {"solvers", all_solver_names()},
      {"experiments", experiment_names()},
      {"joints", joint_type_names()},
      {"shapes", shape_type_names()}};
  for (const std::string& name : lists.at(what)) print_result(name + "\n");
  return kDone;
}

}  // namespace

void add_list_command(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("list", "List schemes, solvers, experiments, joints or shapes");
  auto what = std::make_shared<std::string>();
  command->add_option("what", *what, "schemes, solvers, experiments, joints or shapes")
      ->required()
      ->check(CLI::IsMember({"schemes", "solvers", "experiments", "joints", "shapes"}));
  command->callback([&action, what] { action = [what] { return list(*what); }; });
}

}  // namespace stiction
