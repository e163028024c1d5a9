// The file by which the device plugin keeps the agent of the same node from asking the kubelet for
// its list while the kubelet gives chips away: the plugin has it locked alone for so long, and the
// agent locks it, among others, for as long as its request is in flight. The lock of a process that
// was killed ends with it.
#pragma once

#include <memory>
#include <string>

#include "common/base/result.hpp"
#include "common/io/descriptor.hpp"

namespace chipweave::agent {

// It lies beside the gate's file, so that both programs find it.
inline std::string list_lock_path(const std::string& gate_file) { return gate_file + ".lists"; }

// The device plugin's side.
class ListLock {
 public:
  // Creates the file, for root only, who alone may ask the kubelet. Errors: unavailable.
  static Result<ListLock> open(const std::string& path);
  // Does not wait. True: from now until give_back() no agent asks.
  bool take();
  void give_back();
  bool taken() const { return taken_; }

 private:
  explicit ListLock(int fd) : file_(std::make_unique<io::Descriptor>(fd)) {}
  std::unique_ptr<io::Descriptor> file_;
  bool taken_ = false;
};

// The agent's side. Null: the kubelet must not be asked now. Otherwise it may be, until the last
// copy has gone; without a file there is no device plugin to be considered.
using ListPermit = std::shared_ptr<const void>;
ListPermit permit_to_list(const std::string& path);

}  // namespace chipweave::agent
