// CallerCheck — decides whether a caller may make a request of the HTTP port.
//
// Callers of requests that decide something (they bind, reserve or free chips) must authenticate:
// with a certificate of the client CA, or with a secret, in the path (/callers/SECRET/kube/filter)
// or as the password of HTTP's Basic scheme. The only exception is standalone mode on a loopback
// address without a client CA. Callers of requests that only read need a certificate of the client
// CA or a reader's secret, which may also be a bearer token; without a client CA, callers on the
// same machine (kubectl port-forward ends in the pod) need neither. Owner: the loop thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/http/server.hpp"
#include "scheduler-plugin/server/caller_secrets.hpp"

namespace chipweave::sched {

struct CallerRules {
  bool open = true;                       // standalone, listening on a loopback address
  bool client_ca = false;                 // clients' certificates are verified
  std::vector<std::string> client_names;  // empty: every certificate of the client CA
  const CallerSecrets* secrets = nullptr;
  bool read_from_loopback = true;  // callers from loopback may read without credentials
};

enum class CallerRefusal {
  no_credentials,
  name_not_allowed,
  unknown_secret,
  wrong_path,
  untrusted_certificate,  // refused in the handshake
};
inline constexpr int kCallerRefusals = 5;
std::string_view to_string(CallerRefusal why);  // the metric's label
std::string_view explain(CallerRefusal why);    // for the caller and the log

// Where a request goes: its path without the segment /callers/SECRET.
struct CallerPath {
  explicit CallerPath(std::string_view sent);
  std::string_view path;
  std::optional<std::string_view> secret;
};

class CallerCheck {
 public:
  explicit CallerCheck(CallerRules rules) : rules_(std::move(rules)) {}

  // Why the request is refused; nullopt: it may go on.
  std::optional<CallerRefusal> refuse(const http::RequestHead& request, const CallerPath& to) const;
  // Who makes a request that is not refused: the name of its secret, "certificate NAME", or "" if
  // it has shown nothing.
  std::string name_of(const http::RequestHead& request, const CallerPath& to) const;
  // The server listens beyond loopback after all.
  void close() { rules_.open = false; }
  // The paths of probes: everyone may call them, so they take no body.
  static bool is_open(const http::RequestHead& request, const CallerPath& to);
  // Who shows credentials that do not suffice, for the log: the name of its secret, "certificate
  // NAME", or "".
  std::string known_name(const http::RequestHead& request, const CallerPath& to) const;
  // With client_names: whether one of these names is listed.
  static bool is_listed(const std::vector<std::string>& names,
                        const std::vector<std::string>& listed);

 private:
  std::optional<CallerRefusal> refuse_certificate(const http::RequestHead& request) const;
  bool may_read(const http::RequestHead& request) const;
  const CallerSecrets::Caller* find(std::string_view secret) const;
  std::string certificate_of(const http::RequestHead& request) const;
  CallerRules rules_;
};

}  // namespace chipweave::sched
