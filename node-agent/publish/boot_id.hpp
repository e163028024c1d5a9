// Boot ids — what tells one run of an agent, or of its node, from the next.
#pragma once

#include <string>

namespace chipweave::agent {

// 128 random bits as hex.
std::string make_boot_id();

// Of the node's kernel: another one after each boot; "" where /proc does not say.
std::string node_boot_id();

}  // namespace chipweave::agent
