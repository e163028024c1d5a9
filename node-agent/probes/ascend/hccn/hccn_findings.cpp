#include "node-agent/probes/ascend/hccn/hccn_findings.hpp"

#include <utility>

#include "common/io/files.hpp"

namespace chipweave::agent {
namespace {

domain::Signal link_down(int chip, std::optional<int> port) {
  domain::Signal out;
  out.code = "hccn.link-down";
  out.chip = domain::ChipIndex{chip};
  out.port = port;
  return out;
}

}  // namespace

std::optional<codec::ascend::HccnConf> read_hccn_conf(const std::string& path,
                                                      std::vector<std::string>& warnings) {
  if (path.empty()) return std::nullopt;
  const Result<std::string> text = io::read_file(path, codec::ascend::kMaxHccnConfBytes);
  if (!text) {
    if (text.error().code != Errc::not_found) warnings.push_back(text.error().text());
    return std::nullopt;
  }
  auto conf = codec::ascend::parse_hccn_conf(*text);
  if (conf) return std::optional(*std::move(conf));
  warnings.push_back(std::move(conf).error().in("file " + path).text());
  return std::nullopt;
}

std::vector<std::string> port_addresses(const std::map<int, HccnAnswers>& answers,
                                        const std::optional<codec::ascend::HccnConf>& conf,
                                        int chip) {
  const auto answer = answers.find(chip);
  if (answer != answers.end() && !answer->second.addresses.empty()) {
    return answer->second.addresses;
  }
  if (!conf) return {};
  const auto device = conf->devices.find(chip);
  if (device == conf->devices.end()) return {};
  const auto& [address, v6] = std::pair(device->second.address, device->second.ipv6_address);
  if (!address.empty()) return {address};
  return v6.empty() ? std::vector<std::string>() : std::vector{v6};
}

void add_hccn_findings(const std::map<int, HccnAnswers>& answers, domain::Observation& out) {
  for (const auto& [chip, answer] : answers) {
    if (answer.link_up == false) out.signals.push_back(link_down(chip, std::nullopt));
    for (const int port : answer.ports_down) out.signals.push_back(link_down(chip, port));
    if (!answer.neighbour) continue;
    domain::Neighbour neighbour;
    neighbour.chip = domain::ChipIndex{chip};
    neighbour.system = answer.neighbour->system_name;
    neighbour.port = answer.neighbour->port;
    neighbour.address = answer.neighbour->management_address;
    out.neighbours.push_back(std::move(neighbour));
  }
}

}  // namespace chipweave::agent
