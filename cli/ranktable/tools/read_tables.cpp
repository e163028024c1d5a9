#include "cli/ranktable/tools/read_tables.hpp"

#include <algorithm>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/json/json_tree.hpp"
#include "common/io/files.hpp"

namespace chipweave::cli {

Result<std::vector<codec::ranktable::NamedText>> read_tables(
    const std::vector<std::string>& names) {
  constexpr std::size_t kMax = limits::kMaxRankTableBytes;
  std::size_t left = 2 * kMax;
  std::vector<codec::ranktable::NamedText> out;
  for (const std::string& name : names) {
    if (name.empty()) return make_error(Errc::invalid_argument, "a file has an empty name");
    Result<std::string> text = io::read_file(name, std::min(left, kMax));
    if (!text) return std::move(text).error();
    left -= text->size();
    out.push_back({name, *std::move(text)});
  }
  return out;
}

}  // namespace chipweave::cli
