// What hccn_tool and /etc/hccn.conf add to an observation: addresses of ports, links that are down,
// the switches at their other end.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/codec/ascend/hccn/hccn_conf.hpp"
#include "common/domain/observation.hpp"
#include "node-agent/probes/ascend/hccn/hccn_schedule.hpp"

namespace chipweave::agent {

// The configuration by physical id; nullopt if the file does not exist, or cannot be read (with a
// warning).
std::optional<codec::ascend::HccnConf> read_hccn_conf(const std::string& path,
                                                      std::vector<std::string>& warnings);

// The addresses of one chip: from the tool, else from the configuration.
std::vector<std::string> port_addresses(const std::map<int, HccnAnswers>& answers,
                                        const std::optional<codec::ascend::HccnConf>& conf,
                                        int chip);

// Adds signals "hccn.link-down" and neighbours.
void add_hccn_findings(const std::map<int, HccnAnswers>& answers, domain::Observation& out);

}  // namespace chipweave::agent
