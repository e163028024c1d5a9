// FileStamp — identity, size and modification time of a file, to notice when it changes.
#pragma once

#include <cstdint>
#include <string>

namespace chipweave::io {

struct FileStamp {
  bool exists = false;
  bool regular = false;  // a file or folder; reading a FIFO would block the agent
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t written_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;

  static FileStamp of(const std::string& path);  // follows symlinks, as ConfigMap volumes need
};

}  // namespace chipweave::io
