#include "common/io/descriptor.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace chipweave::io {

bool write_all(int fd, const std::string& content) {
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t n = ::write(fd, content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

Result<void> write_temporary(std::string& temporary, const std::string& path,
                             const std::string& content, mode_t bits) {
  Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.valid()) return system_error(path, "create a temporary file beside it", errno);
  if (::fchmod(file.get(), bits) == 0 && write_all(file.get(), content) &&
      ::fsync(file.get()) == 0 && file.reset())
    return {};
  const int number = errno;
  ::unlink(temporary.c_str());
  return system_error(path, "write", number);
}

std::size_t raise_descriptor_limit(std::size_t most) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t wanted = std::min<rlim_t>(limit.rlim_max, most);
  if (limit.rlim_cur >= wanted) return limit.rlim_cur;
  rlimit raised = limit;
  raised.rlim_cur = wanted;
  return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? wanted : limit.rlim_cur;
}

Error system_error(const std::string& path, const char* doing, int number) {
  const Errc code = number == ENOENT || number == ENOTDIR ? Errc::not_found : Errc::unavailable;
  return make_error(code, std::string("cannot ") + doing + ": " + std::strerror(number))
      .in("file " + path);
}

}  // namespace chipweave::io
