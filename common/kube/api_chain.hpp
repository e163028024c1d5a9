// ApiChain — a sequence of requests to the API server about one object: holds the current request
// or wait, and handles failures.
//
// After a failure the owner reads the object again (resume) instead of repeating the request, which
// may have succeeded although its answer was lost. Transient failures are retried with back-off or
// after Retry-After; those that need a change by an administrator (403, 422, …) are logged once
// with the server's message and retried every half minute. Loop thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>

#include "common/base/backoff.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::kube {

class ApiChain {
 public:
  using Ms = std::chrono::milliseconds;
  struct Options {
    std::string what;  // for the log: "inventory of node n1"
    Ms one_try{5'000};
    Ms backoff_least{100};
    Ms backoff_most{5'000};
    Ms refused_wait{30'000};
    Ms longest_retry_after{120'000};  // upper bound for Retry-After
    std::uint64_t seed = 0;           // for the jitter
  };
  struct Owner {
    std::function<void()> resume;     // read the object again and continue from there
    std::function<void(bool)> works;  // after each request: whether it worked
    // Once for each failure that lasts until an administrator changes something.
    std::function<void(const std::string& problem)> refused = nullptr;
  };
  ApiChain(Transport& transport, Options options, Owner owner);

  using Then = std::function<void(Result<Reply>)>;
  void send(Call call, Then then);
  void wait(Ms delay, std::function<void()> then);

  // False for a status of 2xx or `expected`. Otherwise logs the failure and schedules resume().
  // doing: begins the line of the log, for example "cannot read the".
  bool failed(const char* doing, const Result<Reply>& reply, std::initializer_list<int> expected);
  // The failure lasts until an administrator changes something.
  void refused(const std::string& problem);
  // The object has changed since it was read: resumes at once the first time, then with back-off.
  void look_again();
  void succeeded();
  // Logs a fact that is not a failure, once.
  void note(const std::string& fact) { log_once(notes_, fact); }
  // Cancels the request or wait; no callback comes afterwards.
  void stop() { ticket_.reset(); }

 private:
  // False: it was logged before.
  bool log_once(std::set<std::string>& logged, const std::string& problem);

  Transport& transport_;
  Options options_;
  Owner owner_;
  Backoff backoff_;
  bool looked_again_ = false;         // since the last success
  std::set<std::string> complaints_;  // logged since the last success
  std::set<std::string> notes_;       // logged so far
  std::unique_ptr<Ticket> ticket_;
};

// The error of an answer, with the server's message: "HTTP 403: nodeinventories … is forbidden".
std::string problem_of(const Result<Reply>& reply);
// Whether a request with this HTTP status may work later without a change by an administrator.
bool is_transient(int status);

}  // namespace chipweave::kube
