// ApiHandler — the scheduler's state as JSON, for people, scripts and the command line
// (docs/reference/http.md). Changes nothing: what is due to expire is shown until the scheduler's
// next tick. Lists are made in slices, whole or by pages. On the loop thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "common/http/server.hpp"
#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/ranktables/rank_tables.hpp"
#include "scheduler-plugin/server/sliced_replies.hpp"

namespace chipweave::sched {

// Parses "NAMESPACE/NAME" at the end of a path; ns is empty if it has another form.
PodKey pod_key_of(std::string_view rest);

class ApiHandler {
 public:
  // tables: null: none are made.
  ApiHandler(Scheduler& scheduler, SlicedReplies& replies, const RankTables* tables = nullptr);
  // query: "limit=N&continue=TOKEN", both optional; other keys are ignored.
  http::Answer nodes(std::string_view query);
  // query: topology=1 or nothing.
  http::Response node(std::string_view name, std::string_view query);
  http::Answer pods(std::string_view query);
  http::Response network();
  http::Response explain(std::string_view rest);
  http::Answer gangs(std::string_view query);
  // "NAMESPACE/NAME"; of several frameworks' gangs of that name all.
  http::Response gang(std::string_view rest);
  http::Answer rank_tables(std::string_view query);
  // "NAMESPACE/NAME"; of a job and a deployment of that name both.
  http::Response rank_table(std::string_view rest);

 private:
  // Which items a list shows.
  struct Page {
    std::size_t left = SIZE_MAX;
    std::uint64_t after = 0;  // position of the last item of the page before
    bool topology = false;    // nodes with their topologies
  };
  Result<Page> page_of(std::string_view query) const;
  // Writes the items among the next `most` and advances the page; false: there are no more.
  using Items = std::function<bool(Page& page, std::size_t most, std::string& out)>;
  http::Answer list(std::string_view query, Items items);
  bool write_nodes(Page& page, std::size_t most, std::string& out) const;
  bool write_gangs(Page& page, std::size_t most, std::string& out) const;
  bool write_rank_tables(Page& page, std::size_t most, std::string& out) const;
  bool write_pods(Page& page, std::size_t most, std::string& out) const;

  Scheduler& scheduler_;
  SlicedReplies& replies_;
  const RankTables* tables_;
  std::string instance_;  // in tokens: positions mean nothing to another process
};

}  // namespace chipweave::sched
