#include "common/rpc/socket_served.hpp"

#include <cerrno>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace chipweave::rpc {

bool is_socket_served(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return false;
  path.copy(address.sun_path, path.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  const int result = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const bool served = result == 0 || errno == EAGAIN || errno == EINPROGRESS;
  ::close(fd);
  return served;
}

}  // namespace chipweave::rpc
