#include "scheduler-plugin/kube/network/dlrover_topology.hpp"

#include <utility>

#include "common/codec/network/export.hpp"

namespace chipweave::sched {

void DlroverTopology::set_address(const std::string& node, const std::string& address) {
  const auto known = addresses_.find(node);
  if (known == addresses_.end() ? address.empty() : known->second == address) return;
  ++address_changes_;
  if (address.empty()) {
    addresses_.erase(known);
  } else {
    addresses_[node] = address;
  }
}

void DlroverTopology::tick(std::optional<std::uint64_t> term) {
  if (term != term_) {
    term_ = term;
    keepers_.clear();
    text_.clear();
    reading_.reset();
    begun_.reset();
  }
  if (!term_ || !network_.known()) return;
  if (!reading_ && !is_due()) return;
  read();
}

bool DlroverTopology::is_due() const {
  if (!begun_) return true;
  return clock_.now() - *begun_ >= kEvery &&
         (version_ != network_.version() || seen_addresses_ != address_changes_);
}

void DlroverTopology::read() {
  std::vector<std::string> levels = network_.levels();
  levels.pop_back();  // the node itself
  if (reading_ && reading_->table.levels != levels) reading_.reset();
  if (!reading_) {
    begun_ = clock_.now();
    reading_ = Reading();
    reading_->version = network_.version();
    reading_->addresses = address_changes_;
    reading_->table.levels = levels;
  }
  auto at = addresses_.lower_bound(reading_->next);
  for (std::size_t i = 0; i < kNodesATick && at != addresses_.end(); ++i, ++at) {
    std::vector<std::string> path = network_.path_of(at->first);
    if (path.size() != levels.size() + 1) continue;
    path.pop_back();
    reading_->table.nodes.push_back({at->second, std::move(path), {}, {}});
  }
  if (at != addresses_.end()) {
    reading_->next = at->first;
    return;
  }
  const Reading over = *std::exchange(reading_, std::nullopt);
  version_ = over.version;
  seen_addresses_ = over.addresses;
  if (!levels.empty()) write(over.table);
}

void DlroverTopology::write(const domain::NetworkTable& table) {
  auto exported = codec::export_network(table, "dlrover");
  if (!exported) return report(exported.error().text());
  if (exported->text.size() > max_bytes_)
    return report("the lines of all nodes would have more than " + std::to_string(max_bytes_) +
                  " bytes");
  problem_.clear();
  if (!keepers_.empty() && exported->text == text_) return;
  keep(exported->text);
}

void DlroverTopology::keep(const std::string& text) {
  text_ = text;
  const bool fresh = keepers_.empty();
  for (std::size_t i = 0; fresh && i < namespaces_.size(); ++i) {
    kube::ConfigMapKeeper::Options options;
    options.ns = namespaces_[i];
    options.name = kName;
    options.managed_by = "chipweave-scheduler";
    options.take_over = true;
    options.read_by_patch = true;
    options.write_gap = kEvery;
    options.may_send = ways_.fence();
    options.chain.what = "configmap " + options.ns + "/" + options.name;
    options.chain.seed = i;
    keepers_.push_back(std::make_unique<kube::ConfigMapKeeper>(
        transport_, clock_, std::move(options),
        kube::ConfigMapKeeper::Events{nullptr, [](bool /*works*/) {}}));
  }
  for (const auto& keeper : keepers_) {
    kube::ConfigMapKeeper::Wanted wanted;
    wanted.data = [text](std::int64_t) { return codec::StringMap{{kKey, text}}; };
    keeper->want(std::move(wanted));
    if (fresh) keeper->start();
  }
}

void DlroverTopology::report(const std::string& problem) {
  if (std::exchange(problem_, problem) != problem) ways_.failed(problem);
}

}  // namespace chipweave::sched
