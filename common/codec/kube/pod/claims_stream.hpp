// ClaimsOfPod from a JSON stream. Internal to common/codec/kube.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "common/codec/json/stream_reader.hpp"
#include "common/codec/kube/pod/claims_of_pod.hpp"

namespace chipweave::codec::json_stream {

// Collects what a pod's spec and status say, in any order.
class ClaimsOfPodReader {
 public:
  // A member of the spec, or of the status; false: it is none of those that matter here.
  bool take_spec(std::string_view key, od::value value, int depth);
  bool take_status(std::string_view key, od::value value, int depth);
  void forget_spec() { found_ = {}; }
  void forget_status() { made_.clear(); }
  // Null: the pod names no claims.
  std::shared_ptr<const ClaimsOfPod> finish();

 private:
  struct Made {
    std::string claim;
  };
  ClaimsOfPod found_;
  std::map<std::string, Made> made_;  // by the name in the pod
};

}  // namespace chipweave::codec::json_stream
