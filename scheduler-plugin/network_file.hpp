// NetworkFile — the file of network-file: any description that `chipweave network import` reads,
// read again when it changes. While it cannot be used, what was read before stays in place. Owner:
// the loop thread.
#pragma once

#include <memory>
#include <string>

#include "common/base/result.hpp"
#include "common/io/file_stamp.hpp"
#include "scheduler-plugin/state/network/network.hpp"

namespace chipweave::sched {

class NetworkFile {
 public:
  // Errors: those of reading it. network must outlive it.
  static Result<std::unique_ptr<NetworkFile>> open(std::string path, Network& network);

  // Cheap unless the file has changed.
  void check();

 private:
  NetworkFile(std::string path, Network& network) : path_(std::move(path)), network_(network) {}
  Result<void> read();

  std::string path_;
  Network& network_;
  io::FileStamp stamp_;
};

}  // namespace chipweave::sched
