#include "scheduler-plugin/server/caller_check.hpp"

#include <algorithm>
#include <array>

#include "common/base/text.hpp"
#include "common/codec/kube/base64.hpp"

namespace chipweave::sched {
namespace {

constexpr std::string_view kCallers = "/callers/";
constexpr std::string_view kBasic = "basic ";
constexpr std::string_view kBearer = "bearer ";
constexpr std::size_t kMaxField = 1024;  // a name and a secret in base64 are shorter

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

// What a caller shows besides a certificate. Not movable: the views are into `text`.
struct Shown {
  std::optional<std::string_view> secret{};
  std::optional<std::string_view> name{};  // of the Basic scheme
  std::string text{};                      // "NAME:SECRET"
};

bool has_scheme(std::string_view field, std::string_view scheme) {
  return field.size() > scheme.size() && field.size() <= kMaxField &&
         std::equal(scheme.begin(), scheme.end(), field.begin(),
                    [](char wanted, char c) { return wanted == lower_case(c); });
}

void read_shown(const http::RequestHead& request, const CallerPath& to, Access access,
                Shown& shown) {
  const std::string_view field = request.authorization;
  if (to.secret) {
    shown.secret = to.secret;
  } else if (has_scheme(field, kBasic)) {
    if (auto text = codec::decode_base64(field.substr(kBasic.size())))
      shown.text = std::move(*text);
    const std::string_view text = shown.text;
    const std::size_t colon = std::min(text.find(':'), text.size());
    shown.name = text.substr(0, colon);
    shown.secret = text.substr(std::min(colon + 1, text.size()));
  } else if (access == Access::reader && has_scheme(field, kBearer)) {
    shown.secret = field.substr(kBearer.size());
  }
}

// Not the whole of 127.0.0.0/8: proxies of service meshes deliver what comes from outside from
// addresses in it.
bool is_this_machine(const http::Peer* peer) {
  if (peer == nullptr) return false;
  const std::string address = peer->address();
  return address == "127.0.0.1" || address == "::1" || address == "::ffff:127.0.0.1";
}

}  // namespace

std::string_view to_string(CallerRefusal why) {
  constexpr std::array<std::string_view, kCallerRefusals> kNames{
      "no_credentials", "name_not_allowed", "unknown_secret", "wrong_path",
      "untrusted_certificate"};
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
    case CallerRefusal::untrusted_certificate:
      return "tls-client-ca has not signed the client certificate, or it is not valid";
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

bool CallerCheck::may_read(const http::RequestHead& request) const {
  if (rules_.client_ca) return request.trusted;
  return rules_.read_from_loopback && (rules_.open || is_this_machine(request.peer));
}

std::optional<CallerRefusal> CallerCheck::refuse(const http::RequestHead& request,
                                                 const CallerPath& to) const {
  const Access access = access_of(request.method, to.path);
  Shown shown;
  read_shown(request, to, access, shown);
  auto why = CallerRefusal::no_credentials;
  if (shown.secret) {
    const CallerSecrets::Caller* caller = find(*shown.secret);
    if (caller == nullptr || (shown.name && caller->name != *shown.name)) {
      why = CallerRefusal::unknown_secret;
      if (to.secret) return why;
    } else if (CallerSecrets::may_call(*caller, to.path) ||
               (access == Access::reader && CallerSecrets::is_reader(*caller))) {
      return std::nullopt;
    } else {
      why = CallerRefusal::wrong_path;
    }
  }
  switch (access) {
    case Access::anyone:
      return std::nullopt;
    case Access::reader:  // another field than ours does not matter
      return may_read(request) ? std::nullopt : std::optional(why);
    case Access::caller:
      if (shown.secret) return why;
      if (rules_.client_ca) return refuse_certificate(request);
      return rules_.open ? std::nullopt : std::optional(why);
  }
  return why;
}

const CallerSecrets::Caller* CallerCheck::find(std::string_view secret) const {
  return rules_.secrets == nullptr ? nullptr : rules_.secrets->find(secret);
}

bool CallerCheck::is_open(const http::RequestHead& request, const CallerPath& to) {
  return access_of(request.method, to.path) == Access::anyone;
}

std::string CallerCheck::certificate_of(const http::RequestHead& request) const {
  if (request.peer == nullptr || request.peer->names().empty()) return "certificate";
  const std::vector<std::string>& names = request.peer->names();
  const auto listed = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
    return is_listed({name}, rules_.client_names);
  });
  return "certificate " + (listed == names.end() ? names.front() : *listed);
}

// A secret that is not known although the check has let the request through: its owner must not
// count as a client without a name.
std::string CallerCheck::name_of(const http::RequestHead& request, const CallerPath& to) const {
  Shown shown;
  read_shown(request, to, Access::caller, shown);
  if (shown.secret) {
    const CallerSecrets::Caller* caller = find(*shown.secret);
    return caller == nullptr ? "unknown secret" : caller->name;
  }
  return rules_.client_ca ? certificate_of(request) : std::string();
}

std::string CallerCheck::known_name(const http::RequestHead& request, const CallerPath& to) const {
  Shown shown;
  read_shown(request, to, access_of(request.method, to.path), shown);
  const CallerSecrets::Caller* caller = shown.secret ? find(*shown.secret) : nullptr;
  if (caller != nullptr) return caller->name;
  return rules_.client_ca && request.trusted ? certificate_of(request) : std::string();
}

}  // namespace chipweave::sched
