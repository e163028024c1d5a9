// The parsed options of the rank table generators. entry.cpp fills these in, pd_command.cpp and
// hccl_command.cpp carry them out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/ranktable/tools/tool_log.hpp"
#include "common/base/named_text.hpp"
#include "common/base/result.hpp"

namespace chipweave::cli {

// Where device addresses come from. Empty strings: option not given.
struct AddressFlags {
  std::string hccn_tool;       // path of the program
  std::string hccn_conf;       // path of the file
  std::string from_inventory;  // file: an agent's report
  std::string from_topology;   // profile or file
  std::string address_plan;    // BASE/PREFIX
};

enum class PdMode { gen, merge, merge_local, merge_all };

// pd_ranktable_tools.py: the tables of one machine's instances (gen), or one table made of several
// files (the merges).
struct PdRequest {
  PdMode mode = PdMode::gen;
  std::string save_dir = "./";
  bool api_server = false;
  std::vector<std::string> prefill;  // "4,5" for each instance; merge-all: files
  std::vector<std::string> decode;
  std::string ip;                            // empty: resolve the host name
  std::vector<std::string> global_tables;    // merge
  std::vector<std::string> local_tables;     // merge-local
  std::vector<std::string> api_server_list;  // merge-all; not used, as in the reference
  std::vector<std::string> port_range;       // empty or two
  std::string replaced_devices;              // "10.0.1.18,10.0.1.19"
  bool strict = false;
  bool dry_run = false;
  AddressFlags addresses;
};

// hccl_tools.py, values as written.
struct HcclRequest {
  std::optional<std::string> device_num;       // "[0,8)"; default: all
  std::optional<std::string> visible_devices;  // "4,5"; default: all
  std::string server_ip;                       // empty: resolve the host name
  std::string devices_per_node = "8";
  AddressFlags addresses;
};

// The input files of a merge, with a limit of twice the largest table for all together. Errors name
// the file.
Result<std::vector<NamedText>> read_tables(const std::vector<std::string>& names);

// Checks everything before it writes the first file, and logs each file that it saves.
Result<void> run_pd(const PdRequest& request, const ToolLog& log);
// These two print to stdout what the reference prints, and write to the current folder.
Result<void> run_hccl(const HcclRequest& request, const ToolLog& log);
Result<void> run_merge_hccl(const std::vector<std::string>& files, const ToolLog& log);

}  // namespace chipweave::cli
