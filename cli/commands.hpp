// The subcommands of chipweave: each file registers its own, and main.cpp calls them all.
#pragma once

#include "common/base/result.hpp"

namespace CLI {
class App;
}

namespace chipweave::cli {

// Exit codes of the program; scripts depend on them.
enum class Exit {
  fine = 0,
  findings = 1,    // does not fit, pending, lint errors
  usage = 2,       // wrong usage
  unreadable = 3,  // a file that cannot be read, a scheduler or API server that cannot be reached
  not_found = 4,   // the pod, node, gang or job that the command names does not exist
};

// The exit code for an error: usage if its context is a flag, otherwise unreadable.
Exit exit_for(const Error& error);
// The same for an error of a call about one object of the cluster.
Exit exit_for_object(const Error& error);

void register_topo(CLI::App& app, Exit& exit_code);       // topo show, topo convert
void register_profiles(CLI::App& app, Exit& exit_code);   // profiles
void register_submit(CLI::App& app, Exit& exit_code);     // submit
void register_views(CLI::App& app, Exit& exit_code);      // explain, gangs
void register_nodes(CLI::App& app, Exit& exit_code);      // nodes
void register_pods(CLI::App& app, Exit& exit_code);       // pods
void register_where(CLI::App& app, Exit& exit_code);      // where
void register_what_if(CLI::App& app, Exit& exit_code);    // what-if
void register_place(CLI::App& app, Exit& exit_code);      // place
void register_plan(CLI::App& app, Exit& exit_code);       // plan
void register_defrag(CLI::App& app, Exit& exit_code);     // defrag
void register_simulate(CLI::App& app, Exit& exit_code);   // simulate
void register_rank(CLI::App& app, Exit& exit_code);       // rank
void register_ranktable(CLI::App& app, Exit& exit_code);  // ranktable lint, convert, …
void register_network(CLI::App& app, Exit& exit_code);    // network import, export, show
void register_route(CLI::App& app, Exit& exit_code);      // route plan, init
void register_calibrate(CLI::App& app, Exit& exit_code);  // calibrate
void register_reference(CLI::App& app, Exit& exit_code);  // help, completion, man

}  // namespace chipweave::cli
