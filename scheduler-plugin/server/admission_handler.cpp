#include "scheduler-plugin/server/admission_handler.hpp"

#include <memory>
#include <utility>

#include "common/codec/kube/requests/admission.hpp"
#include "scheduler-plugin/app/annotations.hpp"
#include "scheduler-plugin/server/http_errors.hpp"

namespace chipweave::sched {
namespace {

http::Response answer(const codec::BindingReview& review, const Result<Admission>& admitted) {
  if (admitted)
    return json_response(codec::write_allowed(review, admitted->uid, admitted->annotations));
  const Error& why = admitted.error();
  if (why.code == Errc::conflict || why.code == Errc::invalid_argument ||
      why.code == Errc::not_found)
    return json_response(
        codec::write_denied(review.request_uid, http_status(why.code), why.text()));
  return error_response(why);
}

}  // namespace

http::Answer AdmissionHandler::review(std::string& body) {
  auto read = codec::read_binding_review(body);
  if (!read) return error_response(read.error());
  // Not a Binding, or one that the API server will refuse: nothing to add.
  if (!read->is_binding || read->pod.empty() || read->node.empty())
    return answer(*read, Admission{});
  auto review = std::make_shared<const codec::BindingReview>(std::move(*read));
  return http::Later([this, review](const std::shared_ptr<http::PendingReply>& reply) {
    AdmissionRequest request;
    request.binding.key = {review->ns.empty() ? "default" : review->ns, review->pod};
    request.binding.uid = review->pod_uid;
    request.binding.node = review->node;
    const auto found = review->annotations.find(kPlacementAnnotation);
    if (found != review->annotations.end()) request.placement = found->second;
    request.dry_run = review->dry_run;
    scheduler_.admissions().admit(request, [review, reply](const Result<Admission>& admitted) {
      reply->send(answer(*review, admitted));
    });
  });
}

}  // namespace chipweave::sched
