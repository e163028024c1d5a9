// Merging of ModelArts' PD tables: what pd_ranktable_tools.py does in its modes merge, merge-local
// and merge-all, with the checks that it lacks.
//
// Errors of all of them name files and places: fewer files than needed, a file twice, what
// read_inputs() refuses, a device (server_ip and device_id) or a device_ip that stands twice, ranks
// that are not 0, 1, ... in order, addresses that are none, a loopback address where there are
// several machines. Each keeps the order of the files: scripts use it as the number of an instance.
#pragma once

#include <vector>

#include "common/base/result.hpp"
#include "common/codec/ranktable/tools/hccl_tables.hpp"
#include "common/codec/ranktable/tools/input_table.hpp"

namespace chipweave::codec::ranktable {

// Global tables of several machines → global_ranktable_merge.json with groups 0, 1, 2. Also errors:
// not exactly one API server, an unknown group, instances of one group that differ in size.
// Warnings, some errors with `strict`: no prefill or no decode group; one server_ip under two
// server_ids; prefill and decode of different size (never an error: they are different machines).
Result<MergedTable> merge_pd_global(std::vector<NamedText> files, bool strict);

// Local tables of one instance that spans machines → local_ranktable_merge.json, ranks counted
// anew. server_count is a JSON number, and other members of the servers go, as in the reference.
Result<MergedTable> merge_pd_local(std::vector<NamedText> files);

// Local tables → global_ranktable_merge.json with a group an instance, counted over prefill and
// then decode, without the API server; server_count is a JSON number. Not the three groups of the
// documentation.
Result<MergedTable> merge_pd_all(std::vector<NamedText> prefill, std::vector<NamedText> decode);

}  // namespace chipweave::codec::ranktable
