#include "stiction/app/experiments/verified_runs.h"

#include <fmt/format.h>

#include "stiction/app/experiments/verdict.h"
#include "stiction/app/recorded_scene.h"

namespace stiction::experiments {
namespace {

std::string describe(const AuditReport& report) {
  for (int i = 0; i < kNumLaws; ++i) {
    const LawOutcome& outcome = report[static_cast<Law>(i)];
    if (outcome.broken > 0)
      return fmt::format("{} broken at step {}: {}", to_text(static_cast<Law>(i)),
                         outcome.first_broken.step, outcome.first_broken.where);
  }
  return "verified";
}

}  // namespace

void add_verification(const Monitor& monitor, Result& result) {
  if (monitor.recordings().empty()) return;
  Table table{.title = "Recorded runs",
              .columns = {{"file"}, {"scheme"}, {"steps"}, {"checks"}, {"verify says"}},
              .rows = {}};
  int broken = 0;
  for (const std::string& name : monitor.recordings()) {
    const auto verified = verify_recording({.file = monitor.folder_of_runs() + "/" + name});
    if (!verified) {
      ++broken;
      continue;
    }
    std::int64_t checks = 0;
    for (int i = 0; i < kNumLaws; ++i) checks += verified->report[static_cast<Law>(i)].checks;
    broken += verified->report.is_broken() ? 1 : 0;
    table.rows.push_back({label(name), label(verified->header.scheme),
                          label(fmt::format("{}", verified->header.num_rows - 1)),
                          label(fmt::format("{}", checks)), label(describe(verified->report))});
  }
  const auto num = static_cast<int>(monitor.recordings().size());
  result.statements.push_back(judge(
      {.claim = "Every law holds in every recorded run, re-derived from its scene, states and "
                "impulses",
       .source = "stiction verify",
       .printed = "no law is broken",
       .value = static_cast<double>(broken),
       .measured = fmt::format("{} of {} recordings verified", num - broken, num),
       .expected = Range::at_most(0)}));
  result.tables.push_back(std::move(table));
}

}  // namespace stiction::experiments
