// JsonTree against another parser: both accept the same texts, and an accepted text can be
// reassembled from its parts.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/base/limits.hpp"
#include "common/codec/json/json_tree.hpp"
#include "common/codec/ranktable/edits.hpp"
#include "tests/fuzz/read_back.hpp"

namespace {

using chipweave::codec::JsonSyntaxError;
using chipweave::codec::JsonTree;
using chipweave::codec::require;
using chipweave::codec::ranktable::Edits;

// Whether brackets outside of strings nest deeper than allowed; the text need not be JSON.
bool json_too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '{' || c == '[')) {
      if (++depth > chipweave::limits::kMaxJsonDepth) return true;
    } else if (!quoted && (c == '}' || c == ']')) {
      --depth;
    }
  }
  return false;
}

// nullopt if the other parser stops at a number beyond a double, which is valid JSON.
std::optional<bool> is_json(const std::string& text) {
  try {
    return !nlohmann::json::parse(text).is_discarded();
  } catch (const nlohmann::json::out_of_range&) {
    return std::nullopt;
  } catch (const nlohmann::json::parse_error&) {
    return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  auto parsed = JsonTree::parse(text);
  const bool bom = text.substr(0, 3) == "\xEF\xBB\xBF";  // the other parser skips it
  if (text.find('\0') != text.npos) return 0;            // which ends the text for the other parser
  const bool deep = json_too_deep(text);
  if (const auto* mistake = std::get_if<JsonSyntaxError>(&parsed)) {
    require(bom || deep || is_json(text) != true);
    require(!mistake->message.empty() && mistake->offset <= text.size());
    return 0;
  }
  require(is_json(text) != false);
  const auto& tree = std::get<JsonTree>(parsed);
  require(Edits().apply(tree) == text);
  for (JsonTree::Id id = 0; id < tree.size() && tree.size() < 500; ++id) {
    const JsonTree::Id back = tree.at(tree.pointer(id));
    require(back == id || !tree.repeated().empty());
  }
  return 0;
}
