// How many files and sockets this process may hold open.
#pragma once

#include <cstddef>

namespace chipweave::io {

// Raises the limit of open files as far as possible without privileges, up to `most`: a thousand
// nodes need a thousand connections, and the usual limit is 1,024. Returns the new limit.
std::size_t raise_descriptor_limit(std::size_t most);

}  // namespace chipweave::io
