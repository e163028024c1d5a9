// The formats of network descriptions: one importer each. Internal to common/codec/network.
//
// `looks_like` is cheap: it looks at the beginning of a text, or at the kinds of its objects.
// `import` may be called with anything (--format); its error then names what is missing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/network/import.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/text/warnings.hpp"

namespace chipweave::codec {

struct TextFormat {
  std::string_view name;
  bool (*looks_like)(std::string_view text);
  Result<domain::NetworkTable> (*import)(std::string_view text, Warnings& warnings);
};
extern const TextFormat kScontrolFormat, kSlurmConfFormat, kIbnetdiscoverFormat, kCsvFormat,
    kDlroverLinesFormat;

// JSON or YAML.
struct ObjectFormat {
  std::string_view name;
  bool (*looks_like)(const NetworkObjects& objects);
  // levels: node labels, as in NetworkImportOptions; empty unless takes_levels.
  Result<domain::NetworkTable> (*import)(const NetworkObjects& objects,
                                         const std::vector<std::string>& levels,
                                         Warnings& warnings);
  bool takes_levels = false;
};
extern const ObjectFormat kNetworkJsonFormat, kSlurmYamlFormat, kTopographFormat,
    kTopographModelFormat, kNodeInventoryFormat, kHypernodeFormat, kKueueFormat, kKoordinatorFormat,
    kDlroverMapFormat, kTorFormat, kSuperPodFormat, kNodeLabelsFormat;

}  // namespace chipweave::codec
