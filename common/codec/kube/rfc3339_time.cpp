#include "common/codec/kube/rfc3339_time.hpp"

#include <cstdio>
#include <ctime>

namespace chipweave::codec {

std::int64_t seconds_of(const std::string& time) {
  std::tm t{};
  char end = 0;
  if (time.size() != 20 ||
      std::sscanf(time.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%c", &t.tm_year, &t.tm_mon, &t.tm_mday,
                  &t.tm_hour, &t.tm_min, &t.tm_sec, &end) != 7 ||
      end != 'Z') {
    return 0;
  }
  t.tm_year -= 1900;
  t.tm_mon -= 1;
  return ::timegm(&t);
}

}  // namespace chipweave::codec
