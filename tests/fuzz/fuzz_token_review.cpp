// The API server's answer to a TokenReview.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "common/codec/kube/objects/token_review.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  const auto owner = chipweave::codec::read_token_review(text);
  // A caller is accepted only if the review says that it is authenticated.
  if (owner && owner->authenticated && text.find("\"authenticated\"") == std::string::npos &&
      text.find('\\') == std::string::npos) {
    std::abort();
  }
  return 0;
}
