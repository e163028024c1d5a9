// Nodes as the flags of `plan` name them: by path or by name; and the chips that running pods hold
// where --free says what a node has.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/plan/plan_flags.hpp"
#include "common/base/result.hpp"
#include "common/codec/gang/plan_codec.hpp"

namespace chipweave::cli {

// Puts the path of a node in place of its name in --existing and --failed, and the node's own name
// in --if-fails; host lists (gpu[01-08]) become their names. What is neither a path nor a name
// stays. Where the path of a named node is that of other nodes, too, the network gets a finest
// level of single nodes, "node". Errors: a host list that cannot be read, a short name of several
// nodes.
Result<void> put_paths(std::string& network, PlanFlags& flags);

// Takes the chips of running pods of all gangs from the nodes whose free chips are those of --free;
// of several nodes with one path from the first that have some. Returns warnings: pods that hold
// more chips than that.
std::vector<std::string> subtract_running(const std::set<std::string, std::less<>>& with_free,
                                          std::vector<codec::NamedGang>& gangs);

}  // namespace chipweave::cli
