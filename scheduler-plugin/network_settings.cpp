#include "scheduler-plugin/network_settings.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/base/dns_name.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"

namespace chipweave::sched {
namespace {

using Texts = std::vector<std::string>;

Error refused(std::string message) {
  return make_error(Errc::invalid_argument, std::move(message));
}

// Those that have no setting of their own.
std::vector<std::string_view> listed_sources() {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < kNetworkSources; ++i) {
    const auto source = static_cast<NetworkSource>(i);
    if (source != NetworkSource::file && source != NetworkSource::configmap)
      out.push_back(name_of(source));
  }
  return out;
}

bool has(const std::vector<NetworkSource>& sources, NetworkSource source) {
  return std::find(sources.begin(), sources.end(), source) != sources.end();
}

}  // namespace

Result<void> set_network_sources(Config& config, const Texts& values) {
  std::vector<NetworkSource> sources;
  const std::vector<std::string_view> known = listed_sources();
  for (const std::string& value : values) {
    if (std::find(known.begin(), known.end(), value) == known.end())
      return refused(unknown_name("source", value, known));
    const NetworkSource source = *network_source_of(value);
    if (has(sources, source)) return refused("names " + in_quotes(value) + " twice");
    sources.push_back(source);
  }
  config.network_sources = std::move(sources);
  return {};
}

Texts show_network_sources(const Config& config) {
  Texts out;
  out.reserve(config.network_sources.size());
  for (const NetworkSource source : config.network_sources) out.emplace_back(name_of(source));
  return out;
}

Result<void> set_network_levels(Config& config, const Texts& values) {
  if (values.size() > limits::kMaxNetworkLevels)
    return refused("must name at most " + std::to_string(limits::kMaxNetworkLevels) + " levels");
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& label = values[i];
    if (!is_network_name(label)) return refused("expected a node label, got " + in_quotes(label));
    if (std::find(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(i), label) !=
        values.begin() + static_cast<std::ptrdiff_t>(i))
      return refused("names " + in_quotes(label) + " twice");
    if (label == domain::kHostnameLabel && i + 1 < values.size())
      return refused("nothing is finer than kubernetes.io/hostname, which must come last");
  }
  config.network_levels = values;
  return {};
}

Result<void> set_network_config_map(Config& config, const Texts& values) {
  const std::string& text = values[0];
  config.network_config_map.reset();
  if (text.empty()) return {};
  const std::size_t slash = text.find('/');
  ConfigMapName name{text.substr(0, slash),
                     slash == std::string::npos ? std::string() : text.substr(slash + 1)};
  if (!is_dns_label(name.ns) || !is_dns_subdomain(name.name))
    return refused("expected NAMESPACE/NAME of a ConfigMap, got " + in_quotes(text));
  config.network_config_map = std::move(name);
  return {};
}

Texts show_network_config_map(const Config& config) {
  const auto& name = config.network_config_map;
  return {name ? name->ns + "/" + name->name : std::string()};
}

Result<void> check_network(const Config& config) {
  if (!config.network_levels.empty() && !has(config.network_sources, NetworkSource::labels))
    return refused("--network-levels requires labels among --network-sources");
  if (!config.standalone) return {};
  if (config.network_config_map) {
    return refused("--network-config-map cannot be combined with --standalone; use --network-file");
  }
  for (const NetworkSource source : config.network_sources) {
    if (source == NetworkSource::labels || source == NetworkSource::inventories) continue;
    return refused("--network-sources: " + std::string(name_of(source)) +
                   " cannot be combined with --standalone");
  }
  return {};
}

Network::Options Config::network() const {
  Network::Options out{network_sources, network_levels};
  if (network_config_map) out.sources.push_back(NetworkSource::configmap);
  if (!network_file.empty()) out.sources.push_back(NetworkSource::file);
  return out;
}

}  // namespace chipweave::sched
