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

constexpr const char* kKey = "topology_config";
constexpr std::size_t kDlroverWords = 3;

bool is_template(std::string_view text) { return text.find("{{") != std::string_view::npos; }

Result<domain::NetworkTable> import_dlrover_lines(std::string_view text, Warnings& /*warnings*/) {
  NetworkTableBuilder builder(switch_levels(2));
  LineReader lines(text);
  for (std::string_view line; builder.ok() && lines.next(line);) {
    const std::vector<std::string_view> words = split_words(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    if (words.size() != kDlroverWords) {
      return network_error("expected \"LEAF SPINE NODE\", got " + quoted_excerpt(trim(line)))
          .in(lines.where());
    }
    domain::NetworkNode node;
    node.name = words[2];
    node.path = {std::string(words[1]), std::string(words[0])};
    builder.add(std::move(node), lines.where());
  }
  if (builder.ok() && builder.size() == 0) {
    return not_this_format(kDlroverLinesFormat.name, "line \"LEAF SPINE NODE\"");
  }
  return std::move(builder).take();
}

// Unlike prose and YAML, addresses and switch names have no other punctuation.
bool looks_like_dlrover_lines(std::string_view text) {
  const std::vector<std::string_view> words = split_words(first_content_line(text));
  const auto plain = [](std::string_view word) {
    return word.find_first_of("=,;:\"'{}[]()<>|/\\*") == std::string_view::npos &&
           word.find_first_not_of("-.") != std::string_view::npos;
  };
  return words.size() == kDlroverWords && std::all_of(words.begin(), words.end(), plain);
}

bool looks_like_dlrover_map(const NetworkObjects& objects) {
  return find_config_map(objects, kKey) != nullptr;
}

Result<domain::NetworkTable> import_dlrover_map(const NetworkObjects& objects,
                                                const std::vector<std::string>& /*levels*/,
                                                Warnings& warnings) {
  const NetworkObject* map = find_config_map(objects, kKey);
  if (map == nullptr)
    return not_this_format(kDlroverMapFormat.name, "ConfigMap with the key topology_config");
  const std::string text = text_or_empty(map->value["data"][kKey]);
  const std::string where = object_label(*map) + ", key " + kKey;
  if (is_template(text)) {
    return network_error("the file is a Helm template; render it first (helm template)").in(where);
  }
  Result<domain::NetworkTable> out = import_dlrover_lines(text, warnings);
  if (!out) return std::move(out).error().in(where);
  return out;
}

}  // namespace

const TextFormat kDlroverLinesFormat{"dlrover", looks_like_dlrover_lines, import_dlrover_lines};
const ObjectFormat kDlroverMapFormat{"dlrover", looks_like_dlrover_map, import_dlrover_map};

}  // namespace chipweave::codec
