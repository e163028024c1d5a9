// Boot ids — what tells one run of an agent from the next.
#pragma once

#include <string>

namespace chipweave::agent {

// 128 random bits as hex.
std::string make_boot_id();

}  // namespace chipweave::agent
