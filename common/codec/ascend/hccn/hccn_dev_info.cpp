#include "common/codec/ascend/hccn/hccn_dev_info.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "common/base/text.hpp"
#include "common/codec/ascend/hccn/hccn_output.hpp"
#include "common/codec/text/lines.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec::ascend {
namespace {

constexpr std::size_t kMaxCells = 32;
constexpr int kMaxNumber = 1'000'000;

using Row = std::vector<std::string_view>;

// "| a | b |" → a, b; empty for any other line.
Row cells_of(std::string_view line) {
  Row out;
  if (!line.starts_with('|') || !line.ends_with('|')) return out;
  line.remove_prefix(1);
  while (!line.empty() && out.size() < kMaxCells) {
    const std::size_t end = std::min(line.find('|'), line.size());
    out.push_back(trim(line.substr(0, end)));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return out;
}

class DevInfoReader {
 public:
  Result<std::vector<HccnUbPort>> read(std::string_view output) {
    if (Result<void> fine = small_enough(output); !fine) return fine.error();
    LineReader lines(output);
    for (std::string_view line; lines.next_trimmed(line);) {
      const Row row = cells_of(line);
      // Any line that is neither a row nor a separator ends the table.
      if (row.empty() && !line.starts_with('+')) columns_.clear();
      if (row.empty() || begins_table(row) || columns_.empty()) continue;
      if (++rows_ > kMaxTableRows) {
        return make_error(Errc::limit_exceeded, "hccn_tool printed more rows than are read");
      }
      if (Result<void> fine = take(row); !fine) return std::move(fine).error().in(lines.where());
    }
    if (!headed_) return no_answer(output, "table of the device");
    return std::move(out_);
  }

 private:
  // The header row of a known table. Tables follow each other without a blank line.
  bool begins_table(const Row& row) {
    const bool ports = row.front() == "UDie ID";
    if (!ports && row.front() != "Interface Name" && row.front() != "Name") return false;
    columns_.clear();
    if (!ports) return true;
    for (std::size_t i = 0; i < row.size(); ++i) columns_.emplace(row[i], i);
    headed_ = true;
    return true;
  }

  // "" if the table has no such column.
  std::string_view cell(const Row& row, std::string_view column) const {
    const auto it = columns_.find(std::string(column));
    return it == columns_.end() || it->second >= row.size() ? std::string_view{} : row[it->second];
  }

  static Error wrong(std::string_view cell, const char* what) {
    return make_error(Errc::invalid_argument,
                      std::string("expected ") + what + ", got " + quoted_excerpt(cell));
  }

  Result<void> take(const Row& row) {
    const auto port = whole_number(cell(row, "Port ID"), kMaxNumber);
    if (!port) return wrong(cell(row, "Port ID"), "a port");
    const std::string_view status = cell(row, "Link Status");
    if (status != "UP" && status != "DOWN") return wrong(status, "UP or DOWN");
    out_.push_back({*port, status == "UP"});
    return {};
  }

  std::vector<HccnUbPort> out_;
  std::map<std::string, std::size_t> columns_;  // of the table of ports; empty outside it
  std::size_t rows_ = 0;
  bool headed_ = false;
};

}  // namespace

Result<std::vector<HccnUbPort>> parse_hccn_dev_info(std::string_view output) {
  return DevInfoReader().read(output);
}

}  // namespace chipweave::codec::ascend
