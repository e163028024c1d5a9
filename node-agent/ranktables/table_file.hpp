// TableFile — the rank table of one job on this node, kept as its ConfigMap rings-config-JOB has it
// for as long as pods of the job are here.
//
// A table of an earlier job of the same name must not be taken for that of these pods: where none
// of them is among those that the file was written for, it is {"status":"initializing"} until the
// ConfigMap has been read. What another program writes over ours is left alone.
//
// The agent has no right to watch ConfigMaps, since that right cannot be limited to names. It
// compares versions by requests for metadata, which the API server answers from its cache, and
// reads the whole only where the version is another one. Loop thread only; ends with its
// destructor.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "common/base/backoff.hpp"
#include "common/codec/kube/objects/stored_object.hpp"
#include "common/kube/api_chain.hpp"
#include "common/kube/transport.hpp"
#include "node-agent/ranktables/table_folder.hpp"

namespace chipweave::agent {

class TableFile {
 public:
  using Ms = std::chrono::milliseconds;
  enum class State { initializing, completed, failed };
  // Until the table is complete, and then.
  static constexpr Ms kFirstCheck{2'000};
  static constexpr Ms kLongestCheck{10'000};
  static constexpr Ms kCheckComplete{30'000};
  static constexpr Ms kSettle{200};  // pods of a job often come together

  // name: of table_folder_name(ns, job).
  TableFile(kube::Transport& transport, const TableFolder& folder, const std::string& ns,
            const std::string& job, std::string name, std::uint64_t seed);
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;

  // The pods of the job that are here, by uid; not empty.
  void want(const std::set<std::string>& pods);
  // None are left: the file becomes initial, and the ConfigMap is read no longer.
  void rest();
  // Deletes what was written here.
  void remove();
  State state() const;

 private:
  struct Table {
    std::string text;
    std::string version;
    bool complete = false;
  };

  static Table initial();
  void read();
  void check();
  void take(const codec::StoredObject& config_map);
  void wait();
  void apply();
  Result<void> written();
  Result<void> reset();
  Result<void> bring(const TableFolder::Contents& now);
  bool is_ours(const std::optional<std::string>& table) const;
  void show(const Result<void>& result);

  const TableFolder& folder_;
  std::string name_;
  std::string path_;
  kube::ApiChain chain_;
  Backoff unfinished_;
  Backoff finished_;
  TableFolder::Record record_;
  bool reset_due_ = false;       // the file is not of these pods
  std::optional<Table> wanted_;  // nullopt: not known, what is there stays
  std::string seen_;             // version of the ConfigMap that was read; empty: there was none
  std::string unusable_;         // why what was read cannot be written; empty: it can
  std::string problem_;          // as logged last; empty: none
  bool reads_ = true;            // the ConfigMap, or that there is none
};

}  // namespace chipweave::agent
