// `rocm-smi --showtopo`: tables of weight, hops and link type, then NUMA lines; and `amd-smi
// topology`, which prints the same tables by PCI address and no NUMA nodes (written after outputs
// that users published, not checked on hardware). The hops table
// prints 1 for every XGMI pair, also for those without a link of their own, so the weight decides:
// a direct link has the smallest XGMI weight. Lanes are not printed; those of known nodes follow
// from which pairs are linked.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/text/quoting.hpp"
#include "common/codec/topology/import.hpp"
#include "common/codec/topology/text/text_matrix.hpp"
#include "common/domain/topology_builder.hpp"

namespace chipweave::codec {
namespace {

using domain::ChipIndex;
using domain::LinkKind;

// How a tool prints its tables.
struct RocmSyntax {
  const char* format;
  std::string_view command;
  std::string_view weights, types;  // titles
  bool by_address;                  // names are PCI addresses; GPUs are numbered in their order
};
constexpr RocmSyntax kRocmSmi{"rocm-smi", "rocm-smi --showtopo", "Weight between two GPUs",
                              "Link Type between two GPUs", false};
constexpr RocmSyntax kAmdSmi{"amd-smi", "amd-smi topology",
                             "WEIGHT TABLE:", "LINK TYPE TABLE:", true};

// Rows of one table by GPU number.
struct RocmTable {
  int line = 0;
  std::vector<int> gpus;
  std::map<std::string, int, std::less<>> names;
  std::map<int, std::vector<std::string>> rows;
  const std::string& cell(std::size_t row, std::size_t column) const {
    return rows.at(gpus[row])[column];
  }
};

struct WiredPair {
  int a, b, lanes;
};
// A node of four MI250X modules as in LUMI-G and Frontier, GPUs in PCI order (the user guides'
// node diagram; the profile mi250x-8 has the same lanes).
constexpr std::array<WiredPair, 12> kMi250xNode = {{{0, 1, 4},
                                                    {2, 3, 4},
                                                    {4, 5, 4},
                                                    {6, 7, 4},
                                                    {0, 6, 2},
                                                    {2, 4, 2},
                                                    {0, 2, 1},
                                                    {1, 3, 1},
                                                    {1, 5, 1},
                                                    {3, 7, 1},
                                                    {4, 6, 1},
                                                    {5, 7, 1}}};
constexpr std::size_t kMi250xGpus = 8;
constexpr std::string_view kMi250x = "MI250X";

// The title of the next table, or the legend.
bool is_section(std::string_view line) {
  return line.find("==") != std::string_view::npos ||
         line.find("TABLE:") != std::string_view::npos || line.starts_with("Legend:");
}

// "0000:0c:00.0"
bool is_address(std::string_view word) {
  constexpr std::size_t kMax = 20;
  return word.size() <= kMax && std::count(word.begin(), word.end(), ':') == 2 &&
         word.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

class RocmReader {
 public:
  RocmReader(const RocmSyntax& syntax, std::string_view content, const ImportOptions& options)
      : syntax_(syntax), lines_(plain_lines(content)) {
    builder_.vendor = "amd";
    builder_.model = options.model;
  }

  Result<ImportedTopology> read() {
    Result<RocmTable> types = table(syntax_.types);
    if (!types) return std::move(types).error();
    Result<RocmTable> weights = table(syntax_.weights);
    if (!weights) return std::move(weights).error();
    if (weights->names != types->names) {
      return error_at(types->line, "the tables of weight and link type have different GPUs");
    }
    if (Result<void> ok = read_numa(types->gpus); !ok) return std::move(ok).error();
    for (const int gpu : types->gpus) {
      domain::Chip chip;
      chip.index = ChipIndex{gpu};
      chip.numa = numa_[gpu];
      if (syntax_.by_address) chip.pci = address_of(*types, gpu);
      builder_.add_chip(std::move(chip));
    }
    if (syntax_.by_address) {
      warnings_.push_back(
          "amd-smi topology prints no NUMA nodes: GPUs without a link count as on different ones");
    }
    if (Result<void> ok = read_pairs(*types, *weights); !ok) return std::move(ok).error();
    const auto outputs = std::count_if(
        lines_.begin(), lines_.end(),
        [this](const std::string& line) { return line.find(syntax_.types) != std::string::npos; });
    if (outputs > 1) {
      warnings_.push_back("the file holds " + std::to_string(outputs) +
                          " outputs: the first is used");
    }
    auto out = imported(std::move(builder_), syntax_.format, std::move(warnings_));
    if (out) out->host.rocm_smi_numbers = true;
    return out;
  }

 private:
  static Error error_at(int line, const std::string& text) {
    return make_error(Errc::invalid_argument, "line " + std::to_string(line) + ": " + text);
  }

  Result<RocmTable> table(std::string_view title) const {
    std::size_t i = 0;
    while (i < lines_.size() && lines_[i].find(title) == std::string::npos) ++i;
    if (i == lines_.size()) {
      return make_error(
          Errc::invalid_argument,
          concat("the table \"", title, "\" is missing; print it with ", syntax_.command));
    }
    RocmTable out;
    for (++i; i < lines_.size() && !is_section(lines_[i]); ++i) {
      const std::vector<std::string_view> words = split_words(lines_[i]);
      if (words.empty()) continue;
      const int line = static_cast<int>(i) + 1;
      if (out.gpus.empty()) {
        out.line = line;
        if (Result<void> ok = take_header(words, out); !ok) return std::move(ok).error();
      } else if (Result<void> ok = take_row(words, line, out); !ok) {
        return std::move(ok).error();
      }
    }
    if (out.gpus.empty() || out.rows.size() != out.gpus.size()) {
      return error_at(out.line, "the table \"" + std::string(title) + "\" has " +
                                    std::to_string(out.rows.size()) + " rows and " +
                                    std::to_string(out.gpus.size()) +
                                    " columns (is the output cut off?)");
    }
    return out;
  }

  static std::string address_of(const RocmTable& table, int gpu) {
    for (const auto& [name, number] : table.names) {
      if (number == gpu) return lower_case(name);
    }
    return "";
  }

  // The number of the GPU of a column.
  std::optional<int> number_of(std::string_view word, std::size_t column) const {
    if (!syntax_.by_address) return number_after("GPU", word);
    return is_address(word) ? std::optional(static_cast<int>(column)) : std::nullopt;
  }

  Result<void> take_header(const std::vector<std::string_view>& words, RocmTable& out) const {
    if (words.size() > static_cast<std::size_t>(limits::kMaxChips)) {
      return error_at(out.line, "must have at most " + std::to_string(limits::kMaxChips) +
                                    " GPUs, got " + std::to_string(words.size()));
    }
    for (const std::string_view w : words) {
      const auto gpu = number_of(w, out.gpus.size());
      if (!gpu) return error_at(out.line, "expected GPU names, got " + quoted_excerpt(w));
      const bool repeated = std::find(out.gpus.begin(), out.gpus.end(), *gpu) != out.gpus.end();
      if (!out.names.emplace(w, *gpu).second || repeated) {
        return error_at(out.line, "duplicate column " + quoted_excerpt(w));
      }
      out.gpus.push_back(*gpu);
    }
    return {};
  }

  Result<void> take_row(const std::vector<std::string_view>& words, int line,
                        RocmTable& out) const {
    const auto known = out.names.find(words[0]);
    if (known == out.names.end()) {
      return error_at(line,
                      "expected the row of a GPU of the header, got " + quoted_excerpt(words[0]));
    }
    const int gpu = known->second;
    if (words.size() != out.gpus.size() + 1) {
      return error_at(line, "the row of GPU" + std::to_string(gpu) + " has " +
                                std::to_string(words.size() - 1) + " cells, the header has " +
                                std::to_string(out.gpus.size()) +
                                " columns (is the output cut off?)");
    }
    if (!out.rows.emplace(gpu, std::vector<std::string>(words.begin() + 1, words.end())).second) {
      return error_at(line, "duplicate row of GPU" + std::to_string(gpu));
    }
    return {};
  }

  // "GPU[0] : (Topology) Numa Node: 3"
  Result<void> read_numa(const std::vector<int>& gpus) {
    constexpr std::string_view kKey = "(Topology) Numa Node:";
    std::set<int> seen;  // the first output of the file counts
    for (const int gpu : gpus) numa_[gpu] = -1;
    for (const std::string& line : lines_) {
      const std::size_t key = line.find(kKey);
      const std::size_t open = line.find("GPU[");
      const std::size_t close = line.find(']');
      if (key == std::string::npos || open == std::string::npos || close == std::string::npos ||
          close < open) {
        continue;
      }
      const std::string_view view(line);
      const auto gpu = number_after("", view.substr(open + 4, close - open - 4));
      const std::vector<std::string_view> value = split_words(view.substr(key + kKey.size()));
      if (!gpu || numa_.count(*gpu) == 0 || value.empty() || !seen.insert(*gpu).second) continue;
      numa_[*gpu] = number_after("", value[0]).value_or(-1);  // "-1": unknown
    }
    return {};
  }

  static std::optional<int> weight_of(std::string_view word) { return number_after("", word); }

  Result<void> read_pairs(const RocmTable& types, const RocmTable& weights) {
    const std::size_t n = types.gpus.size();
    std::optional<int> least;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) {
        if (i == k) continue;
        if (Result<void> ok = check_pair(types, weights, i, k); !ok) return ok;
        if (types.cell(i, k) != "XGMI") continue;
        const auto w = weight_of(weights.cell(i, k));
        if (w && (!least || *w < *least)) least = w;
      }
    }
    std::set<std::pair<int, int>> linked;
    bool indirect = false;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = i + 1; k < n; ++k) {
        const ChipIndex a{types.gpus[i]};
        const ChipIndex b{types.gpus[k]};
        const bool near = numa_[a.value] >= 0 && numa_[a.value] == numa_[b.value];
        builder_.add_link(a, b, near ? LinkKind::node : LinkKind::sys);
        if (types.cell(i, k) != "XGMI") continue;
        if (weight_of(weights.cell(i, k)) == least) {
          linked.insert(std::minmax(a.value, b.value));
        } else {
          indirect = true;
        }
      }
    }
    add_xgmi_links(linked, n);
    if (indirect) {
      warnings_.push_back("pairs with an XGMI weight above " + std::to_string(*least) +
                          " count as routed over other GPUs, not as linked");
    }
    return {};
  }

  void add_xgmi_links(const std::set<std::pair<int, int>>& linked, std::size_t gpus) {
    if (linked.empty()) return;
    if (is_mi250x_node(linked, gpus)) {
      warnings_.push_back("the GPUs are linked like those of an MI250X node: lanes" +
                          std::string(builder_.model.empty() ? " and model are" : " are") +
                          " taken from it");
      if (builder_.model.empty()) builder_.model = kMi250x;
      for (const WiredPair& pair : kMi250xNode) {
        builder_.add_link(ChipIndex{pair.a}, ChipIndex{pair.b}, LinkKind::xgmi, pair.lanes);
      }
      return;
    }
    warnings_.push_back(std::string(syntax_.format) +
                        " does not print the XGMI lanes of a pair; one is assumed");
    for (const auto& [a, b] : linked) {
      builder_.add_link(ChipIndex{a}, ChipIndex{b}, LinkKind::xgmi);
    }
  }

  bool is_mi250x_node(const std::set<std::pair<int, int>>& linked, std::size_t gpus) const {
    const std::string model = upper_case(builder_.model);
    if (!model.empty() && model.find(kMi250x) == std::string::npos) return false;
    return gpus == kMi250xGpus && linked.size() == kMi250xNode.size() &&
           std::all_of(kMi250xNode.begin(), kMi250xNode.end(), [&](const WiredPair& pair) {
             return linked.count({pair.a, pair.b}) != 0;
           });
  }

  Result<void> check_pair(const RocmTable& types, const RocmTable& weights, std::size_t i,
                          std::size_t k) const {
    const std::string pair =
        "GPU" + std::to_string(types.gpus[i]) + ", GPU" + std::to_string(types.gpus[k]);
    const std::string& type = types.cell(i, k);
    if (type != "XGMI" && type != "PCIE" && type != "N/A") {
      return error_at(types.line, "link type of " + pair + ": expected XGMI or PCIE, got " +
                                      quoted_excerpt(type));
    }
    if (type != types.cell(k, i)) {
      return error_at(types.line, "link type of " + pair + " is " + type +
                                      ", in the other direction " +
                                      quoted_excerpt(types.cell(k, i)));
    }
    if (weights.cell(i, k) != weights.cell(k, i)) {
      return error_at(weights.line,
                      "weight of " + pair + " is " + quoted_excerpt(weights.cell(i, k)) +
                          ", in the other direction " + quoted_excerpt(weights.cell(k, i)));
    }
    if (type == "XGMI" && !weight_of(weights.cell(i, k))) {
      return error_at(weights.line, "weight of " + pair + " must be a number");
    }
    return {};
  }

  const RocmSyntax& syntax_;
  std::vector<std::string> lines_;
  domain::TopologyBuilder builder_;
  std::map<int, int> numa_;
  std::vector<std::string> warnings_;
};

bool has_table(std::string_view content, const RocmSyntax& syntax) {
  const std::string_view beginning = content.substr(0, std::size_t{64} << 10U);
  return beginning.find(syntax.weights) != std::string_view::npos ||
         beginning.find(syntax.types) != std::string_view::npos;
}

Result<ImportedTopology> import_tables(const RocmSyntax& syntax, std::string_view content,
                                       const ImportOptions& options) {
  if (content.size() > kMaxToolTextBytes) {
    return make_error(Errc::limit_exceeded,
                      "must be at most " + std::to_string(kMaxToolTextBytes >> 20U) + " MiB");
  }
  return RocmReader(syntax, content, options).read();
}

}  // namespace

bool looks_like_rocm_smi(std::string_view content) { return has_table(content, kRocmSmi); }

Result<ImportedTopology> import_rocm_smi(std::string_view content, const ImportOptions& options) {
  return import_tables(kRocmSmi, content, options);
}

bool looks_like_amd_smi(std::string_view content) { return has_table(content, kAmdSmi); }

Result<ImportedTopology> import_amd_smi(std::string_view content, const ImportOptions& options) {
  return import_tables(kAmdSmi, content, options);
}

}  // namespace chipweave::codec
