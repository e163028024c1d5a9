// CallerSecrets — the secrets by which callers that cannot present a certificate prove who they
// are: Volcano, API servers, Prometheus, and kube-scheduler where it has none.
//
// Only digests are kept. Each secret is good for the paths of its kind of caller, because clients
// quote URLs in messages that others can read: an API server shows the webhook's path when it
// cannot reach it. Owner: the loop thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::sched {

class CallerSecrets {
 public:
  static constexpr std::size_t kMaxCallers = 64;
  static constexpr std::size_t kMinSecret = 32;  // characters
  static constexpr std::size_t kMaxSecret = 256;

  struct Caller {
    std::string name;    // the file's name
    std::string digest;  // digest of the secret
    friend bool operator==(const Caller&, const Caller&) = default;
  };

  // name: a kind of caller (kube-scheduler, volcano, webhook, standalone, reader), or one followed
  // by "-" and more. content: the secret, one line end is ignored. Errors: invalid_argument,
  // without content.
  static Result<Caller> read(std::string_view name, std::string_view content);
  // Whether the caller's kind may call this path of its own. A reader has none: it may read what
  // a client certificate may read.
  static bool may_call(const Caller& caller, std::string_view path);
  static bool is_reader(const Caller& caller);

  // At most kMaxCallers. Returns whether they differ from those before.
  bool replace(std::vector<Caller> callers);
  const std::vector<Caller>& callers() const { return callers_; }
  // Who has this secret; null if it is unknown. The time depends on the number of callers alone.
  const Caller* find(std::string_view secret) const;

 private:
  std::vector<Caller> callers_;
};

}  // namespace chipweave::sched
