#include "cli/ranktable/launchers.hpp"

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"

namespace chipweave::cli {

using domain::ranktable::RankedHost;

namespace {

Error cannot(std::string_view form, const std::string& why) {
  return make_error(Errc::invalid_argument, concat(form, " cannot express this order: ", why));
}

// Whether ranks are 0..N-1, host after host.
Result<void> check_runs(const std::vector<RankedHost>& hosts, std::string_view form) {
  std::int64_t next = 0;
  for (const RankedHost& host : hosts) {
    for (const auto& rank : host.ranks) {
      if (rank.first != next) {
        return cannot(form,
                      concat("rank ", next, " is not on host ", host.name,
                             " with its other ranks; use a rankfile, or number the ranks host by "
                             "host ('chipweave ranktable order --write')"));
      }
      ++next;
    }
  }
  return {};
}

// Open MPI binds every rank of a rankfile to what its slot list names, and takes no line without
// one: slot=0 is core 0, slot=0:* all cores of CPU package 0 (page "Rankfiles" of Open MPI 5.0, and
// the parser of slot lists in Open MPI and PRRTE, where an asterisk is the whole package).
std::string rankfile(const std::vector<RankedHost>& hosts, int cpu_packages) {
  std::string slots;
  for (int i = 0; i < cpu_packages; ++i) slots += concat(i == 0 ? "" : ";", i, ":*");
  std::vector<std::pair<std::int64_t, std::string>> lines;
  for (const RankedHost& host : hosts) {
    for (const auto& rank : host.ranks) {
      lines.emplace_back(rank.first,
                         concat("rank ", rank.first, "=", host.name, " slot=", slots, "\n"));
    }
  }
  std::sort(lines.begin(), lines.end());
  std::string out;
  for (const auto& line : lines) out += line.second;
  return out;
}

// One host name per task, in the order of ranks: srun --distribution=arbitrary.
std::string slurm_hostfile(const std::vector<RankedHost>& hosts) {
  std::vector<std::pair<std::int64_t, const std::string*>> lines;
  for (const RankedHost& host : hosts) {
    for (const auto& rank : host.ranks) lines.emplace_back(rank.first, &host.name);
  }
  std::sort(lines.begin(), lines.end());
  std::string out;
  for (const auto& line : lines) out += *line.second + "\n";
  return out;
}

// The address is a flag: torchrun does not read MASTER_ADDR, and its default is this host.
Result<std::string> torchrun(const std::vector<RankedHost>& hosts) {
  const std::size_t each = hosts.front().ranks.size();
  std::string out;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (hosts[i].ranks.size() != each) {
      return cannot("torchrun", concat("host ", hosts[i].name, " has ", hosts[i].ranks.size(),
                                       " ranks, ", hosts.front().name, " has ", each));
    }
    out += concat(hosts[i].name, " torchrun --nnodes=", hosts.size(), " --node_rank=", i,
                  " --nproc_per_node=", each, " --master_addr=", hosts.front().name, "\n");
  }
  return out;
}

std::string slot_lines(const std::vector<RankedHost>& hosts, const char* between) {
  std::string out;
  for (const RankedHost& host : hosts) {
    out += concat(host.name, between, host.ranks.size(), "\n");
  }
  return out;
}

}  // namespace

const std::vector<std::string_view>& launcher_forms() {
  static const std::vector<std::string_view> kForms = {
      "hostfile", "machinefile", "rankfile", "slurm-hostfile", "torchrun", "master-addr"};
  return kForms;
}

Result<std::string> launcher_text(const std::vector<RankedHost>& hosts, std::string_view form,
                                  int cpu_packages) {
  if (hosts.empty()) return cannot(form, "there are no hosts");
  if (form == "rankfile") return rankfile(hosts, cpu_packages);
  if (form == "slurm-hostfile") return slurm_hostfile(hosts);
  if (form == "master-addr") return hosts.front().name + "\n";
  const auto runs = check_runs(hosts, form);
  if (!runs) return runs.error();
  if (form == "hostfile") return slot_lines(hosts, " slots=");
  if (form == "machinefile") return slot_lines(hosts, ":");
  return torchrun(hosts);
}

}  // namespace chipweave::cli
