// Export of network descriptions: NetworkTable → the text of a foreign format. No I/O.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/network_table.hpp"

namespace chipweave::codec {

struct ExportedNetwork {
  std::string text;
  std::vector<std::string> warnings;  // what the format cannot express
};

// Errors: an unknown format, a name that the format does not allow, missing levels.
Result<ExportedNetwork> export_network(const domain::NetworkTable& table, std::string_view format);

std::vector<std::string_view> network_export_formats();

// What `chipweave network import -o json` prints; reads back to the same table and warnings.
std::string export_network_json(const domain::NetworkTable& table,
                                const std::vector<std::string>& warnings);

}  // namespace chipweave::codec
