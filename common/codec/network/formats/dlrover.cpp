// DLRover's node-topology-config: lines "leaf spine node", bare or under the key topology_config
// of a ConfigMap.
#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "common/codec/network/formats.hpp"
#include "common/codec/network/table/table_builder.hpp"
#include "common/codec/text/lines.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr const char* kDlroverFormat = "dlrover";
constexpr const char* kKey = "topology_config";
constexpr std::size_t kDlroverWords = 3;

bool is_template(std::string_view text) { return text.find("{{") != std::string_view::npos; }

Result<ImportedNetwork> read_lines(std::string_view text) {
  Result<NetworkTableBuilder> builder = NetworkTableBuilder::make(switch_levels(2));
  if (!builder) return std::move(builder).error();
  LineReader lines(text);
  for (std::string_view line; lines.next(line);) {
    const std::vector<std::string_view> words = split_words(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    if (words.size() != kDlroverWords) {
      return network_error("expected \"LEAF SPINE NODE\", got " + quoted_excerpt(trim(line)))
          .in(lines.where());
    }
    domain::NetworkNode node;
    node.name = words[2];
    node.path = {std::string(words[1]), std::string(words[0])};
    if (auto added = builder->add(std::move(node), lines.where()); !added) {
      return std::move(added).error();
    }
  }
  if (builder->size() == 0) return not_this_format(kDlroverFormat, "line \"LEAF SPINE NODE\"");
  return ImportedNetwork{std::move(*builder).take(), kDlroverFormat, {}};
}

}  // namespace

// Unlike prose and YAML, addresses and switch names have no other punctuation.
bool looks_like_dlrover_lines(std::string_view text) {
  const std::vector<std::string_view> words = split_words(first_content_line(text));
  const auto plain = [](std::string_view word) {
    return word.find_first_of("=,;:\"'{}[]()<>|/\\*") == std::string_view::npos &&
           word.find_first_not_of("-.") != std::string_view::npos;
  };
  return words.size() == kDlroverWords && std::all_of(words.begin(), words.end(), plain);
}

Result<ImportedNetwork> import_dlrover_lines(std::string_view text) { return read_lines(text); }

bool looks_like_dlrover_map(const NetworkObjects& objects) {
  return find_config_map(objects, kKey) != nullptr;
}

Result<ImportedNetwork> import_dlrover_map(const NetworkObjects& objects,
                                           const NetworkImportOptions& /*options*/) {
  const NetworkObject* map = find_config_map(objects, kKey);
  if (map == nullptr)
    return not_this_format(kDlroverFormat, "ConfigMap with the key topology_config");
  const std::string text = text_or_empty(map->value["data"][kKey]);
  const std::string where = object_label(*map) + ", key " + kKey;
  if (is_template(text)) {
    return network_error("the file is a Helm template; render it first (helm template)").in(where);
  }
  Result<ImportedNetwork> out = read_lines(text);
  if (!out) return std::move(out).error().in(where);
  return out;
}

}  // namespace chipweave::codec
