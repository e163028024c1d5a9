// Dialect and Profile — the form of a rank table, and the consumer that will read it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace chipweave::domain::ranktable {

enum class Dialect {
  hccl_1_0,
  hccl_1_1,             // heterogeneous: node_list
  hccl_1_2,             // super pods
  hccl_2_0,             // Ascend 950: layers of the network
  hccl_2_0_prerelease,  // with pre-release member names; recognised only
  group_list,           // the cloud's and the lab's templates of 910A
  modelarts_local,
  modelarts_global,
  mindie_global,
  mindie_llm,   // 1.0 with container_ip on every server
  vllm_ascend,  // prefill_device_list, decode_device_list
  llm_datadist,
  mindspore_cluster,
  modelarts_1980,  // written by the Volcano plugin configmap1980
};

// "hccl-1.0"
std::string_view to_string(Dialect dialect);
std::optional<Dialect> dialect_named(std::string_view name);
std::vector<std::string_view> dialect_names();

enum class Profile {
  structural,  // no particular consumer: what is wrong for all
  hccl_910a,
  hccl_a2,
  hccl_a3,
  hccl_950,
  hccl_310p,
  mindie_motor,
  mindie_llm,
  mindspore,
  torch_npu,
  vllm_ascend,
  modelarts,
};

// "hccl-910a"
std::string_view to_string(Profile profile);
std::optional<Profile> profile_named(std::string_view name);
std::vector<std::string_view> profile_names();

// Whether this consumer reads tables of that dialect; structural reads all.
bool reads(Profile profile, Dialect dialect);

}  // namespace chipweave::domain::ranktable
