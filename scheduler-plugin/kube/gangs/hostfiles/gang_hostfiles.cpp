#include "scheduler-plugin/kube/gangs/hostfiles/gang_hostfiles.hpp"

#include <set>
#include <utility>

#include "common/base/dns_name.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/stable_hash.hpp"

namespace chipweave::sched {
namespace {

constexpr const char* kHostfileKey = "hostfile";
constexpr const char* kRankfileKey = "rankfile";

Error wrong(const std::string& pod, const std::string& what) {
  return make_error(Errc::invalid_argument, "pod " + pod + " " + what);
}

// Without room for it, a comment with the reason.
std::string rankfile_of(const std::vector<codec::Host>& hosts, std::size_t most,
                        std::string& problem) {
  auto text = codec::write_rankfile(hosts, most);
  if (text) return *std::move(text);
  problem = text.error().text() + " and is left out; the hostfile has the same order";
  return "# left out: " + text.error().text() + "\n";
}

}  // namespace

std::string hostfile_mark(std::string_view gang) { return hexadecimal(stable_hash(gang)); }

void GangHostfiles::tick(bool leads) {
  const std::uint64_t term = scheduler_.authority().term();
  if (!leads || term_ != term) {
    files_.clear();
    term_.reset();
    if (!leads) return;
    term_ = term;
    pods_.all_changed();
  }
  take_changed_pods();
  std::size_t slots = 0;
  for (auto at = files_.begin(); at != files_.end();) {
    auto& [id, file] = *at;
    const Gang* gang = scheduler_.gangs().find(id);
    if (gang == nullptr) {
      at = files_.erase(at);
      continue;
    }
    ++at;
    const GangPlan* plan = scheduler_.gang_plans().find(id);
    if (plan == nullptr || slots >= kSlotsATick) continue;
    Source source{plan->id, plan->version, gang->changes};
    if (!file.pods_changed && file.source == source) continue;
    slots += plan->slots.size();
    file.pods_changed = false;
    file.source = std::move(source);
    update(*gang, *plan, file);
  }
}

void GangHostfiles::take_changed_pods() {
  std::set<std::string_view> refused;
  for (const std::string& uid : pods_.take_changed()) {
    const Gang* gang = scheduler_.gangs().of(uid);
    if (gang == nullptr) continue;  // when it has a mark, it is seen again
    const auto known = files_.find(gang->id);
    if (known != files_.end()) {
      known->second.pods_changed = true;
    } else if (files_.size() < kMaxGangs) {
      files_.try_emplace(gang->id);
    } else if (refused.insert(gang->id).second) {
      ways_.failed(ref_of(*gang), "There is no hostfile: more than " + std::to_string(kMaxGangs) +
                                      " gangs ask for one");
    }
  }
}

void GangHostfiles::update(const Gang& gang, const GangPlan& plan, File& file) {
  auto content = content_of(gang, plan);
  if (!content) return report(gang.id, "The hostfile is not written: " + content.error().text());
  if (*content) keep(gang, file, **content);
}

Result<std::optional<GangHostfiles::Content>> GangHostfiles::content_of(
    const Gang& gang, const GangPlan& plan) const {
  Content out;
  std::set<std::string_view> hosts;
  for (const GangSlot& slot : plan.slots) {
    const auto member = gang.members.find(slot.uid);
    if (member == gang.members.end()) return std::optional<Content>();
    const std::string pod = member->second.text();
    const PodHost* said = pods_.find(member->second, slot.uid);
    if (said == nullptr)
      return wrong(pod, std::string("has no annotation ") + kHostfileAnnotation +
                            ", which all pods with a rank must have");
    if (!is_dns_subdomain(said->config_map))
      return wrong(pod, std::string("has the annotation ") + kHostfileAnnotation + ": " +
                            in_quotes(said->config_map) + ", which is not the name of a ConfigMap");
    if (!is_dns_subdomain(said->host))
      return wrong(pod, "has the host name " + in_quotes(said->host) + ", which is none");
    if (!hosts.insert(said->host).second)
      return wrong(pod, "has the host name " + said->host + ", as another pod of the gang");
    if (out.name.empty()) {
      out.name = said->config_map;
      out.first = {"v1", "Pod", member->second.name, slot.uid};
    }
    if (out.name != said->config_map)
      return wrong(
          pod, "names the hostfile " + said->config_map + ", and the pod of rank 0 " + out.name);
    out.hosts.push_back({said->host, slot.chips, {}});
  }
  if (out.hosts.empty()) return std::optional<Content>();
  return std::optional<Content>(std::move(out));
}

void GangHostfiles::keep(const Gang& gang, File& file, const Content& content) {
  auto hostfile = codec::write_hostfile(content.hosts, max_bytes_);
  if (!hostfile) return report(gang.id, "The hostfile is not written: " + hostfile.error().text());
  std::string problem;
  std::string rankfile = rankfile_of(content.hosts, max_bytes_ - hostfile->size(), problem);
  if (!problem.empty()) problem = "The rankfile is not written: " + problem;
  kube::ConfigMapKeeper::Wanted wanted;
  codec::StringMap data{{kHostfileKey, *std::move(hostfile)}, {kRankfileKey, std::move(rankfile)}};
  wanted.data = [data = std::move(data)](std::int64_t) { return data; };
  const auto owner = ways_.owner(ref_of(gang));
  wanted.owners = {
      owner ? codec::ObjectOwner{owner->api_version, owner->kind, owner->name, owner->uid}
            : content.first};
  const bool fresh = file.keeper == nullptr || file.name != content.name;
  if (fresh) {
    file.name = content.name;
    file.keeper = keeper_of(gang, content.name);
  }
  file.keeper->want(std::move(wanted));
  if (fresh) file.keeper->start();
  if (problem.empty()) {
    file.problem.clear();
  } else {
    report(gang.id, problem);
  }
}

std::unique_ptr<kube::ConfigMapKeeper> GangHostfiles::keeper_of(const Gang& gang,
                                                                const std::string& name) {
  kube::ConfigMapKeeper::Options options;
  options.ns = gang.ns;
  options.name = name;
  options.managed_by = "chipweave-scheduler";
  options.marks[kHostfileLabel] = hostfile_mark(gang.id);
  options.read_by_patch = true;
  options.check_every = kCheckEvery;
  options.may_send = ways_.fence();
  options.chain.what = "hostfile of gang " + gang.id;
  options.chain.seed = ++made_;
  kube::ConfigMapKeeper::Events events{nullptr, [](bool /*works*/) {}};
  events.refused = [this, id = gang.id, object = gang.ns + "/" + name](const std::string& why) {
    report(id, "ConfigMap " + object + " is not written: " + why);
  };
  return std::make_unique<kube::ConfigMapKeeper>(transport_, clock_, std::move(options),
                                                 std::move(events));
}

void GangHostfiles::report(const std::string& gang, const std::string& problem) {
  const auto file = files_.find(gang);
  const Gang* of = scheduler_.gangs().find(gang);
  if (of == nullptr || file == files_.end()) return;
  if (std::exchange(file->second.problem, problem) != problem) ways_.failed(ref_of(*of), problem);
}

}  // namespace chipweave::sched
