// `nvidia-smi topo -m`: link words of all pairs of GPUs and NICs, CPU and NUMA affinity behind.
#include <algorithm>
#include <map>
#include <utility>

#include "common/base/text.hpp"
#include "common/codec/text/quoting.hpp"
#include "common/codec/topology/hardware/connected.hpp"
#include "common/codec/topology/import.hpp"
#include "common/codec/topology/text/text_matrix.hpp"
#include "common/domain/link_rates.hpp"
#include "common/domain/topology_builder.hpp"

namespace chipweave::codec {
namespace {

using domain::LinkKind;

constexpr int kMaxLanesOfGpu = 18;  // of every generation until NVLink 5

std::optional<LinkKind> nvidia_host_path(std::string_view word) {
  if (word == "SOC") return LinkKind::sys;  // drivers before 390
  const auto kind = domain::parse_link_kind(word);
  const bool printed =
      kind && domain::is_host_path(*kind) && *kind != LinkKind::self && *kind != LinkKind::board;
  return printed ? kind : std::nullopt;
}

std::optional<int> nvlink_lanes(std::string_view word) { return number_after("NV", word); }

bool is_nvidia_word(std::string_view word) { return nvidia_host_path(word) || nvlink_lanes(word); }

const MatrixSyntax& nvidia_syntax() {
  static const MatrixSyntax value{
      "nvidia-smi topo -m", {"GPU"}, "", "X, NV#, PIX, PXB, PHB, NODE or SYS", is_nvidia_word};
  return value;
}

// "NIC0: mlx5_0" lines of the legend.
std::map<std::string, std::string> nic_names(std::string_view content) {
  std::map<std::string, std::string> out;
  for (const std::string& line : plain_lines(content)) {
    const std::vector<std::string_view> words = split_words(line);
    if (words.size() != 2 || words[0].size() < 2 || words[0].back() != ':') continue;
    const std::string_view key = words[0].substr(0, words[0].size() - 1);
    if (number_after("NIC", key)) out.emplace(key, words[1]);
  }
  return out;
}

// Turns one matrix into a builder.
class NvidiaReader : MatrixReader {
 public:
  NvidiaReader(const LinkMatrix& matrix, const ImportOptions& options)
      : MatrixReader(matrix, "nvidia", options, nvidia_host_path) {}

  Result<ImportedTopology> read(const std::map<std::string, std::string>& names) {
    add_chips(false);
    if (Result<void> ok = read_pairs(); !ok) return std::move(ok).error();
    if (Result<void> ok = add_nics(names, " (is this column a GPU?)"); !ok)
      return std::move(ok).error();
    warn_of_rates();
    auto out = imported(std::move(builder_), "nvidia-smi", std::move(warnings_));
    if (!out) return out;
    out->cpu_ranges = cpu_ranges();
    out->host.cpus = cpus();
    return out;
  }

 private:
  // 0 for a pair that shows no NVLink.
  int lanes(std::size_t i, std::size_t k) const { return nvlink_lanes(cell(i, k)).value_or(0); }

  Result<void> read_pairs() {
    for (std::size_t i = 0; i < chips_.size(); ++i) {
      for (std::size_t k = i + 1; k < chips_.size(); ++k) {
        const auto path = nvidia_host_path(cell(i, k));
        builder_.add_link(index(i), index(k), path ? *path : hidden_host_path(i, k));
        if (path) continue;
        if (lanes(i, k) < 1) {
          return make_error(Errc::invalid_argument, "cell " + name(i) + ", " + name(k) +
                                                        ": expected at least one lane, got NV0");
        }
        most_lanes_ = std::max(most_lanes_, lanes(i, k));
      }
    }
    const auto joined = [this](std::size_t i, std::size_t k) { return lanes(i, k) > 0; };
    for (const std::vector<std::size_t>& set : connected_sets(chips_.size(), joined)) {
      if (Result<void> ok = read_nvlinks(set); !ok) return ok;
    }
    return {};
  }

  // Chips that reach each other over NVLink are linked directly or, if one shows more lanes than a
  // GPU has, all connected to one switch.
  Result<void> read_nvlinks(const std::vector<std::size_t>& set) {
    std::vector<int> most(chips_.size(), 0);
    std::vector<int> sum(chips_.size(), 0);
    for (const std::size_t i : set) {
      for (const std::size_t k : set) {
        if (i == k) continue;
        most[i] = std::max(most[i], lanes(i, k));
        sum[i] += lanes(i, k);
      }
    }
    const std::size_t widest =
        static_cast<std::size_t>(std::max_element(sum.begin(), sum.end()) - sum.begin());
    if (sum[widest] > kMaxLanesOfGpu) return read_switch(set, most, widest, sum[widest]);
    for (const std::size_t i : set) {
      for (const std::size_t k : set) {
        if (i < k && lanes(i, k) > 0)
          builder_.add_link(index(i), index(k), LinkKind::nvlink, lanes(i, k), rate());
      }
    }
    return {};
  }

  // Over a switch a pair shows the lanes of the end with fewer lanes up. So a chip's own lanes are
  // the most that it shows with any other chip.
  Result<void> read_switch(const std::vector<std::size_t>& set, const std::vector<int>& most,
                           std::size_t widest, int sum) {
    std::vector<domain::TopologyBuilder::Port> ports;
    for (const std::size_t i : set) {
      for (const std::size_t k : set) {
        if (i == k || lanes(i, k) == std::min(most[i], most[k])) continue;
        return make_error(
            Errc::invalid_argument,
            name(widest) + " shows " + std::to_string(sum) +
                " NVLink lanes, more than any GPU has, so its links must lead to a switch; but " +
                name(i) + ", " + name(k) + " is " + cell(i, k) +
                ", and over a switch it would be NV" + std::to_string(std::min(most[i], most[k])));
      }
      ports.push_back({index(i), most[i], 0});
    }
    builder_.add_switch("nvswitch", LinkKind::nvswitch, std::move(ports), rate());
    return {};
  }

  // One for the whole machine: a GPU with lanes down is of the generation of the others. The matrix
  // does not show the NVLink generation; only Hopper and later have 18 lanes to one peer.
  std::optional<double> rate() const {
    if (!builder_.model.empty() || most_lanes_ != kMaxLanesOfGpu) return std::nullopt;
    return domain::default_gbps_per_lane(LinkKind::nvlink, "H100");
  }

  void warn_of_rates() {
    if (rate()) {
      warnings_.push_back(
          "the model is not printed: NV18 is taken as NVLink 4 (H100, 20.6 GB/s a lane); "
          "name the model for anything newer");
    } else if (builder_.model.empty()) {
      warnings_.push_back(std::string("the model is not printed: ") +
                          (most_lanes_ > 0 ? "20 GB/s a lane (V100, A100) and " : "") +
                          "PCIe 3 rates are assumed; name the model for others");
    }
  }

  int most_lanes_ = 0;  // of any pair
};

}  // namespace

bool looks_like_nvidia_smi(std::string_view content) {
  return has_matrix_header(content, nvidia_syntax());
}

Result<ImportedTopology> import_nvidia_smi(std::string_view content, const ImportOptions& options) {
  const Result<std::vector<LinkMatrix>> matrices = parse_link_matrices(content, nvidia_syntax());
  if (!matrices) return matrices.error();
  Result<ImportedTopology> out = NvidiaReader(matrices->front(), options).read(nic_names(content));
  if (out && matrices->size() > 1) {
    out->warnings.push_back("the file holds " + std::to_string(matrices->size()) +
                            " matrices; the first is used");
  }
  return out;
}

}  // namespace chipweave::codec
