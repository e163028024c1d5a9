// How many files and sockets this process may hold open.
#pragma once

#include <cstddef>

namespace chipweave::io {

// Raises the limit as far as the system allows without privileges, `most` at most: a thousand nodes
// are a thousand connections, and the usual limit is 1,024. The limit from now on.
std::size_t raise_descriptor_limit(std::size_t most);

}  // namespace chipweave::io
