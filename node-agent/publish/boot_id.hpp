// Boot ids — distinguish runs of the agent, and boots of its node.
#pragma once

#include <string>

namespace chipweave::agent {

// 128 random bits as hex.
std::string make_boot_id();

// The boot id of the node's kernel: a new one after each boot; "" if /proc does not have it.
std::string node_boot_id();

}  // namespace chipweave::agent
