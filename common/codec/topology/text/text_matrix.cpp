#include "common/codec/topology/text/text_matrix.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

using domain::LinkKind;

// Far above the sizes that tools print; they bound memory.
constexpr std::size_t kMaxColumns = static_cast<std::size_t>(limits::kMaxChips) + limits::kMaxNics;
constexpr std::size_t kMaxMatrices = 16;
constexpr std::size_t kMaxLines = 100000;

Error at_line(int line, const std::string& text) {
  return make_error(Errc::invalid_argument, "line " + std::to_string(line) + ": " + text);
}

// Names of the affinity columns, in the order in which the header shows them.
enum class TailColumn { cpu_affinity, numa_affinity, gpu_numa_id };

struct Header {
  std::string chip_prefix;
  std::vector<std::string_view> names;  // of the matrix columns
  std::vector<TailColumn> tail;
  std::vector<std::size_t> tail_starts;  // offset of each in the line
};

std::optional<int> chip_number(const MatrixSyntax& syntax, std::string_view word,
                               std::string* prefix = nullptr) {
  for (const std::string_view p : syntax.chip_prefixes) {
    const auto n = number_after(p, word);
    if (!n) continue;
    if (prefix != nullptr) *prefix = std::string(p);
    return n;
  }
  return std::nullopt;
}

std::optional<TailColumn> tail_at(const std::vector<std::string_view>& words, std::size_t i) {
  const auto is = [&words, i](std::size_t k, std::string_view w) {
    return i + k < words.size() && words[i + k] == w;
  };
  if (is(0, "CPU") && is(1, "Affinity")) return TailColumn::cpu_affinity;
  if (is(0, "NUMA") && is(1, "Affinity")) return TailColumn::numa_affinity;
  if (is(0, "Node") && is(1, "Affinity")) return TailColumn::numa_affinity;  // mx-smi
  if (is(0, "GPU") && is(1, "NUMA") && is(2, "ID")) return TailColumn::gpu_numa_id;
  return std::nullopt;
}

bool is_cell(const MatrixSyntax& syntax, std::string_view word) {
  return word == "X" || syntax.is_word(word);
}

// A line that starts with a chip's name and is not a row of the matrix.
std::optional<Header> header_of(std::string_view line, const MatrixSyntax& syntax) {
  const std::vector<std::string_view> words = split_words(line);
  Header h;
  if (words.empty() || !chip_number(syntax, words[0], &h.chip_prefix)) return std::nullopt;
  if (words.size() > 1 && is_cell(syntax, words[1])) return std::nullopt;
  if (words.size() > 1 && !chip_number(syntax, words[1]) && !tail_at(words, 1) &&
      words[1].find_first_of("0123456789") == std::string_view::npos) {
    return std::nullopt;  // a sentence, or a MIG line
  }
  for (std::size_t i = 0; i < words.size();) {
    if (const auto tail = tail_at(words, i)) {
      h.tail.push_back(*tail);
      h.tail_starts.push_back(static_cast<std::size_t>(words[i].data() - line.data()));
      i += *tail == TailColumn::gpu_numa_id ? 3 : 2;
    } else {
      h.names.push_back(words[i]);
      ++i;
    }
  }
  return h;
}

bool is_not_available(std::string_view word) { return word == "NA" || word == "N/A"; }

bool is_mig_line(const std::vector<std::string_view>& words) {
  const auto mig = [](std::string_view w) { return w.substr(0, 3) == "MIG"; };
  return mig(words[0]) || (words.size() > 1 && mig(words[1]));
}

// Reads one matrix, starting at its header.
class MatrixParser {
 public:
  MatrixParser(const std::vector<std::string>& lines, std::size_t header,
               const MatrixSyntax& syntax)
      : lines_(lines), next_(header), syntax_(syntax) {}

  Result<LinkMatrix> parse(const Header& header) {
    header_ = &header;
    matrix_.header_line = line_number();
    matrix_.chip_prefix = header.chip_prefix;
    if (Result<void> ok = take_columns(); !ok) return std::move(ok).error();
    for (++next_; next_ < lines_.size(); ++next_) {
      const std::vector<std::string_view> words = split_words(lines_[next_]);
      if (words.empty() || is_mig_line(words)) continue;
      const auto column = columns_.find(words[0]);
      if (column == columns_.end() && chip_number(syntax_, words[0]) && words.size() > 1 &&
          is_cell(syntax_, words[1])) {
        return at_line(line_number(),
                       "the row of " + quoted_excerpt(words[0]) + " has no column in the header");
      }
      if (column == columns_.end() || header_of(lines_[next_], syntax_)) break;
      if (Result<void> ok = take_row(column->second, words); !ok) return std::move(ok).error();
    }
    if (Result<void> ok = check_rows(); !ok) return std::move(ok).error();
    if (Result<void> ok = make_symmetric(); !ok) return std::move(ok).error();
    return std::move(matrix_);
  }
  // The first line after the matrix.
  std::size_t next() const { return next_; }

 private:
  int line_number() const { return static_cast<int>(next_) + 1; }

  Result<void> take_columns() {
    if (header_->names.size() > kMaxColumns) {
      return make_error(Errc::limit_exceeded, "line " + std::to_string(line_number()) + ": " +
                                                  std::to_string(header_->names.size()) +
                                                  " columns");
    }
    for (const std::string_view name : header_->names) {
      const auto chip = chip_number(syntax_, name);
      if (!chip && is_endless_number(name)) {
        return at_line(line_number(), "the number of " + quoted_excerpt(name) + " is too large");
      }
      if (!columns_.emplace(name, matrix_.columns.size()).second) {
        return at_line(line_number(), "duplicate column " + quoted_excerpt(name));
      }
      matrix_.columns.push_back({std::string(name), chip.value_or(-1)});
    }
    const std::size_t n = matrix_.columns.size();
    matrix_.cells.resize(n * n);
    matrix_.tails.resize(n);
    rows_.resize(n, 0);
    return {};
  }

  // "GPU1000000": a chip by its prefix, with a number that no tool prints.
  bool is_endless_number(std::string_view name) const {
    return std::any_of(
        syntax_.chip_prefixes.begin(), syntax_.chip_prefixes.end(),
        [name](std::string_view prefix) {
          return name.size() > prefix.size() && name.substr(0, prefix.size()) == prefix &&
                 name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
        });
  }

  Result<void> take_row(std::size_t row, const std::vector<std::string_view>& words) {
    const std::size_t n = matrix_.columns.size();
    const std::string& name = matrix_.columns[row].name;
    if (rows_[row] != 0) {
      return at_line(line_number(), "duplicate row of " + name + " (the first is line " +
                                        std::to_string(rows_[row]) + ")");
    }
    rows_[row] = line_number();
    for (std::size_t c = 0; c < n; ++c) {
      if (c + 1 >= words.size()) {
        return at_line(line_number(), "the row of " + name + " has " +
                                          std::to_string(words.size() - 1) +
                                          " cells, the header has " + std::to_string(n) +
                                          " columns (is the output cut off?)");
      }
      const std::string_view word = words[c + 1];
      const std::string where = "cell " + name + ", " + matrix_.columns[c].name + ": ";
      if (!is_cell(syntax_, word)) {
        return at_line(line_number(), where + "expected " + std::string(syntax_.words) + ", got " +
                                          quoted_excerpt(word));
      }
      if ((word == "X") != (c == row)) {
        return at_line(line_number(), where + (c == row ? "expected X, got " + quoted_excerpt(word)
                                                        : "X means the chip itself"));
      }
      matrix_.cells[row * n + c] = std::string(word);
    }
    const std::vector<std::string_view> tail(words.begin() + static_cast<std::ptrdiff_t>(n) + 1,
                                             words.end());
    return take_tail(row, tail);
  }

  // Affinity cells; where fewer are printed than the header has, an empty CPU Affinity shows as two
  // tabs in a row, other gaps by their column.
  Result<void> take_tail(std::size_t row, const std::vector<std::string_view>& tail) {
    if (matrix_.columns[row].chip < 0 || tail.empty()) return {};
    if (tail.size() > header_->tail.size()) {
      return at_line(line_number(), "the row of " + matrix_.columns[row].name +
                                        " has more cells than the header has columns");
    }
    const std::string& line = lines_[next_];
    std::size_t column = 0;
    for (std::size_t i = 0; i < tail.size(); ++i, ++column) {
      if (is_cell(syntax_, tail[i]) && !is_not_available(tail[i])) {
        return at_line(line_number(), "the row of " + matrix_.columns[row].name + " has " +
                                          quoted_excerpt(tail[i]) +
                                          " where the header has an affinity column");
      }
      const std::size_t spare = header_->tail.size() - column - (tail.size() - i);
      const std::size_t start = static_cast<std::size_t>(tail[i].data() - line.data());
      if (spare > 0) column += skipped(line, start, column, spare);
      LinkMatrix::Tail& out = matrix_.tails[row];
      if (header_->tail[column] == TailColumn::cpu_affinity) out.cpu_affinity = tail[i];
      if (header_->tail[column] == TailColumn::numa_affinity) out.numa_affinity = tail[i];
    }
    return {};
  }

  // How many header columns are empty before the cell that starts at `start`.
  std::size_t skipped(const std::string& line, std::size_t start, std::size_t column,
                      std::size_t spare) const {
    std::size_t tabs = 0;
    for (std::size_t k = start; k > 0 && (line[k - 1] == '\t' || line[k - 1] == ' '); --k) {
      tabs += line[k - 1] == '\t' ? 1 : 0;
    }
    if (tabs > 0) return std::min(spare, column == 0 ? tabs - 1 : 0);
    const auto gap = [this, start](std::size_t c) {
      const std::size_t at = header_->tail_starts[c];
      return at > start ? at - start : start - at;
    };
    std::size_t best = 0;
    for (std::size_t k = 1; k <= spare; ++k) {
      if (gap(column + k) < gap(column + best)) best = k;
    }
    return best;
  }

  Result<void> check_rows() {
    bool any = false;
    for (std::size_t c = 0; c < rows_.size(); ++c) {
      any = any || rows_[c] != 0;
      if (rows_[c] != 0 || matrix_.columns[c].chip < 0) continue;
      matrix_.missing_rows.push_back(matrix_.columns[c].name);
    }
    if (matrix_.missing_rows.empty()) return {};
    if (any && !syntax_.excerpt_prefix.empty() && matrix_.chip_prefix == syntax_.excerpt_prefix) {
      return {};
    }
    return at_line(matrix_.header_line, "the matrix that starts here has no row for " +
                                            joined(matrix_.missing_rows, ", ").substr(0, 200) +
                                            " (is the output cut off?)");
  }

  // "line 2 has NV1 for GPU0, GPU1"
  std::string statement(std::size_t row, std::size_t column, const std::string& word) const {
    return "line " + std::to_string(rows_[row]) + " has " + word + " for " +
           matrix_.columns[row].name + ", " + matrix_.columns[column].name;
  }

  Result<void> make_symmetric() {
    const std::size_t n = matrix_.columns.size();
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = a + 1; b < n; ++b) {
        std::string& ab = matrix_.cells[a * n + b];
        std::string& ba = matrix_.cells[b * n + a];
        if (ab.empty()) ab = ba;
        if (ba.empty()) ba = ab;
        if (ab == ba) continue;
        return make_error(Errc::invalid_argument,
                          statement(a, b, ab) + ", but " + statement(b, a, ba));
      }
    }
    return {};
  }

  const std::vector<std::string>& lines_;
  std::size_t next_;
  const MatrixSyntax& syntax_;
  const Header* header_ = nullptr;
  std::map<std::string, std::size_t, std::less<>> columns_;
  std::vector<int> rows_;  // line of each row, 0: not read
  LinkMatrix matrix_;
};

// NUMA node of each chip column: the NUMA Affinity where every chip has one, else distinct CPU
// affinities numbered by their first CPU; -1 if nothing is printed.
std::vector<int> numa_nodes(const LinkMatrix& matrix) {
  std::vector<int> out;
  bool all_printed = true;
  for (const std::size_t c : matrix.chip_columns()) {
    out.push_back(number_after("", matrix.tails[c].numa_affinity).value_or(-1));
    all_printed = all_printed && out.back() >= 0;
  }
  if (all_printed) return out;
  // "48-71" → 48; equal texts are equal affinities, and the first CPU orders them
  std::set<std::pair<int, std::string>> distinct;
  const auto key = [](const std::string& affinity) {
    const std::string_view first =
        std::string_view(affinity).substr(0, affinity.find_first_of("-,"));
    return std::pair(number_after("", first).value_or(-1), affinity);
  };
  for (const std::size_t c : matrix.chip_columns()) {
    if (key(matrix.tails[c].cpu_affinity).first >= 0)
      distinct.insert(key(matrix.tails[c].cpu_affinity));
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto it = distinct.find(key(matrix.tails[matrix.chip_columns()[i]].cpu_affinity));
    out[i] = it == distinct.end() ? -1 : static_cast<int>(std::distance(distinct.begin(), it));
  }
  return out;
}

}  // namespace

std::vector<std::size_t> LinkMatrix::chip_columns() const {
  std::vector<std::size_t> out;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].chip >= 0) out.push_back(c);
  }
  return out;
}

std::vector<std::size_t> LinkMatrix::nic_columns() const {
  std::vector<std::size_t> out;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].chip < 0) out.push_back(c);
  }
  return out;
}

std::vector<std::string> plain_lines(std::string_view content, std::size_t limit) {
  content = content.substr(0, limit);
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < content.size(); ++i) {
    const char c = content[i];
    if (c == '\n') {
      if (lines.size() > kMaxLines) break;
      lines.emplace_back();
    } else if (c == '\x1b' && i + 1 < content.size() && content[i + 1] == '[') {
      i += 2;  // ESC [ parameters, ended by a byte of 0x40..0x7e
      while (i < content.size() && (content[i] < 0x40 || content[i] == 0x7f) && content[i] != '\n')
        ++i;
      if (i < content.size() && content[i] == '\n') --i;
    } else if (c != '\r') {
      lines.back() += c;
    }
  }
  return lines;
}

std::optional<int> number_after(std::string_view prefix, std::string_view word) {
  if (word.size() <= prefix.size() || word.size() > prefix.size() + 6) return std::nullopt;
  if (word.substr(0, prefix.size()) != prefix) return std::nullopt;
  int out = 0;
  for (const char c : word.substr(prefix.size())) {
    if (c < '0' || c > '9') return std::nullopt;
    out = out * 10 + (c - '0');
  }
  return out;
}

bool has_matrix_header(std::string_view content, const MatrixSyntax& syntax) {
  constexpr std::size_t kBeginning = std::size_t{16} << 10U;
  for (const std::string& line : plain_lines(content, kBeginning)) {
    if (header_of(line, syntax)) return true;
  }
  return false;
}

Result<std::vector<LinkMatrix>> parse_link_matrices(std::string_view content,
                                                    const MatrixSyntax& syntax) {
  if (content.size() > kMaxToolTextBytes) {
    return make_error(Errc::limit_exceeded,
                      "must be at most " + std::to_string(kMaxToolTextBytes >> 20U) + " MiB");
  }
  const std::vector<std::string> lines = plain_lines(content);
  if (lines.size() > kMaxLines) {
    return make_error(Errc::limit_exceeded, "more than " + std::to_string(kMaxLines) + " lines");
  }
  std::vector<LinkMatrix> out;
  for (std::size_t i = 0; i < lines.size();) {
    const auto header = header_of(lines[i], syntax);
    if (!header) {
      ++i;
      continue;
    }
    if (out.size() >= kMaxMatrices) {
      return make_error(Errc::limit_exceeded,
                        "more than " + std::to_string(kMaxMatrices) + " matrices in one file");
    }
    MatrixParser parser(lines, i, syntax);
    Result<LinkMatrix> matrix = parser.parse(*header);
    if (!matrix) return std::move(matrix).error();
    out.push_back(std::move(matrix).value());
    i = parser.next();
  }
  if (out.empty()) {
    return make_error(Errc::invalid_argument,
                      "no matrix of " + std::string(syntax.tool) + " found (its header names " +
                          std::string(syntax.chip_prefixes.front()) + "0 …)");
  }
  return out;
}

MatrixReader::MatrixReader(const LinkMatrix& matrix, const char* vendor,
                           const ImportOptions& options, HostPath host_path)
    : matrix_(matrix),
      chips_(matrix.chip_columns()),
      host_path_(host_path),
      numa_(numa_nodes(matrix)) {
  builder_.vendor = vendor;
  builder_.model = options.model;
}

void MatrixReader::add_chips(bool physical) {
  for (std::size_t i = 0; i < chips_.size(); ++i) {
    domain::Chip chip;
    chip.index = index(i);
    chip.numa = numa_[i];
    if (physical) chip.physical_id = chip.index.value;
    builder_.add_chip(std::move(chip));
  }
}

Result<void> MatrixReader::add_nics(const std::map<std::string, std::string>& names,
                                    const char* hint) {
  for (const std::size_t column : matrix_.nic_columns()) {
    const std::string& nic = matrix_.columns[column].name;
    std::map<domain::ChipIndex, LinkKind> paths;
    for (std::size_t i = 0; i < chips_.size(); ++i) {
      const std::string& word = matrix_.cell(chips_[i], column);
      if (const auto path = host_path_(word)) {
        paths[index(i)] = *path;
      } else if (!word.empty() && !is_not_available(word)) {
        return make_error(Errc::invalid_argument, "cell " + name(i) + ", " + quoted_excerpt(nic) +
                                                      ": expected a host path, got " + word + hint);
      }
    }
    const auto known = names.find(nic);
    builder_.add_nic(known == names.end() ? nic : known->second, "", -1, 0, std::move(paths));
  }
  return {};
}

std::map<int, std::string> MatrixReader::cpu_ranges() const {
  std::map<int, std::string> out;
  bool all_printed = true;  // as in numa_nodes()
  for (std::size_t i = 0; i < chips_.size(); ++i) {
    const LinkMatrix::Tail& tail = matrix_.tails[chips_[i]];
    all_printed = all_printed && number_after("", tail.numa_affinity).value_or(-1) >= 0;
    if (numa_[i] >= 0) out[index(i).value] = tail.cpu_affinity;
  }
  if (all_printed) out.clear();
  return out;
}

std::map<int, std::string> MatrixReader::cpus() const {
  std::map<int, std::string> out;
  for (std::size_t i = 0; i < chips_.size(); ++i) {
    const std::string& text = matrix_.tails[chips_[i]].cpu_affinity;
    const bool list = !text.empty() && text.find_first_not_of("0123456789-,") == std::string::npos;
    if (list) out[index(i).value] = text;
  }
  return out;
}

LinkKind MatrixReader::hidden_host_path(std::size_t i, std::size_t k) const {
  LinkKind bound = numa_[i] >= 0 && numa_[i] == numa_[k] ? LinkKind::node : LinkKind::sys;
  for (const std::size_t nic : matrix_.nic_columns()) {
    const auto to_a = host_path_(matrix_.cell(chips_[i], nic));
    const auto to_b = host_path_(matrix_.cell(chips_[k], nic));
    if (!to_a || !to_b) continue;
    if (*to_a != *to_b) return std::max(*to_a, *to_b);
    bound = std::min(bound, *to_a);
  }
  return bound;
}

}  // namespace chipweave::codec
