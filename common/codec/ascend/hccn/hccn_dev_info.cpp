#include "common/codec/ascend/hccn/hccn_dev_info.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "common/base/ip_address.hpp"
#include "common/codec/ascend/hccn/hccn_output.hpp"
#include "common/codec/text/lines.hpp"
#include "common/codec/text/numbers.hpp"
#include "common/codec/text/quoting.hpp"
#include "common/codec/text/words.hpp"

namespace chipweave::codec::ascend {
namespace {

constexpr std::size_t kMaxCells = 32;
constexpr std::size_t kMaxCellBytes = 128;
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
  Result<HccnDevInfo> read(std::string_view output) {
    if (Result<void> fine = small_enough(output); !fine) return fine.error();
    LineReader lines(output);
    for (std::string_view line; lines.next_trimmed(line);) {
      const Row row = cells_of(line);
      // Any line that is neither a row nor a separator ends the table.
      if (row.empty() && !line.starts_with('+')) table_.clear();
      if (row.empty() || begins_table(row)) continue;
      if (++rows_ > kMaxTableRows) {
        return make_error(Errc::limit_exceeded, "hccn_tool printed more rows than are read");
      }
      if (Result<void> fine = take(row); !fine) return std::move(fine).error().in(lines.where());
    }
    if (!headed_) return no_answer(output, "table of the device");
    return std::move(out_);
  }

 private:
  // The header row of a known table.
  bool begins_table(const Row& row) {
    for (const std::string_view first : {"UDie ID", "Interface Name", "Name"}) {
      if (row.front() != first) continue;
      columns_.clear();
      for (std::size_t i = 0; i < row.size(); ++i) columns_.emplace(row[i], i);
      table_ = first;
      headed_ = true;
      name_.clear();
      return true;
    }
    return false;
  }

  // "" if this table has no such column.
  std::string_view cell(const Row& row, std::string_view column) const {
    const auto it = columns_.find(std::string(column));
    return it == columns_.end() || it->second >= row.size() ? std::string_view{} : row[it->second];
  }

  static Error wrong(std::string_view cell, const char* what) {
    return make_error(Errc::invalid_argument,
                      std::string("expected ") + what + ", got " + quoted_excerpt(cell));
  }

  Result<void> take(const Row& row) {
    const auto longest = std::max_element(row.begin(), row.end(),
                                          [](auto a, auto b) { return a.size() < b.size(); });
    if (longest->size() > kMaxCellBytes) return wrong(*longest, "a shorter cell");
    if (table_ == "UDie ID") return take_port(row);
    // A row with a blank name continues the previous row.
    if (!row.front().empty()) name_ = row.front();
    if (table_ == "Interface Name") return take_interface(row);
    return table_ == "Name" ? take_eid(row) : Result<void>();
  }

  Result<void> take_port(const Row& row) {
    const auto die = plain_number(row.front(), kMaxNumber);
    const auto port = plain_number(cell(row, "Port ID"), kMaxNumber);
    if (!die || !port) return wrong(die ? cell(row, "Port ID") : row.front(), "a port");
    const std::string_view status = cell(row, "Link Status");
    if (status != "UP" && status != "DOWN") return wrong(status, "UP or DOWN");
    out_.ports.push_back({*die, *port, plain_number(cell(row, "Speed Ability(Gbps)"), kMaxNumber),
                          std::string(cell(row, "Port Type")), status == "UP",
                          std::string(cell(row, "Media Type"))});
    return {};
  }

  Result<void> take_interface(const Row& row) {
    if (!row.front().empty()) out_.interfaces.push_back({name_, {}});
    const std::string_view address = cell(row, "IP Address");
    if (address.empty() || address == "NA") return {};
    if (!parse_ip(address)) return wrong(address, "an address");
    if (out_.interfaces.empty()) return wrong(row.front(), "an interface");
    out_.interfaces.back().addresses.emplace_back(address);
    return {};
  }

  Result<void> take_eid(const Row& row) {
    const auto index = plain_number(cell(row, "EID Index"), kMaxNumber);
    const std::string_view eid = cell(row, "EID");
    if (!index) return wrong(cell(row, "EID Index"), "the index of an EID");
    if (name_.empty() || !parse_ip(eid)) return wrong(eid, "an EID");
    out_.eids.push_back({name_, *index, std::string(eid)});
    return {};
  }

  HccnDevInfo out_;
  std::map<std::string, std::size_t> columns_;
  std::string table_;
  std::string name_;
  std::size_t rows_ = 0;
  bool headed_ = false;
};

}  // namespace

Result<HccnDevInfo> parse_hccn_dev_info(std::string_view output) {
  return DevInfoReader().read(output);
}

}  // namespace chipweave::codec::ascend
