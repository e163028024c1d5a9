// Merging of rank tables: what merge_hccl.py, and pd_ranktable_tools.py in its modes merge,
// merge-local and merge-all do, with the checks that they lack.
//
// Errors name file and place: a file given twice, what read_inputs() rejects, a server, device or
// device_ip that is in two tables. The ModelArts merges also reject too few files, ranks that are
// not 0, 1, … in order, wrong addresses, and a loopback address where there are several machines.
// All keep the order of the files: scripts use it as the instance number.
#pragma once

#include <string>
#include <vector>

#include "common/base/named_text.hpp"
#include "common/base/result.hpp"

namespace chipweave::codec::ranktable {

struct MergedTable {
  NamedText file;  // name without folder
  std::vector<std::string> warnings;
};

// HCCL 1.0 tables; ranks are renumbered. Warns if the servers are in text order (10.0.0.10 before
// 10.0.0.9), as a shell's `hccl*.json` lists them, and about files with several servers, which may
// be the result of an earlier merge.
Result<MergedTable> merge_hccl_tables(std::vector<NamedText> files);

// Global tables of several machines → global_ranktable_merge.json with groups 0, 1, 2. More errors:
// not exactly one API server, an unknown group, instances of one group that differ in size.
// Warnings, some of them errors with `strict`: no prefill or no decode group; a server_ip with two
// server_ids; prefill and decode of different size (never an error: the machines differ).
Result<MergedTable> merge_pd_global(std::vector<NamedText> files, bool strict);

// Local tables of one instance that spans machines → local_ranktable_merge.json, renumbered. As in
// the reference, server_count is a JSON number and unknown members of servers are dropped.
Result<MergedTable> merge_pd_local(std::vector<NamedText> files);

// Local tables → global_ranktable_merge.json with one group for each instance, numbered over
// prefill and then decode, without the API server; server_count is a JSON number. This is not the
// documented layout of three groups.
Result<MergedTable> merge_pd_all(std::vector<NamedText> prefill, std::vector<NamedText> decode);

}  // namespace chipweave::codec::ranktable
