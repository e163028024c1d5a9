// Arbitrary bytes → tar archives, plain and gzipped: no crash, and every error has a message.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/io/files.hpp"
#include "tests/fuzz/read_back.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string archive;
  if (size > 0) archive.assign(reinterpret_cast<const char*>(data), size);
  chipweave::codec::require_words(chipweave::io::read_tar(archive));
  return 0;
}
