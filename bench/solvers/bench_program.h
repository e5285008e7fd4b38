// What the benchmark programs have in common around their work: one thread, what happens to errors,
// and how reports are written.
#pragma once

#include <filesystem>
#include <string>

namespace stiction::bench {

/// Runs `work` with one thread for all libraries and returns its exit status; an exception becomes
/// a line on stderr that begins with `name`, and status 2.
int run_alone(const char* name, int (*work)(int argc, char** argv), int argc, char** argv);

/// Replaces the file as a whole and says so on stderr. Throws IoError.
void write_report(const std::filesystem::path& path, const std::string& text);

}  // namespace stiction::bench
