#include "scheduler-plugin/server/gate_handler.hpp"

#include "common/codec/kube/requests/pod_review.hpp"
#include "scheduler-plugin/server/http_errors.hpp"

namespace chipweave::sched {

http::Response GateHandler::review(std::string& body) const {
  auto review = codec::read_pod_review(body);
  if (!review) return error_response(review.error());
  if (!review->is_new_pod || !wants_gate(review->pod, resources_, options_))
    return json_response(codec::write_pod_allowed(*review));
  codec::PodAdditions additions{kGangGate};
  if (options_.inject_rank) {
    additions.variable = kRankVariable;
    additions.from_annotation = kRankAnnotation;
  }
  auto answer = codec::write_pod_allowed(*review, additions);
  if (!answer) return error_response(answer.error());
  return json_response(std::move(*answer));
}

}  // namespace chipweave::sched
