// The merges of rank tables: two inputs, separated by a zero byte; the first byte selects the
// merge.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/codec/json/json_tree.hpp"
#include "common/codec/ranktable/tools/merge.hpp"
#include "tests/fuzz/read_back.hpp"

namespace {

namespace ranktable = chipweave::codec::ranktable;
using chipweave::NamedText;
using chipweave::codec::JsonTree;
using chipweave::codec::require;
using chipweave::codec::require_words;

void check(const chipweave::Result<ranktable::MergedTable>& merged) {
  require_words(merged);
  if (!merged) return;
  const auto parsed = JsonTree::parse(merged->file.text);
  require(std::holds_alternative<JsonTree>(parsed));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string all(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::size_t middle = std::min(all.find('\0'), all.size());
  const NamedText a{"a.json", all.substr(0, middle)};
  const NamedText b{"b.json", middle < all.size() ? all.substr(middle + 1) : all};
  switch (data[0] % 4) {
    case 0:
      check(ranktable::merge_pd_global({a, b}, false));
      break;
    case 1:
      check(ranktable::merge_pd_local({a, b}));
      break;
    case 2:
      check(ranktable::merge_pd_all({a}, {b}));
      break;
    default:
      check(ranktable::merge_hccl_tables({a, b}));
      break;
  }
  return 0;
}
