#include "cli/views/view.hpp"

#include <algorithm>
#include <string_view>
#include <thread>

#include "cli/terminal.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"

namespace chipweave::cli {
namespace {

constexpr std::string_view kPodCharacters = "abcdefghijklmnopqrstuvwxyz0123456789-.";
constexpr std::string_view kNodeCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";

bool is_name_of(std::string_view characters, const std::string& name) {
  return !name.empty() && name.find_first_not_of(characters) == std::string::npos;
}

// Objects of the same name in other namespaces, or else those whose names are near.
std::string meant(const std::string& typed, const std::vector<std::string>& all) {
  const std::string_view name = std::string_view(typed).substr(typed.find('/') + 1);
  std::vector<std::string_view> same;
  for (const std::string_view one : all)
    if (one.substr(one.find('/') + 1) == name) same.push_back(one);
  if (same.empty()) return did_you_mean(typed, {all.begin(), all.end()});
  return " (did you mean " + in_quotes(same.front()) + "?)";
}

}  // namespace

Result<std::vector<std::string>> names_of_pods(SchedulerClient& scheduler) {
  return scheduler.pods().transform([](const std::vector<codec::PodSummary>& pods) {
    std::vector<std::string> out;
    out.reserve(pods.size());
    for (const codec::PodSummary& pod : pods) out.push_back(pod.ns + "/" + pod.name);
    return out;
  });
}

Result<std::vector<std::string>> names_of_nodes(SchedulerClient& scheduler) {
  return scheduler.nodes().transform([](const std::vector<codec::NodeView>& nodes) {
    std::vector<std::string> out;
    out.reserve(nodes.size());
    for (const codec::NodeView& node : nodes) out.push_back(node.name);
    return out;
  });
}

Result<std::vector<std::string>> names_of_gangs(SchedulerClient& scheduler) {
  return scheduler.list("/api/v1/gangs")
      .and_then(codec::read_gang_summaries)
      .transform([](const std::vector<codec::GangSummary>& gangs) {
        std::vector<std::string> out;
        out.reserve(gangs.size());
        for (const codec::GangSummary& gang : gangs) out.push_back(gang.ns + "/" + gang.name);
        return out;
      });
}

Exit view_failed(SchedulerClient& scheduler, const Error& error, const Named& named) {
  const bool no_route = error.message.find("no such path") != std::string::npos;
  if (named.name.empty() || error.code != Errc::not_found || no_route)
    return complain(error, Exit::unreadable);
  const auto all = named.all(scheduler);
  return complain(concat(named.kind, " ", in_quotes(named.name), " not found",
                         all ? meant(named.name, *all) : ""),
                  Exit::not_found);
}

std::string pod_path(const std::string& typed, const std::string& ns) {
  const std::size_t slash = typed.find('/');
  const std::string in = slash == std::string::npos ? ns : typed.substr(0, slash);
  const std::string name = slash == std::string::npos ? typed : typed.substr(slash + 1);
  if (is_name_of(kPodCharacters, in) && is_name_of(kPodCharacters, name)) return in + "/" + name;
  complain("POD: expected NAME or NAMESPACE/NAME, got " + in_quotes(typed));
  return {};
}

bool is_node_name(const std::string& name) { return is_name_of(kNodeCharacters, name); }

Exit watch(SchedulerClient& scheduler, const std::string& target, bool headed,
           const Changes& changes) {
  for (bool first = true;; first = false) {
    const Result<std::string> body = scheduler.list(target);
    if (!body) return complain(body.error(), exit_for(body.error()));
    const Result<std::string> text = changes(*body, first);
    if (!text) return complain(text.error(), Exit::unreadable);
    std::string_view rows = *text;
    if (headed && !first) rows.remove_prefix(std::min(rows.find('\n') + 1, rows.size()));
    if (!rows.empty() && !print(rows)) return Exit::unreadable;
    std::this_thread::sleep_for(kWatchEvery);
  }
}

}  // namespace chipweave::cli
