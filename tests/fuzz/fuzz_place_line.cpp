// Arbitrary bytes → batch lines of `chipweave place`: no crash, and the id can be repeated in an
// answer that is one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/codec/batch/batch.hpp"
#include "common/codec/place/place_codec.hpp"
#include "tests/fuzz/read_back.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chipweave::codec;
  // a null pointer comes with size 0 only
  const std::string_view text(size == 0 ? "" : reinterpret_cast<const char*>(data), size);
  const PlaceLine line = parse_place_line(text);
  require_words(line.request);
  const std::string answer = line.request ? write_place_answer(line.id, {})
                                          : write_batch_error(line.id, line.request.error());
  if (answer.find('\n') != std::string::npos) std::abort();
  return 0;
}
