// The file by which the device plugin tells the agent of the same node whether pods may be bound
// there: "open" or "closed", in a file that the plugin has locked. The lock ends with its process,
// so that a plugin which was killed counts as closed. Readers that watch the folder (FileWatch)
// see each change.
#pragma once

#include <memory>
#include <string>

#include "common/base/result.hpp"
#include "common/io/descriptor.hpp"

namespace chipweave::agent {

class GateFile {
 public:
  // Creates the file, says "closed" and locks it. Errors: conflict, if another process holds it;
  // unavailable.
  static Result<GateFile> open(const std::string& path);
  Result<void> write(bool open);

 private:
  explicit GateFile(int fd) : file_(std::make_unique<io::Descriptor>(fd)) {}
  std::unique_ptr<io::Descriptor> file_;
};

// What the file says now. False also for a file that is missing, or that no process has locked.
bool gate_is_open(const std::string& path);

}  // namespace chipweave::agent
