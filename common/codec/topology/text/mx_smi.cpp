// `mx-smi topo -m` and `topo -n` of MetaX: link words of all pairs of GPUs and NICs, node and CPU
// affinity behind. MX is a MetaXLink. Written after outputs of mx-smi 2.2 that users published; not
// checked on hardware.
#include <algorithm>

#include "common/base/text.hpp"
#include "common/codec/topology/import.hpp"
#include "common/codec/topology/text/text_matrix.hpp"
#include "common/domain/topology_builder.hpp"

namespace chipweave::codec {
namespace {

using domain::LinkKind;

constexpr std::string_view kLink = "MX";
constexpr std::string_view kEthernet = "ETH";

std::optional<LinkKind> metax_host_path(std::string_view word) {
  if (word == kEthernet) return LinkKind::sys;
  const auto kind = domain::parse_link_kind(word);
  const bool printed =
      kind && domain::is_host_path(*kind) && *kind != LinkKind::self && *kind != LinkKind::board;
  return printed ? kind : std::nullopt;
}

bool is_metax_word(std::string_view word) {
  return word == kLink || word == "NA" || word == "N/A" || metax_host_path(word);
}

const MatrixSyntax& metax_syntax() {
  static const MatrixSyntax value{
      "mx-smi topo -m", {"GPU"}, "", "X, MX, PIX, PXB, PHB, NODE, SYS, ETH or NA", is_metax_word};
  return value;
}

class MetaxReader : MatrixReader {
 public:
  MetaxReader(const LinkMatrix& matrix, const ImportOptions& options)
      : MatrixReader(matrix, "metax", options, metax_host_path) {}

  Result<ImportedTopology> read() {
    add_chips(false);
    read_pairs();
    if (Result<void> ok = add_nics({}, ""); !ok) return std::move(ok).error();
    auto out = imported(std::move(builder_), "mx-smi", std::move(warnings_));
    if (out) out->cpu_ranges = cpu_ranges();
    return out;
  }

 private:
  void read_pairs() {
    bool linked = false;
    bool ethernet = false;
    for (std::size_t i = 0; i < chips_.size(); ++i) {
      for (std::size_t k = i + 1; k < chips_.size(); ++k) {
        const auto path = metax_host_path(cell(i, k));
        builder_.add_link(index(i), index(k), path ? *path : hidden_host_path(i, k));
        ethernet = ethernet || cell(i, k) == kEthernet;
        if (cell(i, k) != kLink) continue;
        builder_.add_link(index(i), index(k), LinkKind::metaxlink);
        linked = true;
      }
    }
    if (linked) {
      warnings_.push_back("mx-smi does not print the lanes of a MetaXLink; one is assumed");
    }
    if (ethernet) warnings_.push_back("pairs that are joined over Ethernet count as SYS");
  }
};

bool names_metax(std::string_view content) {
  constexpr std::size_t kBeginning = std::size_t{16} << 10U;
  const std::string_view beginning = content.substr(0, kBeginning);
  if (beginning.find("MetaX") != std::string_view::npos) return true;
  const std::vector<std::string> lines = plain_lines(beginning);
  return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    const std::vector<std::string_view> words = split_words(line);
    return !words.empty() && number_after("GPU", words.front()) &&
           std::find(words.begin(), words.end(), kLink) != words.end();
  });
}

}  // namespace

bool looks_like_mx_smi(std::string_view content) {
  return names_metax(content) && has_matrix_header(content, metax_syntax());
}

Result<ImportedTopology> import_mx_smi(std::string_view content, const ImportOptions& options) {
  const Result<std::vector<LinkMatrix>> matrices = parse_link_matrices(content, metax_syntax());
  if (!matrices) return matrices.error();
  Result<ImportedTopology> out = MetaxReader(matrices->front(), options).read();
  if (out && matrices->size() > 1) {
    out->warnings.push_back("the file holds " + std::to_string(matrices->size()) +
                            " matrices; the first is used");
  }
  return out;
}

}  // namespace chipweave::codec
