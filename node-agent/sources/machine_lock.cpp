#include "node-agent/sources/machine_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace chipweave::agent {

Result<void> MachineLock::take(const std::string& sysfs_root) {
  const std::string path = sysfs_root + "/sys/bus/pci/devices";
  folder_.adopt(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_.valid()) return {};
  if (::flock(folder_.get(), LOCK_EX | LOCK_NB) == 0) return {};
  const int number = errno;
  folder_.reset();
  if (number != EWOULDBLOCK) return {};
  return make_error(Errc::conflict,
                    "another chipweave-agent watches the hardware of this machine (" + path +
                        " is locked): stop it first");
}

}  // namespace chipweave::agent
