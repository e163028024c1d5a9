#include "common/io/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace chipweave::io {

std::size_t raise_descriptor_limit(std::size_t most) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t wanted = std::min<rlim_t>(limit.rlim_max, most);
  if (limit.rlim_cur >= wanted) return limit.rlim_cur;
  rlimit raised = limit;
  raised.rlim_cur = wanted;
  return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? wanted : limit.rlim_cur;
}

}  // namespace chipweave::io
