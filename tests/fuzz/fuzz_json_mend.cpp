// Arbitrary bytes → mended JSON: JSON is left alone, what was mended lies inside the text in its
// order, and mending twice is mending once where the result is JSON.
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "common/codec/json/json_tree.hpp"
#include "common/codec/text/json_mend.hpp"
#include "tests/fuzz/read_back.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using chipweave::codec::JsonTree;
  using chipweave::codec::mend_json;
  using chipweave::codec::MendedJson;
  using chipweave::codec::require;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const MendedJson mended = mend_json(text);
  require(mended.text.size() <= 2 * text.size());
  for (const auto& each : mended.mended) require(each.offset < text.size());
  require(!mended.mended.empty() || mended.text == text);
  if (std::holds_alternative<JsonTree>(JsonTree::parse(text))) require(mended.text == text);
  if (std::holds_alternative<JsonTree>(JsonTree::parse(mended.text))) {
    require(mend_json(mended.text).text == mended.text);
    require(chipweave::codec::begins_as_json(text) ==
            chipweave::codec::begins_as_json(mended.text));
  }
  return 0;
}
