// The link matrix that vendor tools print (`nvidia-smi topo -m`, `npu-smi info -t topo`, `mx-smi
// topo -m`): names
// across and down, one word in each cell, then affinity columns. The importers interpret the words.
// Internal to common/codec.
//
// Tolerated: colours, tabs or aligned blanks, indentation, prompts and legends around the matrix,
// MIG rows, empty affinity cells. Errors name the line: cut-off rows, unknown words, duplicated
// columns, cells (a,b) and (b,a) that differ.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/topology/import.hpp"
#include "common/domain/link.hpp"
#include "common/domain/topology_builder.hpp"

namespace chipweave::codec {

inline constexpr std::size_t kMaxToolTextBytes = std::size_t{4} << 20U;

struct MatrixSyntax {
  std::string_view tool;                        // for messages
  std::vector<std::string_view> chip_prefixes;  // "GPU": a column "GPU3" is chip 3
  std::string_view
      excerpt_prefix;      // matrices of this prefix may lack rows (documentation excerpts)
  std::string_view words;  // for messages
  bool (*is_word)(std::string_view);  // whether a cell may hold this ("X" is known already)
};

struct LinkMatrix {
  struct Column {
    std::string name;
    int chip = -1;  // index, or -1 for a NIC
  };
  struct Tail {
    std::string cpu_affinity;   // "0-19,40-59", empty if not printed
    std::string numa_affinity;  // "0", "N/A", empty
  };
  int header_line = 0;
  std::string chip_prefix;
  std::vector<Column> columns;
  // columns x columns, row by row; empty if the row is missing. Made symmetric: (a,b) is filled
  // from (b,a).
  std::vector<std::string> cells;
  std::vector<Tail> tails;  // by column
  std::vector<std::string> missing_rows;

  const std::string& cell(std::size_t row, std::size_t column) const {
    return cells[row * columns.size() + column];
  }
  std::vector<std::size_t> chip_columns() const;
  std::vector<std::size_t> nic_columns() const;
};

// All matrices of the text, in order; an error if there is none.
Result<std::vector<LinkMatrix>> parse_link_matrices(std::string_view content,
                                                    const MatrixSyntax& syntax);
// Whether one of the first lines is a header of such a matrix.
bool has_matrix_header(std::string_view content, const MatrixSyntax& syntax);

// Lines without colours and line ends; reads at most `limit` bytes.
std::vector<std::string> plain_lines(std::string_view content,
                                     std::size_t limit = std::string_view::npos);
// "GPU12" with prefix "GPU" → 12; at most six digits.
std::optional<int> number_after(std::string_view prefix, std::string_view word);

// What the readers of both tools do alike with one matrix. Chips are named by their position among
// the matrix's chips.
class MatrixReader {
 protected:
  using HostPath = std::optional<domain::LinkKind> (*)(std::string_view word);

  MatrixReader(const LinkMatrix& matrix, const char* vendor, const ImportOptions& options,
               HostPath host_path);

  domain::ChipIndex index(std::size_t i) const {
    return domain::ChipIndex{matrix_.columns[chips_[i]].chip};
  }
  const std::string& name(std::size_t i) const { return matrix_.columns[chips_[i]].name; }
  const std::string& cell(std::size_t i, std::size_t k) const {
    return matrix_.cell(chips_[i], chips_[k]);
  }
  // physical: their indices are their physical ids, too.
  void add_chips(bool physical);
  // names: of the NICs, where the legend has other ones. hint: ends the message for a cell that is
  // no host path; unknown ones are left out.
  Result<void> add_nics(const std::map<std::string, std::string>& names, const char* hint);

  // Derives the PCIe path of two chips whose cell shows a fast link from the NIC columns. Host
  // paths nest (PIX inside PXB inside PHB …): if a NIC is nearer to one chip than to the other, the
  // chips have the farther path; if both are equal, the chips' path is at most that. Falls back on
  // NUMA: NODE inside one node, else SYS.
  domain::LinkKind hidden_host_path(std::size_t i, std::size_t k) const;

  // As in ImportedTopology.
  std::map<int, std::string> cpu_ranges() const;
  // As in HostFacts: what the column of CPUs says.
  std::map<int, std::string> cpus() const;

  const LinkMatrix& matrix_;
  std::vector<std::size_t> chips_;  // their columns
  domain::TopologyBuilder builder_;
  std::vector<std::string> warnings_;

 private:
  HostPath host_path_;
  std::vector<int> numa_;  // -1: unknown
};

}  // namespace chipweave::codec
