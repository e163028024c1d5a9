// AdmissionReviews: everything that is accepted can be answered, and the answer's patch applies to
// the Binding or the pod.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "common/base/limits.hpp"
#include "common/codec/kube/base64.hpp"
#include "common/codec/kube/requests/admission.hpp"
#include "common/codec/kube/requests/pod_review.hpp"

namespace {

using Json = nlohmann::json;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_binding(std::string body) {
  const auto review = chipweave::codec::read_binding_review(body);
  if (!review) return;
  require(review->pod.size() <= chipweave::limits::kMaxNameBytes);
  require(review->node.size() <= chipweave::limits::kMaxNameBytes);
  const std::map<std::string, std::string> notes = {{"a/b~c", "1"}, {"d", "\"\n"}};
  // a name may hold bytes that are not UTF-8; then the answer is not valid UTF-8 either
  const Json answer =
      Json::parse(chipweave::codec::write_allowed(*review, "uid", notes), nullptr, false);
  if (answer.is_discarded()) return;
  Json binding = {{"metadata", Json::object()}};
  if (!review->annotations.empty()) binding["metadata"]["annotations"] = review->annotations;
  if (answer["response"].contains("patch")) {
    const auto patch =
        chipweave::codec::decode_base64(answer["response"]["patch"].get<std::string>());
    require(patch.ok());
    binding = binding.patch(Json::parse(*patch));
  }
  for (const auto& [key, value] : notes) require(binding["metadata"]["annotations"][key] == value);
}

void check_pod(std::string body) {
  auto review = chipweave::codec::read_pod_review(body);
  if (!review || !review->is_new_pod) return;
  const std::string object = review->object;
  const auto written = chipweave::codec::write_pod_allowed(*review, {"g", "RANK", "a/rank"});
  if (!written) return;
  const Json answer = Json::parse(*written, nullptr, false);
  Json pod = Json::parse(object, nullptr, false);
  if (answer.is_discarded() || pod.is_discarded()) return;
  const auto patch =
      chipweave::codec::decode_base64(answer["response"]["patch"].get<std::string>());
  require(patch.ok());
  try {
    pod = pod.patch(Json::parse(*patch));
  } catch (const Json::exception&) {
    return;  // no pod: without a spec, or with a key twice
  }
  require(pod["spec"]["schedulingGates"].back()["name"] == "g");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string body(data, data + size);
  check_binding(body);
  check_pod(body);
  return 0;
}
