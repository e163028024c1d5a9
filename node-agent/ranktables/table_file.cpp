#include "node-agent/ranktables/table_file.hpp"

#include <algorithm>
#include <utility>

#include "common/base/stable_hash.hpp"
#include "common/base/text.hpp"
#include "common/codec/kube/objects/config_map.hpp"
#include "common/codec/mindcluster/pod/job_table.hpp"
#include "common/obs/log.hpp"

namespace chipweave::agent {
namespace {

namespace mindcluster = codec::mindcluster;

constexpr const char* kFirstVersion = "0";  // as MindCluster's operator begins
constexpr std::size_t kMaxVersionDigits = 20;

kube::ApiChain::Options chain_options(const std::string& name, std::uint64_t seed) {
  kube::ApiChain::Options out;
  out.what = "rank table file of " + name;
  out.seed = seed;
  return out;
}

std::string hash_of(const std::string& text) { return hexadecimal(stable_hash(text)); }

bool is_number(const std::string& text) {
  return !text.empty() && text.size() <= kMaxVersionDigits &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string value_of(const codec::StringMap& data, const char* key) {
  const auto found = data.find(key);
  return found == data.end() ? std::string() : found->second;
}

}  // namespace

TableFile::Table TableFile::initial() { return {mindcluster::kInitialTable, kFirstVersion, false}; }

TableFile::TableFile(kube::Transport& transport, const TableFolder& folder, const std::string& ns,
                     const std::string& job, std::string name, std::uint64_t seed)
    : folder_(folder),
      name_(std::move(name)),
      path_(codec::config_map_path(ns) + "/" + mindcluster::kJobTablePrefix + job),
      chain_(transport, chain_options(name_, seed),
             {[this] { read(); }, [this](bool works) { reads_ = works; }, nullptr}),
      unfinished_({kFirstCheck, kLongestCheck}, Backoff::seeded(seed)),
      finished_({kCheckComplete, kCheckComplete}, Backoff::seeded(seed + 1)),
      record_(folder_.record(name_)) {}

void TableFile::want(const std::set<std::string>& pods) {
  reset_due_ = reset_due_ || std::none_of(pods.begin(), pods.end(), [&](const std::string& pod) {
                 return record_.pods.contains(pod);
               });
  record_.pods = pods;
  if (reset_due_) {
    wanted_ = initial();
    seen_.clear();
    unusable_.clear();
  } else if (const auto kept = folder_.keep(name_, record_); !kept) {
    show(kept);
  }
  apply();
  unfinished_.reset();
  chain_.wait(kSettle, [this] { read(); });
}

void TableFile::rest() {
  chain_.stop();
  reads_ = true;
  reset_due_ = false;
  record_.pods.clear();
  wanted_ = initial();
  unusable_.clear();
  apply();
  if (const auto kept = folder_.keep(name_, record_); !kept) show(kept);
}

void TableFile::remove() {
  chain_.stop();
  const auto now = folder_.read(name_);
  const bool ours = now && is_ours(now->table);
  auto done = ours ? folder_.remove(name_) : now ? Result<void>() : Result<void>(now.error());
  if (!done) {
    obs::log(obs::Level::warn, "cannot remove a rank table",
             {{"folder", folder_.path_of(name_)}, {"problem", done.error().text()}});
  } else if (!ours) {
    obs::log(obs::Level::info, "a rank table that another program wrote is not removed",
             {{"folder", folder_.path_of(name_)}});
  }
  // With a record the next run tries again; without one the folder is left to others.
  if (!done && done.error().code != Errc::conflict) return;
  if (const auto forgotten = folder_.forget(name_); !forgotten) show(forgotten);
}

TableFile::State TableFile::state() const {
  if (!problem_.empty() || !reads_) return State::failed;
  return wanted_ && wanted_->complete ? State::completed : State::initializing;
}

void TableFile::read() {
  chain_.send(kube::call_of("GET", path_, ""), [this](Result<kube::Reply> reply) {
    if (chain_.failed("cannot read the ConfigMap", reply, {kube::kNotFound})) return;
    if (reply->status == kube::kNotFound) {
      seen_.clear();
    } else {
      auto object = codec::read_stored_object(reply->body);
      if (!object)
        return chain_.refused("the API server's answer is not understood: " +
                              object.error().text());
      take(*object);
    }
    apply();
    wait();
  });
}

void TableFile::check() {
  kube::Call call;
  call.target = path_ + "?resourceVersion=0";
  call.accept = kube::kMetadata;
  chain_.send(std::move(call), [this](Result<kube::Reply> reply) {
    if (chain_.failed("cannot read the ConfigMap", reply, {kube::kNotFound})) return;
    std::string version;
    if (reply->status != kube::kNotFound) {
      const auto object = codec::read_stored_object(reply->body);
      if (!object)
        return chain_.refused("the API server's answer is not understood: " +
                              object.error().text());
      version = object->version.resource_version;
    }
    if (version != seen_) return read();
    apply();
    wait();
  });
}

void TableFile::take(const codec::StoredObject& config_map) {
  seen_ = config_map.version.resource_version;
  unusable_.clear();
  Table table{value_of(config_map.data, mindcluster::kJobTableKey),
              value_of(config_map.data, mindcluster::kTableVersionKey), false};
  if (table.text.empty()) table.text = mindcluster::kInitialTable;
  if (table.version.empty()) table.version = kFirstVersion;
  const auto status = mindcluster::status_of_table(table.text);
  if (table.text.size() > TableFolder::kMaxTableBytes) {
    unusable_ = "hccl.json of the ConfigMap is larger than 1 MiB";
  } else if (!status) {
    unusable_ = "hccl.json of the ConfigMap is not a rank table: " + status.error().text();
  } else if (!is_number(table.version)) {
    unusable_ = "version of the ConfigMap is not a number";
  }
  if (!unusable_.empty()) return;
  table.complete = *status == mindcluster::kCompletedStatus;
  wanted_ = std::move(table);
}

void TableFile::wait() {
  chain_.succeeded();
  const bool complete = wanted_ && wanted_->complete;
  chain_.wait(complete ? finished_.next() : unfinished_.next(), [this] { check(); });
}

void TableFile::apply() { show(written()); }

Result<void> TableFile::written() {
  if (reset_due_) {
    if (auto done = reset(); !done) return done;
    reset_due_ = false;
  }
  const auto now = folder_.read(name_);
  if (!now) return now.error();
  if (!wanted_ && !now->table) wanted_ = initial();
  if (wanted_) {
    if (auto done = bring(*now); !done) return done;
  }
  if (!unusable_.empty()) return make_error(Errc::invalid_argument, unusable_);
  return {};
}

// The record follows the file: an agent that is killed between the two resets it again.
Result<void> TableFile::reset() {
  if (auto ok = folder_.write(name_, mindcluster::kJobTableKey, mindcluster::kInitialTable); !ok)
    return ok;
  if (auto ok = folder_.write(name_, mindcluster::kTableVersionKey, kFirstVersion); !ok) return ok;
  record_.tables.clear();
  return folder_.keep(name_, record_);
}

// The table first: who sees a new version reads the table of it. The record precedes both, so that
// the next run knows either as ours.
Result<void> TableFile::bring(const TableFolder::Contents& now) {
  if (now.table == wanted_->text && now.version == wanted_->version) return {};
  if (!is_ours(now.table)) {
    return make_error(Errc::conflict,
                      "another program has written the rank table; it is left as it is");
  }
  if (now.table != wanted_->text) {
    record_.tables = {hash_of(wanted_->text)};
    if (now.table) record_.tables.push_back(hash_of(*now.table));
    if (auto ok = folder_.keep(name_, record_); !ok) return ok;
    if (auto ok = folder_.write(name_, mindcluster::kJobTableKey, wanted_->text); !ok) return ok;
  }
  if (auto ok = folder_.write(name_, mindcluster::kTableVersionKey, wanted_->version); !ok)
    return ok;
  obs::log(obs::Level::info, "rank table written",
           {{"folder", folder_.path_of(name_)},
            {"complete", wanted_->complete ? "yes" : "no"},
            {"version", wanted_->version}});
  return {};
}

bool TableFile::is_ours(const std::optional<std::string>& table) const {
  if (!table || table->empty()) return true;
  const auto known = std::find(record_.tables.begin(), record_.tables.end(), hash_of(*table));
  if (known != record_.tables.end()) return true;
  const auto status = mindcluster::status_of_table(*table);
  return status && *status == mindcluster::kInitialStatus;
}

void TableFile::show(const Result<void>& result) {
  std::string problem = result ? std::string() : result.error().text();
  if (problem == problem_) return;
  problem_ = std::move(problem);
  if (!problem_.empty()) {
    obs::log(obs::Level::warn, "a rank table is not written",
             {{"folder", folder_.path_of(name_)}, {"problem", problem_}});
  }
}

}  // namespace chipweave::agent
