// PdRequest — what the words of pd_ranktable_tools.py ask for: a rank table for the instances of
// one machine (gen), or one made of several files (the merges).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/ranktable/tools/addresses/address_flags.hpp"
#include "cli/ranktable/tools/argparse.hpp"
#include "common/base/result.hpp"

namespace chipweave::cli {

enum class PdMode { gen, merge, merge_local, merge_all };

// "merge-local"
const char* to_string(PdMode mode);
std::optional<PdMode> pd_mode(std::string_view name);

struct PdRequest {
  PdMode mode = PdMode::gen;
  std::string save_dir = "./";
  bool api_server = false;
  std::vector<std::string> prefill;  // items as given: "4,5"; of merge-all: files
  std::vector<std::string> decode;
  std::string ip;                             // empty: what the host name resolves to
  std::vector<std::string> files;             // of merge and merge-local
  std::vector<std::string> api_server_files;  // of merge-all; read by nobody, as in the reference
  std::vector<std::string> port_range;        // empty or two
  std::string replaced_devices;               // "10.0.1.18,10.0.1.19"
  bool strict = false;
  bool dry_run = false;
  AddressFlags addresses;
};

// only: the mode that the command stands for, so that --mode may be left out and must not differ.
ArgSpec pd_spec(const std::string& program, std::optional<PdMode> only);
// invalid_argument for words that contradict each other: wrong usage.
Result<PdRequest> pd_request(const ArgWords& words, std::optional<PdMode> only);
// Options given that the mode does not look at.
std::vector<std::string> options_without_effect(const ArgWords& words, PdMode mode);

}  // namespace chipweave::cli
