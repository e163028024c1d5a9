// FileWatch — calls back within milliseconds when one of a few files may have changed (inotify on
// their folders, which also reports renames over the file and the symlink swap of ConfigMap
// volumes). A path that ends in a slash is a folder: any file in it.
//
// Owns one thread, which calls `on_change`; the callback must only post. May call without a real
// change.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace chipweave::agent {

class FileWatch {
 public:
  FileWatch(const std::vector<std::string>& files, std::function<void()> on_change);
  ~FileWatch();  // waits for the thread
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  // False if the kernel refused a watch on some folder: the owner must poll more often.
  bool complete() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::agent
