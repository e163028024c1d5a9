#include <algorithm>

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

bool FindingLimit::admit(std::string_view code) {
  auto at = std::find_if(counts_.begin(), counts_.end(),
                         [&](const Count& count) { return count.code == code; });
  if (at == counts_.end()) at = counts_.insert(counts_.end(), Count{code, 0});
  return ++at->seen <= kMaxOfARule;
}

void FindingLimit::tell_rest(Source table, Findings& findings) const {
  for (const Count& count : counts_) {
    if (count.seen <= kMaxOfARule) continue;
    findings.push_back({count.code,
                        Severity::warning,
                        {table},
                        std::nullopt,
                        "and " + std::to_string(count.seen - kMaxOfARule) + " more of this rule"});
  }
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> kRules = {
      {"RT001", "not JSON", "No consumer can parse the file, so every rank stops before it starts.",
       "Mend the text at this place, or write the table anew.", false},
      {"RT002", "no rank table, or not one for this consumer",
       "The consumer reads other members and fails, or ignores the file and negotiates.",
       "Convert it with 'chipweave ranktable convert', or name the dialect.", false},
      {"RT003", "member given twice",
       "Parsers silently take the first or the last, so ranks may disagree.",
       "Keep one of the two.", false},
      {"RT004", "scalar of the wrong JSON type",
       "HCCL refuses it (\"not string\", EI0017; in 2.0 the other way round).",
       "Put quotes around it, in 2.0 tables remove them.", true},
      {"RT005", "required member missing", "HCCL stops: \"Config ... is missing\" (EI0017).",
       "Add the member, or generate the table anew.", false},
      {"RT006", "unknown member close to a known one",
       "Unknown members are ignored, so the value has no effect.", "Correct the name.", false},
      {"RT007", "version does not fit the members, or is in the wrong place",
       "Super pod members are only read with version 1.2; without them ranks talk over RoCE "
       "instead "
       "of HCCS. Members in the wrong place are not read.",
       "Set the version at the top; 1.2 goes with super_pod_list.", false},
      {"RT010", "status is not \"completed\"",
       "HCCL polls the file for up to 30 minutes and then gives up.",
       "Wait for the producer, or set \"completed\" when the table is.", false},
      {"RT011", "count does not fit the list", "HCCL refuses the table (EI0014, server_count).",
       "Set the count to the list's length.", true},
      {"RT012", "server_id empty, too long or twice",
       "HCCL refuses the table (EI0014, server_id), or two entries become one machine.",
       "Give every machine one entry with a name of its own.", false},
      {"RT013", "server is not named by an address",
       "The consumer connects to this text as an address and fails.",
       "Write the address of the host or the pod.", false},
      {"RT020", "rank ids are not 0..N-1",
       "HCCL refuses the table (EI0014, rank_id), or ranks wait for one that never comes.",
       "Number the ranks from 0 without gaps, each once.", true},
      {"RT021", "ranks of servers interleave",
       "Rings cross between machines at every step instead of once.",
       "Give each server a run of consecutive ranks: 'chipweave ranktable order --write'.", false},
      {"RT022", "list order differs from rank order",
       "HCCL sorts by rank_id, people and some consumers read the list.",
       "Sort the list by rank_id.", true},
      {"RT023", "rank order differs from the text order of server_id",
       "MindSpore's documentation demands that order over several hosts.",
       "Number ranks in the text order of server_id.", false},
      {"RT030", "device_id no number, or twice on one host",
       "HCCL refuses the table (EI0014, device_id), or two processes take one NPU.",
       "Write the physical id (N of /dev/davinciN), each once per host.", false},
      {"RT031", "device_id above what the chip has", "HCCL refuses the table (EI0014, device_id).",
       "Write the physical id, not a card's or a logical one.", false},
      {"RT032", "number or set of devices that this hardware does not run",
       "Initialisation fails, or no ring can be built over these devices.",
       "Use the same legal set of devices on every server.", false},
      {"RT033", "device ids in text order",
       "0, 1, 10, 11, .. 2: ranks do not follow the dies, and the two dies of an NPU are apart.",
       "Sort device ids as numbers and number ranks again.", false},
      {"RT040", "not an IP address", "HCCL refuses the table (EI0014, \"a valid IP address\").",
       "Write what 'hccn_tool -i N -ip -g' says.", false},
      {"RT041", "device_ip twice",
       "HCCL refuses the table (EI0014, device_ip); where it does not, two ranks answer one call.",
       "Give each device its own address; compare with hccn_tool on that host.", false},
      {"RT042", "device_ip missing though needed",
       "Ranks of different servers cannot reach each other (EI0014, device_ip).",
       "Add the address from hccn_tool or /etc/hccn.conf.", false},
      {"RT043", "IPv4 and IPv6 mixed",
       "HCCL stops: \"device ip family is not same as others\" (EI0001).",
       "Use one family for all devices.", false},
      {"RT044", "address that is hardly a device's",
       "It is the host's, a loopback or a documentation address: links time out (EI0006).",
       "Write the address of the device's own NIC.", false},
      {"RT045", "vNIC address between servers that have no HCCS",
       "vNIC addresses are only reachable over HCCS in one super pod: links time out (EI0006).",
       "Write the RoCE address that 'hccn_tool -i N -ip -g' says.", false},
      {"RT046", "devices of one rail in different subnets",
       "Traffic between the i-th devices of the servers leaves its rail or needs a gateway.",
       "Check address and netmask of these devices in /etc/hccn.conf.", false},
      {"RT050", "port outside its range, privileged or shared",
       "HCCL refuses it (EI0014), or the process cannot bind it.",
       "Choose a free port from 1024 to 65535.", false},
      {"RT051", "backup address is not the sibling die's",
       "Operator retry between super pods falls back to a NIC that is not there.",
       "Name the device_ip of device_id xor 1 of the same server.", false},
      {"RT060", "super pod list and server list do not agree",
       "HCCL refuses the table (EI0014, super_pod_list).",
       "Name every server in exactly one super pod.", false},
      {"RT061", "super_device_id twice in one super pod",
       "HCCL refuses the table (\"devices have same superDeviceId\").",
       "Write the SDID that 'npu-smi info -t spod-info' says.", false},
      {"RT062", "super_device_id does not belong to this device",
       "vNIC addresses are derived from it: ranks call a device on another server.",
       "Write the SDID that 'npu-smi info -t spod-info' says.", false},
      {"RT063", "the dies of one NPU are apart",
       "Their ranks are not neighbours, so the fast link between the dies is not used.",
       "Number the dies 2k and 2k+1 one after the other.", false},
      {"RT070", "groups, sizes or parts of a ModelArts table",
       "Prefill and decode instances do not find each other, or cluster ids are shifted.",
       "Merge the tables of all machines anew: 'chipweave ranktable merge'.", false},
      {"RT071", "one host under two names",
       "HCCL takes it for two machines and wants RoCE between them, which hangs where it is down.",
       "Use one server_id for all devices of a host.", false},
      {"RT080", "symbolic link or mode of the file",
       "torch_npu silently ignores a link and negotiates; MindIE refuses other modes than 0640.",
       "Copy the file (a ConfigMap mount is a link: use subPath) and set its mode.", false},
      {"RT081", "the machine says something else",
       "The NIC has another address than the table, or its link is down: links time out (EI0006).",
       "Generate the table anew after the network is mended.", false},
      {"RT082", "ranks have different tables",
       "HCCL compares a checksum of the table between ranks and stops.",
       "Write the table once and give every rank the same file.", false},
      {"RT090", "the ring crosses leaf switches more often than it must",
       "Each crossing shares the uplinks of a leaf, so all-reduce is slower than this network "
       "allows.",
       "'chipweave ranktable order --network N --write'.", false},
      {"RT100", "member names of before the release", "HCCL does not know these names.",
       "Generate the table with the released tools.", false},
      {"RT101", "rank_count", "HCCL refuses the table (EI0014, rank_count).",
       "Set it to the number of entries of rank_list (1 to 65536).", true},
      {"RT102", "local_id", "HCCL finds no such peer in the host's topology file.",
       "Use 0..63, each once per instance of layer 0; 64 only for the backup NPU.", false},
      {"RT103", "layers of the network", "HCCL refuses level_list (EI0014).",
       "1 to 8 layers, net_layer 0..7 ascending, layer 0 of type TOPO_FILE_DESC.", false},
      {"RT104", "net_instance_id or net_type", "HCCL refuses level_list (EI0014).",
       "Use a name of 1 to 1024 characters and a type that HCCL knows.", false},
      {"RT105", "numbers of addresses differ",
       "Ranks of one network instance must have the same number of addresses.",
       "List the same ports for each of these ranks.", false},
      {"RT106", "address", "HCCL refuses the address (EI0014, addr), or links time out.",
       "EID: 32 hex digits; IPV4 and IPV6 in upper case with an address of that family.", false},
      {"RT107", "ports of an address", "HCCL refuses the ports (EI0014).",
       "1 to 16 texts \"die/port\" or \"d2h\".", false},
      {"RT108", "address twice", "HCCL does not check it: two ranks answer one call.",
       "Give each rank its own address.", false},
      {"RT109", "rank table and topology file do not agree",
       "HCCL builds links over ports that the host does not have.",
       "Take both files from the same host and driver.", false},
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
