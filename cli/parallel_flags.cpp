#include "cli/parallel_flags.hpp"

#include "cli/options.hpp"
#include "common/base/json_writer.hpp"

namespace chipweave::cli {

std::string_view ParallelFlags::first() const {
  if (tensor) return "--tensor";
  if (context) return "--context";
  if (expert) return "--expert";
  if (data) return "--data";
  if (pipeline) return "--pipeline";
  return ranks_per_pod ? "--ranks-per-pod" : "";
}

std::string ParallelFlags::json(std::optional<std::int64_t> ranks) const {
  JsonWriter json;
  json.begin_object();
  const auto add = [&json](const char* key, const std::optional<std::int64_t>& value) {
    if (value) json.key(key).integer(*value);
  };
  add("ranks_per_pod", ranks);
  add("tensor", tensor);
  add("context", context);
  add("expert", expert);
  add("data", data);
  add("pipeline", pipeline);
  return json.end_object().take();
}

void add_parallel_flags(CLI::App& command, ParallelFlags& flags, CLI::Option* batch,
                        const char* default_ranks) {
  const auto option = [&](const char* name, std::optional<std::int64_t>& to, const char* says) {
    add_value(command, name, "N", to, says)->excludes(batch);
  };
  option("--tensor", flags.tensor, "tensor parallel size of the job");
  option("--context", flags.context, "context parallel size");
  option("--expert", flags.expert, "expert parallel size; divides context x data");
  option("--data", flags.data, "data parallel size; default: what the others leave");
  option("--pipeline", flags.pipeline, "pipeline stages");
  option("--ranks-per-pod", flags.ranks_per_pod, default_ranks);
}

}  // namespace chipweave::cli
