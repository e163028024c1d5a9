// Binder — binds a pod to a node and writes its annotations, in one request to the API server: a
// POST of a Binding whose metadata.annotations the server merges into the pod.
//
// A Binding cannot be taken back, and its answer can be lost. So whenever the outcome is not plain
// the pod itself is asked: bound to our node with our annotations is success, whoever asked; bound
// otherwise is a conflict; unbound is tried again while there is time. Safe to repeat as a whole.
// Owner: the loop thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "common/base/result.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::kube {

struct BindRequest {
  std::string ns;
  std::string name;
  std::string uid;  // of the pod that was decided on; one made anew under its name is another
  std::string node;
  std::map<std::string, std::string> annotations;
  // Asked right before each POST goes out, the repeated ones too; false: no further one is sent.
  // Empty: nobody is asked.
  std::function<bool()> may_send{};
};

class Binder {
 public:
  struct Options {
    std::chrono::milliseconds one_try{3'000};   // for one answer
    std::chrono::milliseconds in_all{4'500};    // kube-scheduler gives an extender 5 s
    std::chrono::milliseconds first_wait{100};  // before the second try; doubles
  };
  explicit Binder(Transport& transport) : Binder(transport, Options{}) {}
  Binder(Transport& transport, Options options) : transport_(transport), options_(options) {}

  // done: ok when the API server holds the pod bound so. Errors: not_found (no such pod),
  // conflict (another uid, bound elsewhere or by somebody else, being deleted, gated),
  // invalid_argument (names that no object has; refused as malformed), unavailable (the API server
  // did not answer, or not in time, or `may_send` called it off: the pod may be bound all the
  // same). No callback after the ticket's end.
  std::unique_ptr<Ticket> bind(BindRequest order, std::function<void(Result<void>)> done);

 private:
  Transport& transport_;
  Options options_;
};

}  // namespace chipweave::kube
