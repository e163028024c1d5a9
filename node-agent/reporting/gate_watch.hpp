// GateWatch — whether the device plugin of this node is ready for pods, as its file says
// (gate_file.hpp), told at each change.
//
// Loop thread only; ends with its destructor.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/http/loop.hpp"
#include "common/http/mailbox.hpp"
#include "node-agent/sources/file_watch.hpp"

namespace chipweave::agent {

class GateWatch {
 public:
  struct Paces {
    std::chrono::milliseconds look_every{500};  // besides the watch of the folder
    // The kernel tells that the file was closed just before it releases the lock.
    std::chrono::milliseconds look_again{20};
  };
  GateWatch(http::Loop& loop, std::string path, std::function<void(bool open)> changed)
      : GateWatch(loop, std::move(path), Paces{}, std::move(changed)) {}
  GateWatch(http::Loop& loop, std::string path, Paces paces,
            std::function<void(bool open)> changed);
  ~GateWatch();
  GateWatch(const GateWatch&) = delete;
  GateWatch& operator=(const GateWatch&) = delete;

  bool open() const { return open_; }

 private:
  void watch();
  void look();
  void look_always();

  http::Loop& loop_;
  std::string path_;
  Paces paces_;
  std::function<void(bool)> changed_;
  bool open_ = false;
  std::shared_ptr<http::Mailbox<GateWatch>> box_;
  std::unique_ptr<FileWatch> file_;
};

}  // namespace chipweave::agent
