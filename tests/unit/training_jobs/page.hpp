// The code blocks of a page.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace chipweave::sched::test {

using Json = nlohmann::json;

// All documents of a YAML text. Throws what is wrong with it.
std::vector<Json> documents_of(const std::string& yaml);

struct Page {
  std::vector<std::string> manifests;  // blocks of YAML with objects
  Json values;                         // the block of YAML with values of the chart
  std::vector<std::string> outputs;    // what `chipweave gangs …` prints

  // scheduler.gangs.kinds, gate.enabled and gate.frameworks.
  std::vector<std::string> kinds() const;
  bool has_gate() const;
  std::vector<std::string> gate_frameworks() const;
};

// docs/tasks/training-jobs/NAME.md. Throws if there is no such page.
Page read_page(const std::string& name);
// The names of all pages there.
std::vector<std::string> page_names();

}  // namespace chipweave::sched::test
