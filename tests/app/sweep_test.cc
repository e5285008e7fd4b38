#include "tests/app/sweep_test.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace stiction {

std::string SweepTest::study(const std::string& rest) const {
  const std::string path = file("study.json");
  std::ofstream(path) << "{\"study\": 1, \"scene\": \"" << example("woodpecker") << "\", " << rest
                      << "}";
  return path;
}

std::string SweepTest::text(const std::string& name) const { return read_bytes(file(name)); }

int SweepTest::num_lines(const std::string& name) const {
  return static_cast<int>(lines_of(text(name)).size());
}

std::vector<pid_t> SweepTest::run_processes() const {
  std::map<pid_t, pid_t> parents;  // of all processes of the program that have this study
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::string words = read_bytes(entry.path() / "cmdline");
    if (!words.starts_with(STICTION_PROGRAM) || words.find(file("study.json")) == std::string::npos)
      continue;
    // PID (NAME) STATE PARENT …; the name may hold anything.
    const std::string stat = read_bytes(entry.path() / "stat");
    std::istringstream rest(stat.substr(stat.rfind(')') + 1));
    std::string state;
    pid_t parent = 0;
    rest >> state >> parent;
    parents[std::stoi(name)] = parent;
  }
  std::vector<pid_t> found;
  for (const auto& [process, parent] : parents)
    if (parents.contains(parent)) found.push_back(process);
  return found;
}

SubprocessOptions SweepTest::crash_after(int journal_lines) const {
  SubprocessOptions options;
  options.signal = SIGCONT;  // never sent: what is asked kills
  options.signal_when = [this, journal_lines] {
    if (has_file("out/journal.txt") && num_lines("out/journal.txt") == journal_lines)
      for (const pid_t process : run_processes()) ::kill(process, SIGSEGV);
    return false;
  };
  return options;
}

}  // namespace stiction
