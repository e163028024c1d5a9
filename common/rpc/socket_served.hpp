// Whether a program serves a socket of the file system. A program that was killed leaves its socket
// there.
#pragma once

#include <string>

namespace chipweave::rpc {

// Connects to it, and ends the connection at once.
bool is_socket_served(const std::string& path);

}  // namespace chipweave::rpc
