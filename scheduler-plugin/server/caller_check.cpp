#include "scheduler-plugin/server/caller_check.hpp"

#include <algorithm>
#include <array>

#include "common/base/text.hpp"
#include "common/codec/kube/base64.hpp"

namespace chipweave::sched {
namespace {

constexpr std::string_view kCallers = "/callers/";
constexpr std::string_view kBasic = "basic ";
constexpr std::size_t kMaxBasic = 1024;  // a name and a secret in base64 are shorter

enum class Access {
  anyone,  // the kubelet's probes cannot present a certificate
  reader,  // changes nothing
  caller,  // binds, reserves or frees chips
};

Access access_of(std::string_view method, std::string_view path) {
  if (path == "/healthz" || path == "/readyz" || path == "/readyz/standby") return Access::anyone;
  if (path.starts_with("/standalone/") && method == "GET") return Access::reader;
  for (const std::string_view decides : {"/kube/", "/volcano/", "/admission/", "/standalone/"}) {
    if (path.starts_with(decides)) return Access::caller;
  }
  return Access::reader;
}

struct BasicCredentials {
  std::string text;  // "NAME:SECRET"
  std::string_view name;
  std::string_view secret;
};

// False if the field is not of HTTP's Basic scheme.
bool read_basic(std::string_view field, BasicCredentials& to) {
  const bool basic = field.size() > kBasic.size() && field.size() <= kMaxBasic &&
                     std::equal(kBasic.begin(), kBasic.end(), field.begin(),
                                [](char wanted, char c) { return wanted == lower_case(c); });
  if (!basic) return false;
  if (auto text = codec::decode_base64(field.substr(kBasic.size()))) to.text = std::move(*text);
  const std::size_t colon = std::min(to.text.find(':'), to.text.size());
  to.name = std::string_view(to.text).substr(0, colon);
  to.secret = std::string_view(to.text).substr(std::min(colon + 1, to.text.size()));
  return true;
}

}  // namespace

std::string_view to_string(CallerRefusal why) {
  constexpr std::array<std::string_view, kCallerRefusals> kNames{
      "no_credentials", "name_not_allowed", "unknown_secret", "wrong_path"};
  return kNames[static_cast<std::size_t>(why)];
}

std::string_view explain(CallerRefusal why) {
  switch (why) {
    case CallerRefusal::no_credentials:
      return "this path requires a client certificate or a caller's secret";
    case CallerRefusal::name_not_allowed:
      return "client-names lists no name of the client certificate";
    case CallerRefusal::unknown_secret:
      return "no caller has this secret";
    case CallerRefusal::wrong_path:
      return "the secret is another caller's than this path requires";
  }
  return "";
}

CallerPath::CallerPath(std::string_view sent) : path(sent) {
  if (!sent.starts_with(kCallers)) return;
  const std::string_view rest = sent.substr(kCallers.size());
  const std::size_t end = std::min(rest.find('/'), rest.size());
  secret = rest.substr(0, end);
  path = rest.substr(end);
}

bool CallerCheck::is_listed(const std::vector<std::string>& names,
                            const std::vector<std::string>& listed) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::find(listed.begin(), listed.end(), name) != listed.end();
  });
}

std::optional<CallerRefusal> CallerCheck::refuse_certificate(
    const http::RequestHead& request) const {
  if (!request.trusted) return CallerRefusal::no_credentials;
  if (rules_.client_names.empty()) return std::nullopt;
  const bool listed =
      request.peer != nullptr && is_listed(request.peer->names(), rules_.client_names);
  return listed ? std::nullopt : std::optional(CallerRefusal::name_not_allowed);
}

std::optional<CallerRefusal> CallerCheck::refuse(const http::RequestHead& request,
                                                 const CallerPath& to) const {
  const Access access = access_of(request.method, to.path);
  BasicCredentials basic;
  std::optional<std::string_view> secret = to.secret;
  const bool in_field =
      !secret && access == Access::caller && read_basic(request.authorization, basic);
  if (in_field) secret = basic.secret;
  if (secret) {
    const CallerSecrets::Caller* caller =
        rules_.secrets == nullptr ? nullptr : rules_.secrets->find(*secret);
    if (caller == nullptr || (in_field && caller->name != basic.name))
      return CallerRefusal::unknown_secret;
    if (access == Access::caller)
      return CallerSecrets::may_call(*caller, to.path) ? std::nullopt
                                                       : std::optional(CallerRefusal::wrong_path);
  }
  if (access == Access::anyone) return std::nullopt;
  if (access == Access::reader)
    return request.trusted ? std::nullopt : std::optional(CallerRefusal::no_credentials);
  if (rules_.client_ca) return refuse_certificate(request);
  return rules_.loopback ? std::nullopt : std::optional(CallerRefusal::no_credentials);
}

}  // namespace chipweave::sched
