#include "common/codec/network/import.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"
#include "common/codec/network/formats.hpp"
#include "common/codec/text/json_mend.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr std::array kTexts = {&kScontrolFormat, &kSlurmConfFormat, &kIbnetdiscoverFormat,
                               &kCsvFormat, &kDlroverLinesFormat};
// The more specific ones first: most of these can come together with Node objects.
constexpr std::array kObjects = {
    &kNetworkJsonFormat,   &kSlurmYamlFormat, &kTopographFormat, &kTopographModelFormat,
    &kNodeInventoryFormat, &kHypernodeFormat, &kKueueFormat,     &kKoordinatorFormat,
    &kDlroverMapFormat,    &kTorFormat,       &kSuperPodFormat,  &kNodeLabelsFormat};

constexpr std::string_view kKnown =
    "; known formats: Slurm topology.conf, topology.yaml and scontrol show topology, "
    "ibnetdiscover, topograph, Volcano "
    "HyperNodes, Kueue Topology and Koordinator ClusterNetworkTopology with Node lists, Node "
    "lists, NodeInventories, DLRover node-topology-config, MindCluster tor_info and super-pods, "
    "CSV, chipweave's own JSON";

Error no_network(std::string why) { return network_error(std::move(why) + std::string(kKnown)); }

Error levels_are_given(std::string_view format) {
  return network_error("--levels cannot be combined with format " + std::string(format) +
                       ": its files give the levels");
}

Result<std::string_view> as_text(std::string_view content) {
  constexpr std::string_view kBom = "\xEF\xBB\xBF";
  if (content.size() > limits::kMaxNetworkFileBytes) {
    return make_error(
        Errc::limit_exceeded,
        "must be at most " + std::to_string(limits::kMaxNetworkFileBytes >> 20U) + " MiB");
  }
  if (content.starts_with(kBom)) content.remove_prefix(kBom.size());
  if (content.starts_with("\xFF\xFE") || content.starts_with("\xFE\xFF")) {
    return network_error("the file is UTF-16 text; save it as UTF-8");
  }
  if (content.starts_with("\x1f\x8b")) {
    return network_error("the file is a gzip archive; unpack it");
  }
  const std::size_t bad = std::min(find_invalid_utf8(content), content.find('\0'));
  if (bad != std::string_view::npos) {
    const auto line =
        std::count(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(bad), '\n');
    return network_error("not UTF-8 text; is this a network description?")
        .in("line " + std::to_string(line + 1));
  }
  return content;
}

// Names what the file contains instead of a network.
Error unknown_objects(const NetworkObjects& objects) {
  std::set<std::string> kinds;
  for (const NetworkObject& object : objects) {
    if (!object.kind.empty()) kinds.insert(object.kind);
    if (object.kind == "CustomResourceDefinition") {
      return no_network("the file is a CustomResourceDefinition, without objects of its kind");
    }
  }
  if (const JsonValue only = only_object(objects); only["provider"] && only["engine"]) {
    return no_network("the file is a request to topograph; import the response");
  }
  if (kinds.empty()) return no_network("unknown format");
  return no_network("objects of kind " + quoted_list({kinds.begin(), kinds.end()}) +
                    " do not describe a network");
}

// The imported table, under the name of its format.
Result<ImportedNetwork> imported(std::string_view format, Result<domain::NetworkTable> table,
                                 Warnings warnings) {
  if (!table) return std::move(table).error();
  return ImportedNetwork{*std::move(table), std::string(format), std::move(warnings).list()};
}

Result<ImportedNetwork> import_objects(std::string_view text, const NetworkImportOptions& options) {
  const Result<NetworkObjects> objects = read_network_objects(text);
  if (!objects) {
    // The text may be neither; a YAML author sees where it breaks.
    Error error = objects.error();
    if (!begins_as_json(text)) error.message += kKnown;
    return error;
  }
  for (const ObjectFormat* format : kObjects) {
    const bool chosen =
        options.format.empty() ? format->looks_like(*objects) : format->name == options.format;
    if (!chosen) continue;
    if (!options.levels.empty() && !format->takes_levels) return levels_are_given(format->name);
    Warnings warnings;
    Result<domain::NetworkTable> table = format->import(*objects, options.levels, warnings);
    return imported(format->name, std::move(table), std::move(warnings));
  }
  return unknown_objects(*objects);
}

bool is_known(std::string_view name) {
  const std::vector<std::string_view> known = network_formats();
  return std::find(known.begin(), known.end(), name) != known.end();
}

}  // namespace

std::vector<std::string_view> network_formats() {
  std::vector<std::string_view> out;
  out.reserve(kTexts.size() + kObjects.size());
  for (const TextFormat* format : kTexts) out.push_back(format->name);
  for (const ObjectFormat* format : kObjects) {
    if (std::find(out.begin(), out.end(), format->name) == out.end()) out.push_back(format->name);
  }
  return out;
}

Result<ImportedNetwork> import_network(std::string_view content,
                                       const NetworkImportOptions& options) {
  if (!options.format.empty() && !is_known(options.format)) {
    return network_error(unknown_name("format", options.format, network_formats())).in("--format");
  }
  const Result<std::string_view> text = as_text(content);
  if (!text) return text.error();
  if (text->find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return no_network("the file is empty");
  }
  for (const TextFormat* format : kTexts) {
    const bool chosen = options.format.empty()
                            ? format->looks_like(*text)
                            : format->name == options.format &&
                                  // dlrover is both a text and a ConfigMap
                                  (format->name != "dlrover" || format->looks_like(*text));
    if (!chosen) continue;
    if (!options.levels.empty()) return levels_are_given(format->name);
    Warnings warnings;
    Result<domain::NetworkTable> table = format->import(*text, warnings);
    return imported(format->name, std::move(table), std::move(warnings));
  }
  return import_objects(*text, options);
}

}  // namespace chipweave::codec
