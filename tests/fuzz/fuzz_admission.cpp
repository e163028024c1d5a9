// AdmissionReviews: everything that is accepted can be answered, and the answer's patch applies to
// the Binding.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "common/base/limits.hpp"
#include "common/codec/kube/base64.hpp"
#include "common/codec/kube/requests/admission.hpp"

namespace {

using Json = nlohmann::json;

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string body(data, data + size);
  const auto review = chipweave::codec::read_binding_review(body);
  if (!review) return 0;
  require(review->pod.size() <= chipweave::limits::kMaxNameBytes);
  require(review->node.size() <= chipweave::limits::kMaxNameBytes);
  const std::map<std::string, std::string> notes = {{"a/b~c", "1"}, {"d", "\"\n"}};
  // a name may hold bytes that are not UTF-8; then the answer is not valid UTF-8 either
  const Json answer =
      Json::parse(chipweave::codec::write_allowed(*review, "uid", notes), nullptr, false);
  if (answer.is_discarded()) return 0;
  Json binding = {{"metadata", Json::object()}};
  if (!review->annotations.empty()) binding["metadata"]["annotations"] = review->annotations;
  if (answer["response"].contains("patch")) {
    const auto patch =
        chipweave::codec::decode_base64(answer["response"]["patch"].get<std::string>());
    require(patch.ok());
    binding = binding.patch(Json::parse(*patch));
  }
  for (const auto& [key, value] : notes) require(binding["metadata"]["annotations"][key] == value);
  return 0;
}
