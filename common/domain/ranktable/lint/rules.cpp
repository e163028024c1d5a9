#include <algorithm>

#include "common/base/text.hpp"
#include "common/domain/ranktable/lint/finding.hpp"

namespace chipweave::domain::ranktable {

const char* to_string(Severity severity) {
  switch (severity) {
    case Severity::info:
      return "info";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return "error";
}

bool FindingLimit::admit(std::string_view code) { return ++counts_[code] <= kMaxPerRule; }

void FindingLimit::add_summaries(Source table, Findings& findings) const {
  for (const auto& [code, seen] : counts_) {
    if (seen <= kMaxPerRule) continue;
    findings.push_back({code,
                        Severity::warning,
                        {table},
                        std::nullopt,
                        concat("and ", seen - kMaxPerRule, " more of this rule")});
  }
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> kRules = {
      {"RT001", "not JSON", "No consumer can parse the file, so every rank stops before it starts.",
       "Correct the text at this place, or generate the table again. 'chipweave ranktable lint "
       "FILE "
       "--fix' mends byte order marks, comments, commas behind a last element and single quotes."},
      {"RT002", "not a rank table, or not one that this consumer reads",
       "The consumer reads other members and fails, or ignores the file and negotiates.",
       "Convert it with 'chipweave ranktable convert FILE --to DIALECT', or name the dialect."},
      {"RT003", "repeated member",
       "Parsers silently use the first or the last one, so ranks may disagree.",
       "Keep one of the two."},
      {"RT004", "scalar of the wrong JSON type",
       "HCCL rejects it (\"not string\", EI0017; in 2.0 the other way round).",
       "Add quotes; remove them in 2.0 tables."},
      {"RT005", "required member missing", "HCCL stops: \"Config ... is missing\" (EI0017).",
       "Add the member, or generate the table again."},
      {"RT006", "unknown member close to a known one",
       "Unknown members are ignored, so the value has no effect.", "Correct the name."},
      {"RT007", "version does not match the members, or is misplaced",
       "Super pod members are only read with version 1.2; without them ranks talk over RoCE "
       "instead of HCCS. A misplaced version is not read.",
       "Set the version at the top: 1.2 with super_pod_list, else 1.0."},
      {"RT010", "status is not \"completed\"",
       "HCCL polls the file for up to 30 minutes and then gives up.",
       "Wait for the producer, or set \"completed\" once the table is complete."},
      {"RT011", "count does not match the list", "HCCL rejects the table (EI0014, server_count).",
       "Set the count to the length of the list."},
      {"RT012", "server_id empty, too long or repeated",
       "HCCL rejects the table (EI0014, server_id), or two entries become one machine.",
       "Give every machine one entry with a name of its own."},
      {"RT013", "server_id is not an address",
       "The consumer uses this text as an address and fails to connect.",
       "Write the address of the host or the pod."},
      {"RT020", "rank ids are not 0..N-1",
       "HCCL rejects the table (EI0014, rank_id), or ranks wait for one that does not exist.",
       "Number the ranks from 0 without gaps, each once."},
      {"RT021", "ranks of servers interleave",
       "Rings cross between machines at every step instead of once.",
       "Give each server a run of consecutive ranks: 'chipweave ranktable order FILE --write'."},
      {"RT022", "list order differs from rank order",
       "HCCL sorts by rank_id, but people and some consumers use the list order.",
       "Sort the list by rank_id."},
      {"RT023", "rank order differs from the text order of server_id",
       "MindSpore's documentation requires that order for several hosts.",
       "Number ranks in the text order of server_id."},
      {"RT030", "device_id not a number, or repeated on one host",
       "HCCL rejects the table (EI0014, device_id), or two processes use one NPU.",
       "Write the physical id (N of /dev/davinciN), once per host."},
      {"RT031", "device_id out of range for the chip",
       "HCCL rejects the table (EI0014, device_id).",
       "Use the physical id, not that of a card or a logical one."},
      {"RT032", "number or set of devices that this hardware does not support",
       "Initialisation fails, or no ring can be built over these devices.",
       "Use the same supported set of devices on every server."},
      {"RT033", "device ids in text order",
       "0, 1, 10, 11, …, 2: ranks do not follow the dies, and the two dies of an NPU are not "
       "adjacent.",
       "Sort device ids as numbers and renumber the ranks."},
      {"RT040", "not an IP address", "HCCL rejects the table (EI0014, \"a valid IP address\").",
       "Use the address from 'hccn_tool -i N -ip -g'."},
      {"RT041", "device_ip repeated",
       "HCCL rejects the table (EI0014, device_ip); otherwise two ranks share one address.",
       "Give each device its own address; compare with hccn_tool on that host."},
      {"RT042", "device_ip missing but needed",
       "Ranks of different servers cannot reach each other (EI0014, device_ip).",
       "Add the address from hccn_tool or /etc/hccn.conf."},
      {"RT043", "IPv4 and IPv6 mixed",
       "HCCL stops: \"device ip family is not same as others\" (EI0001).",
       "Use one family for all devices."},
      {"RT044", "address that is unlikely to be that of a device",
       "A host, loopback or documentation address: links time out (EI0006).",
       "Use the address of the device's own NIC."},
      {"RT045", "vNIC address between servers without HCCS",
       "vNIC addresses are only reachable over HCCS inside a super pod: links time out (EI0006).",
       "Use the RoCE address from 'hccn_tool -i N -ip -g'."},
      {"RT046", "devices of one rail in different subnets",
       "Traffic between the i-th devices of the servers leaves its rail or needs a gateway.",
       "Check address and netmask of these devices in /etc/hccn.conf."},
      {"RT050", "port outside its range, privileged or shared",
       "HCCL rejects it (EI0014), or the process cannot bind it.",
       "Choose a free port from 1024 to 65535."},
      {"RT051", "backup address is not the sibling die's",
       "Operator retry between super pods falls back to the wrong NIC.",
       "Use the device_ip of device_id xor 1 of the same server."},
      {"RT060", "super pod list and server list disagree",
       "HCCL rejects the table (EI0014, super_pod_list).",
       "Name every server in exactly one super pod."},
      {"RT061", "super_device_id repeated in one super pod",
       "HCCL rejects the table (\"devices have same superDeviceId\").",
       "Use the SDID from 'npu-smi info -t spod-info'."},
      {"RT062", "super_device_id does not belong to this device",
       "vNIC addresses are derived from it: ranks connect to a device on another server.",
       "Use the SDID from 'npu-smi info -t spod-info'."},
      {"RT063", "the dies of one NPU are not adjacent",
       "Their ranks are not consecutive, so the fast link between the dies is not used.",
       "Give the dies 2k and 2k+1 consecutive ranks."},
      {"RT070", "groups, sizes or parts of a ModelArts table",
       "Prefill and decode instances do not find each other, or cluster ids are shifted.",
       "Merge the tables of all machines again: 'chipweave ranktable merge --help'."},
      {"RT071", "one host with two names",
       "HCCL treats it as two machines and uses RoCE between them, which hangs if RoCE is down.",
       "Use one server_id for all devices of a host."},
      {"RT080", "symbolic link or mode of the file",
       "torch_npu silently ignores a link and negotiates; MindIE rejects modes other than 0640.",
       "Copy the file (a ConfigMap mount is a link: use subPath) and set its mode."},
      {"RT081", "the machine disagrees with the table",
       "The NIC has a different address, or its link is down: links time out (EI0006).",
       "Repair the network, then generate the table again."},
      {"RT082", "ranks have different tables",
       "HCCL compares a checksum of the table between ranks and stops.",
       "Write the table once and give every rank the same file."},
      {"RT090", "the ring crosses leaf switches more often than necessary",
       "Each crossing shares the uplinks of a leaf, so all-reduce is slower than it could be.",
       "Reorder with 'chipweave ranktable order FILE --network NETWORK --write'."},
      {"RT100", "pre-release member names", "HCCL does not know these names.",
       "Generate the table with the released tools."},
      {"RT101", "rank_count", "HCCL rejects the table (EI0014, rank_count).",
       "Set it to the number of entries of rank_list (1 to 65536)."},
      {"RT102", "local_id", "HCCL does not find this peer in the topology file of the host.",
       "Use 0 to 63, once per instance of layer 0; 64 only for the backup NPU."},
      {"RT103", "layers of the network", "HCCL rejects level_list (EI0014).",
       "Use 1 to 8 layers with ascending net_layer 0 to 7, layer 0 of type TOPO_FILE_DESC."},
      {"RT104", "net_instance_id or net_type", "HCCL rejects level_list (EI0014).",
       "Use a name of 1 to 1024 characters and a type that HCCL knows."},
      {"RT105", "different numbers of addresses",
       "Ranks of one network instance must have the same number of addresses.",
       "List the same ports for each of these ranks."},
      {"RT106", "address", "HCCL rejects the address (EI0014, addr), or links time out.",
       "Use EID with 32 hex digits, or IPV4 or IPV6 with an address of that family."},
      {"RT107", "ports of an address", "HCCL rejects the ports (EI0014).",
       "Use 1 to 16 strings \"die/port\" or \"d2h\"."},
      {"RT108", "repeated address", "HCCL does not check this: two ranks share one address.",
       "Give each rank its own address."},
      {"RT109", "rank table and topology file disagree",
       "HCCL builds links over ports that the host does not have.",
       "Take both files from the same host and driver."},
  };
  return kRules;
}

const Rule& rule_of(std::string_view code) {
  static const Rule kNone{};
  const auto at = std::find_if(rules().begin(), rules().end(),
                               [&](const Rule& rule) { return rule.code == code; });
  return at == rules().end() ? kNone : *at;
}

}  // namespace chipweave::domain::ranktable
