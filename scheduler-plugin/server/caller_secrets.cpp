#include "scheduler-plugin/server/caller_secrets.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/dns_name.hpp"
#include "common/base/foreign_text.hpp"
#include "common/http/sha256.hpp"

namespace chipweave::sched {
namespace {

constexpr std::string_view kReader = "reader";

struct CallerKind {
  std::string_view name;
  std::string_view paths;  // what they begin with; empty: none
};
constexpr std::array<CallerKind, 5> kCallerKinds{{{"kube-scheduler", "/kube/"},
                                                  {"volcano", "/volcano/"},
                                                  {"webhook", "/admission/"},
                                                  {"standalone", "/standalone/"},
                                                  {kReader, ""}}};

const CallerKind* kind_of_caller(std::string_view name) {
  for (const CallerKind& kind : kCallerKinds) {
    if (!name.starts_with(kind.name)) continue;
    if (name.size() == kind.name.size() || name[kind.name.size()] == '-') return &kind;
  }
  return nullptr;
}

bool is_secret_character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

}  // namespace

Result<CallerSecrets::Caller> CallerSecrets::read(std::string_view name, std::string_view content) {
  if (!is_dns_label(name) || kind_of_caller(name) == nullptr) {
    return make_error(
        Errc::invalid_argument,
        "unknown caller " + in_quotes(name) +
            ": expected kube-scheduler, volcano, webhook, standalone or reader, or one "
            "of them followed by - and letters or digits");
  }
  if (content.ends_with('\n')) content.remove_suffix(1);
  if (content.size() < kMinSecret || content.size() > kMaxSecret ||
      !std::all_of(content.begin(), content.end(), is_secret_character)) {
    return make_error(Errc::invalid_argument,
                      "expected " + std::to_string(kMinSecret) + " to " +
                          std::to_string(kMaxSecret) +
                          " letters, digits, '-' or '_' in one line, as openssl rand -hex 24 "
                          "prints");
  }
  return Caller{std::string(name), http::sha256(content)};
}

bool CallerSecrets::may_call(const Caller& caller, std::string_view path) {
  const CallerKind* kind = kind_of_caller(caller.name);
  return kind != nullptr && !kind->paths.empty() && path.starts_with(kind->paths);
}

bool CallerSecrets::is_reader(const Caller& caller) {
  const CallerKind* kind = kind_of_caller(caller.name);
  return kind != nullptr && kind->name == kReader;
}

bool CallerSecrets::replace(std::vector<Caller> callers) {
  if (callers == callers_) return false;
  callers_ = std::move(callers);
  return true;
}

const CallerSecrets::Caller* CallerSecrets::find(std::string_view secret) const {
  const std::string digest = http::sha256(secret);
  const Caller* found = nullptr;
  for (const Caller& caller : callers_) {
    if (http::same_digest(caller.digest, digest)) found = &caller;
  }
  return found;
}

}  // namespace chipweave::sched
