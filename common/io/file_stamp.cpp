#include "common/io/file_stamp.hpp"

#include <sys/stat.h>

namespace chipweave::io {

FileStamp FileStamp::of(const std::string& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) return {};
  constexpr std::int64_t kNs = 1'000'000'000;
  return {true,      S_ISREG(s.st_mode) || S_ISDIR(s.st_mode),  s.st_dev, s.st_ino,
          s.st_size, s.st_mtim.tv_sec * kNs + s.st_mtim.tv_nsec};
}

}  // namespace chipweave::io
