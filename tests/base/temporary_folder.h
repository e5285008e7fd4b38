// A folder for the files of one test, removed with everything in it.
#pragma once

#include <string>
#include <vector>

namespace stiction {

class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  std::string file(const std::string& name) const;

  std::vector<std::string> file_names() const;

 private:
  std::string path_;
};

std::string read_bytes(const std::string& path);

void write_bytes(const std::string& path, const std::string& bytes);

/// What `action` throws as text; empty if nothing.
template <class Exception, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace stiction
