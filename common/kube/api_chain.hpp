// ApiChain — one request after the other to the API server, about one object of ours: the request
// or the wait that is under way, and what is done about an answer that is no success.
//
// After a failure the owner begins anew (resume) instead of repeating the request: it may have been
// carried out though its answer was lost, so first the object is looked at. Failures that pass are
// waited out with back-off or as long as the server says; what somebody has to change first (403,
// 422 …) is logged in the server's words, once, and tried again every half minute.
// Loop thread only.
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
    Ms longest_retry_after{120'000};  // however long the server asks for
    std::uint64_t seed = 0;           // of the jitter
  };
  struct Owner {
    std::function<void()> resume;     // look at the object again and go on from there
    std::function<void(bool)> works;  // each time it is known
  };
  ApiChain(Transport& transport, Options options, Owner owner);

  using Then = std::function<void(Result<Reply>)>;
  void send(Call call, Then then);
  void wait(Ms delay, std::function<void()> then);

  // False for a status of 2xx or `expected`. Otherwise all is arranged: it is in the log and
  // resume() will come. doing: "cannot read the", for the log.
  bool failed(const char* doing, const Result<Reply>& reply, std::initializer_list<int> expected);
  // Somebody has to change something first.
  void refused(const std::string& problem);
  // The object is not as we thought: resumes at once, from the second time in a row on after
  // back-off.
  void look_again();
  void succeeded();
  // What is no failure but must be known: a line in the log, once.
  void note(const std::string& fact) { log_once(notes_, fact); }
  // No callback comes any more.
  void stop() { ticket_.reset(); }

 private:
  void log_once(std::set<std::string>& said, const std::string& problem);

  Transport& transport_;
  Options options_;
  Owner owner_;
  Backoff backoff_;
  bool looked_again_ = false;         // since the last success
  std::set<std::string> complaints_;  // in the log since the last success
  std::set<std::string> notes_;       // in the log at all
  std::unique_ptr<Ticket> ticket_;
};

// What is wrong with an answer, in the server's words: "HTTP 403: nodeinventories … is forbidden".
std::string problem_of(const Result<Reply>& reply);

}  // namespace chipweave::kube
