// Annotator — adds annotations to a pod that does not have them yet: reads the pod and patches
// exactly the version that was read, so that only one of two concurrent writers succeeds.
//
// Idempotent. Owner: the loop thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "common/base/result.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::kube {

struct AnnotateRequest {
  std::string ns;
  std::string name;
  std::string uid;  // of the intended pod
  // All of them are written, unless the pod has the key `unless` already.
  std::map<std::string, std::string> annotations;
  std::string unless;
};

class Annotator {
 public:
  struct Options {
    std::chrono::milliseconds one_try{3'000};   // for one answer
    std::chrono::milliseconds in_all{10'000};   // then the caller may try again
    std::chrono::milliseconds first_wait{100};  // before the second try; doubles
  };
  explicit Annotator(Transport& transport) : Annotator(transport, Options{}) {}
  Annotator(Transport& transport, Options options) : transport_(transport), options_(options) {}

  // done: ok when the API server has stored the annotations. Errors: not_found (no such pod),
  // conflict (another uid, or it has the key `unless` with another value), invalid_argument
  // (invalid names; rejected as malformed or forbidden), unavailable (no answer in time: the
  // annotations may have been written). No callback after the ticket is destroyed.
  std::unique_ptr<Ticket> annotate(AnnotateRequest request, std::function<void(Result<void>)> done);

 private:
  Transport& transport_;
  Options options_;
};

}  // namespace chipweave::kube
