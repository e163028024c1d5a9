// `npu-smi info -t topo`: link words of all pairs of NPUs; A3 servers print Phy-ID headers and no
// CPU affinity.
#include <map>
#include <utility>

#include "common/base/text.hpp"
#include "common/codec/text/quoting.hpp"
#include "common/codec/topology/hardware/ascend_links.hpp"
#include "common/codec/topology/import.hpp"
#include "common/codec/topology/text/text_matrix.hpp"
#include "common/domain/rule_guess.hpp"
#include "common/domain/topology_builder.hpp"

namespace chipweave::codec {
namespace {

using domain::ChipIndex;
using domain::LinkKind;

constexpr std::string_view kPhysical = "Phy-ID";
constexpr std::string_view kNotSupported = "does not support querying topo";
bool is_unknown(std::string_view word) { return word == "NA"; }

bool is_npu_word(std::string_view word) {
  return ascend_host_path(word) || ascend_direct_link(word) || is_ascend_switched(word) ||
         is_unknown(word);
}

const MatrixSyntax& npu_syntax() {
  static const MatrixSyntax value{"npu-smi info -t topo",
                                  {"NPU", kPhysical},
                                  kPhysical,
                                  "X, HCCS, HCCS_SW, SIO, UB, PIX, PXB, PHB, SYS or NA",
                                  is_npu_word};
  return value;
}

class NpuReader : MatrixReader {
 public:
  NpuReader(const LinkMatrix& matrix, const ImportOptions& options)
      : MatrixReader(matrix, "ascend", options, ascend_host_path) {}

  Result<ImportedTopology> read() {
    add_chips(matrix_.chip_prefix == kPhysical);
    read_pairs();
    read_switches();
    if (Result<void> ok = add_nics({}, ""); !ok) return std::move(ok).error();
    warn();
    auto out = imported(std::move(builder_), "npu-smi", std::move(warnings_));
    if (out) {
      out->cpu_ranges = cpu_ranges();
      out->host.cpus = cpus();
      warn_of_rule(*out);
    }
    return out;
  }

 private:
  void read_pairs() {
    for (std::size_t i = 0; i < chips_.size(); ++i) {
      for (std::size_t k = i + 1; k < chips_.size(); ++k) {
        const std::string& word = cell(i, k);
        if (const auto path = ascend_host_path(word)) {
          builder_.add_link(index(i), index(k), *path);
          continue;
        }
        if (word.empty() || is_unknown(word)) {
          unknown_ += (unknown_.empty() ? "" : ", ") + std::to_string(index(i).value) + "-" +
                      std::to_string(index(k).value);
        }
        builder_.add_link(index(i), index(k), hidden_host_path(i, k));
        if (const auto kind = ascend_direct_link(word))
          builder_.add_link(index(i), index(k), *kind);
      }
    }
  }

  void read_switches() {
    std::vector<ChipIndex> indices;
    indices.reserve(chips_.size());
    for (std::size_t i = 0; i < chips_.size(); ++i) indices.push_back(index(i));
    add_hccs_switches(builder_, indices, [this](std::size_t i, std::size_t k) {
      return is_ascend_switched(cell(i, k));
    });
  }

  void warn() {
    if (!matrix_.missing_rows.empty()) {
      warnings_.push_back(std::to_string(matrix_.missing_rows.size()) + " rows are missing (" +
                          matrix_.missing_rows.front() + " …); the text " + "is an excerpt");
    }
    if (!unknown_.empty()) {
      warnings_.push_back("the links of these chips are unknown and taken as SYS or NODE: " +
                          std::string(shortened(unknown_, 200)));
    }
  }

  static void warn_of_rule(ImportedTopology& out) {
    const domain::RuleGuess guess = domain::guess_rule(out.topology);
    if (guess.certain) return;
    const std::string kind(to_string(guess.rule.kind));
    out.warnings.push_back("these chips and links are not those of a known machine; " +
                           (guess.rule.kind == domain::RuleKind::any
                                ? "any set of chips is allowed"
                                : "the placement rule " + kind + " is assumed") +
                           "; set \"rule\" in a topology JSON if it is another");
  }

  std::string unknown_;
};

bool says_not_supported(std::string_view content) {
  return content.substr(0, 4096).find(kNotSupported) != std::string_view::npos;
}

}  // namespace

bool looks_like_npu_smi(std::string_view content) {
  return says_not_supported(content) || has_matrix_header(content, npu_syntax());
}

Result<std::vector<ImportedTopology>> import_npu_smi_all(std::string_view content,
                                                         const ImportOptions& options) {
  if (says_not_supported(content) && !has_matrix_header(content, npu_syntax())) {
    return make_error(Errc::unsupported,
                      "npu-smi reports that this device does not support querying topo; use a "
                      "built-in profile or "
                      "a topology JSON instead");
  }
  const Result<std::vector<LinkMatrix>> matrices = parse_link_matrices(content, npu_syntax());
  if (!matrices) return matrices.error();
  std::vector<ImportedTopology> out;
  for (const LinkMatrix& matrix : *matrices) {
    Result<ImportedTopology> one = NpuReader(matrix, options).read();
    if (!one) {
      return std::move(one).error().in("matrix at line " + std::to_string(matrix.header_line));
    }
    out.push_back(std::move(one).value());
  }
  return out;
}

Result<ImportedTopology> import_npu_smi(std::string_view content, const ImportOptions& options) {
  Result<std::vector<ImportedTopology>> all = import_npu_smi_all(content, options);
  if (!all) return std::move(all).error();
  ImportedTopology first = std::move(all->front());
  if (all->size() > 1) {
    first.warnings.push_back("the file holds " + std::to_string(all->size()) +
                             " matrices; the first is used");
  }
  return first;
}

}  // namespace chipweave::codec
