// The On Demand reader of extender requests against nlohmann on the same bytes: the same verdict,
// the same names.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/limits.hpp"
#include "common/codec/kube/requests/extender.hpp"

namespace {

using Json = nlohmann::json;

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_key(const std::string& key, const char* lower) {
  std::string folded = key;
  for (char& c : folded) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return folded == lower;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static chipweave::codec::ExtenderReader reader;
  static chipweave::codec::ExtenderArgs args;
  const std::string text(data, data + size);
  std::string body = text;
  const bool read = reader.read_args(body, args).ok();
  std::string again = text;
  static_cast<void>(reader.read_binding(again));
  static_cast<void>(reader.read_preemption(again));
  body = text;
  require(reader.read_args(body, args).ok() == read);
  // nlohmann recurses per level: only the reader gets deeply nested documents
  std::size_t depth = 0;
  for (const char c : text) depth += c == '{' || c == '[' ? 1U : 0U;
  if (depth > static_cast<std::size_t>(chipweave::limits::kMaxJsonDepth)) return 0;
  const Json whole = Json::parse(text, nullptr, false);
  if (whole.is_discarded()) {
    require(!read);  // no broken document is accepted
    return 0;
  }
  if (!read || !whole.is_object()) return 0;
  // duplicate spellings of one key ("Pod", "pod") have no counterpart in a map: skip them
  const Json* names = nullptr;
  int spellings = 0;
  for (const auto& [key, value] : whole.items()) {
    if (!is_key(key, "nodenames")) continue;
    names = &value;
    ++spellings;
  }
  if (spellings != 1 || !names->is_array()) return 0;
  require(args.names.size() == names->size());
  for (std::size_t i = 0; i < names->size(); ++i) require((*names)[i] == args.names[i]);
  return 0;
}
