#include "node-agent/sources/list_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace chipweave::agent {

Result<ListLock> ListLock::open(const std::string& path) {
  ListLock out(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!out.file_->valid()) return make_error(Errc::unavailable, path + ": " + std::strerror(errno));
  return out;
}

bool ListLock::take() {
  if (!taken_) taken_ = ::flock(file_->get(), LOCK_EX | LOCK_NB) == 0;
  return taken_;
}

void ListLock::give_back() {
  ::flock(file_->get(), LOCK_UN);
  taken_ = false;
}

ListPermit permit_to_list(const std::string& path) {
  auto file = std::make_shared<const io::Descriptor>(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file->valid() && ::flock(file->get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return nullptr;
  return file;
}

}  // namespace chipweave::agent
