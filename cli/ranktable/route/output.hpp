// The files of `route plan --out`: tables, the plan, ConfigMaps that contain them, and annotation
// values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/ranktable/route/answer.hpp"
#include "common/base/named_text.hpp"
#include "common/base/result.hpp"
#include "common/codec/ranktable/modelarts/config_map.hpp"
#include "common/codec/ranktable/modelarts/job_pods.hpp"
#include "common/codec/ranktable/modelarts/job_table.hpp"

namespace chipweave::cli {

struct RouteOutput {
  std::vector<NamedText> files;  // names are below the folder
  std::vector<std::string> warnings;
};

struct RouteOutputOptions {
  codec::ManifestForm form = codec::ManifestForm::yaml;
  bool compress = false;  // the rank table inside its ConfigMap
  bool switches = false;  // topology is passed on
};

// tables and job: nullptr if only hosts are known.
Result<RouteOutput> route_output(const RouteAnswer& answer, const codec::JobPods* job,
                                 const codec::JobTables* tables, const RouteOutputOptions& options);

// Creates the folder, writes the files, and removes tables and a plan of an earlier call that are
// not among them.
Result<void> write_route_output(const std::string& folder, const RouteOutput& output);

}  // namespace chipweave::cli
