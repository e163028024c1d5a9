// The output of hccl_test. It names neither devices nor ranks, so these come from the command line
// ("mpirun -n 8 ./bin/all_reduce_test -p 8 -b 128M -e 1G -f 2") if the log repeats it.
#include <algorithm>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/codec/calibration/collective_log.hpp"
#include "common/codec/calibration/log_words.hpp"

namespace chipweave::codec {
namespace {

using domain::CollectiveRow;
using domain::CollectiveRun;

enum class Column { size, time, bandwidth, check };

std::optional<Column> column_of(std::string_view word) {
  word = trim(word);
  if (word.ends_with(':')) word = trim(word.substr(0, word.size() - 1));
  if (word == "data_size(Bytes)") return Column::size;
  if (word == "aveg_time(us)" || word == "avg_time(us)") return Column::time;
  if (word == "alg_bandwidth(GB/s)") return Column::bandwidth;
  if (word == "check_result") return Column::check;
  return std::nullopt;
}

class HcclTestReader {
 public:
  explicit HcclTestReader(std::string_view log) : log_(log) {}

  Result<std::vector<CollectiveRun>> read() {
    if (Result<void> ok =
            each_log_line(log_, number_, [this](std::string_view line) { return take(line); });
        !ok)
      return std::move(ok).error();
    if (runs_.empty()) {
      return make_error(Errc::invalid_argument,
                        "no table of hccl_test found: expected a header \"data_size(Bytes): | "
                        "aveg_time(us): | alg_bandwidth(GB/s): | check_result:\"");
    }
    finish();
    return std::move(runs_);
  }

 private:
  Result<void> take(std::string_view line) {
    if (line.empty()) return {};
    if (const auto date = date_of(line)) next_.date = *date;
    if (line.find("data_size(Bytes)") != std::string_view::npos) return begin(line);
    if (line.find("_test") != std::string_view::npos) note_command(line);
    note_bounds(line);
    if (columns_.empty() || line.find('|') == std::string_view::npos) return {};
    return take_row(line);
  }

  Result<void> begin(std::string_view line) {
    if (!runs_.empty()) finish();
    std::vector<Column> columns;
    for (const std::string_view word : split(line, '|')) {
      const auto column = column_of(word);
      if (!column || std::find(columns.begin(), columns.end(), *column) != columns.end()) {
        return make_error(Errc::invalid_argument, "unknown column " + in_quotes(trim(word)) +
                                                      " in the header of hccl_test's table");
      }
      columns.push_back(*column);
    }
    if (columns.size() != 4) {
      return make_error(Errc::invalid_argument,
                        "expected the columns data_size, aveg_time, alg_bandwidth, check_result");
    }
    if (runs_.size() == kMaxRunsOfLog) {
      return make_error(Errc::limit_exceeded,
                        "more than " + std::to_string(kMaxRunsOfLog) + " runs in one log");
    }
    columns_ = std::move(columns);
    runs_.push_back(std::exchange(next_, {}));
    runs_.back().line = number_;
    runs_.back().tool = "hccl_test";
    largest_of_run_ = std::exchange(largest_, 0);
    return {};
  }

  // hccl_test prints no end. It is cut where its first line announces a size that is missing.
  void finish() {
    CollectiveRun& run = runs_.back();
    run.complete = true;
    if (largest_of_run_ == 0 || run.rows.empty()) return;
    const std::uint64_t last = run.rows.back().bytes;
    const std::uint64_t step =
        run.rows.size() < 2 || run.rows[run.rows.size() - 2].bytes == 0
            ? 2
            : std::max<std::uint64_t>(last / run.rows[run.rows.size() - 2].bytes, 2);
    if (last <= largest_of_run_ / step) {
      run.incomplete =
          concat("the last row is of ", last, " bytes, the run was to reach ", largest_of_run_);
    }
  }

  // "the minbytes is 8192, maxbytes is 67108864, iters is 20, warmup_iters is 5"
  void note_bounds(std::string_view line) {
    constexpr std::string_view kMost = "maxbytes is ";
    const std::size_t at = line.find(kMost);
    if (at == std::string_view::npos || line.find("minbytes is ") == std::string_view::npos) return;
    const std::string_view rest = line.substr(at + kMost.size());
    largest_ = parse_number<std::uint64_t>(rest.substr(0, rest.find_first_not_of("0123456789")))
                   .value_or(0);
  }

  void note_command(std::string_view line) {
    const std::vector<std::string_view> words = split_words(line);
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string name = collective_of_program(words[i], "_test");
      if (name.empty() || name == "hccl") continue;
      next_.collective = name;
      for (std::size_t k = 0; k + 1 < words.size(); ++k) {
        const auto number = parse_number<int>(words[k + 1]).value_or(0);
        if (number < 1 || number > static_cast<int>(kMaxRanksOfRun)) continue;
        // mpirun's -n is the number of ranks, the program's own is that of iterations
        if (k < i && (words[k] == "-n" || words[k] == "-np")) next_.ranks = number;
        if (k > i && words[k] == "-p") next_.ranks_per_node = number;
      }
      if (next_.ranks == 0) next_.ranks = next_.ranks_per_node;
    }
    note_devices(words);
  }

  void note_devices(const std::vector<std::string_view>& words) {
    constexpr std::string_view kDevices = "HCCL_TEST_USE_DEVS=";
    for (std::string_view word : words) {
      if (!word.starts_with(kDevices)) continue;
      word.remove_prefix(kDevices.size());
      next_.chips.clear();
      for (const std::string_view each : split(word, ',')) {
        const auto chip = parse_number<int>(trim(each));
        if (chip && *chip >= 0 && next_.chips.size() < kMaxRanksOfRun) next_.chips.push_back(*chip);
      }
    }
  }

  Result<void> take_row(std::string_view line) {
    const std::vector<std::string_view> cells = split(line, '|');
    const bool sized = std::any_of(cells.begin(), cells.end(), [](std::string_view cell) {
      return parse_number<std::uint64_t>(trim(cell)).has_value();
    });
    if (!sized) return {};  // another message
    if (cells.size() != columns_.size()) {
      return make_error(Errc::invalid_argument,
                        concat("expected ", columns_.size(), " columns as in the header, got ",
                               cells.size(), ": the row is cut"));
    }
    CollectiveRun& run = runs_.back();
    if (run.rows.size() == kMaxRowsOfRun) {
      return make_error(Errc::limit_exceeded,
                        "more than " + std::to_string(kMaxRowsOfRun) + " rows in one run");
    }
    CollectiveRow row;
    row.line = number_;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (Result<void> ok = take_cell(columns_[i], trim(cells[i]), row); !ok) return ok;
    }
    run.rows.push_back(row);
    return {};
  }

  static Result<void> take_cell(Column column, std::string_view word, CollectiveRow& row) {
    if (column == Column::size) {
      const auto bytes = whole_count(word);
      if (!bytes) return Error(bytes.error()).in("data_size");
      row.bytes = *bytes;
      return {};
    }
    if (column == Column::check) {
      if (word == "success") row.wrong = 0;
      if (word == "failed") row.wrong = 1;
      if (word == "success" || word == "failed" || word == "NULL") return {};
      return make_error(Errc::invalid_argument,
                        "expected success, failed or NULL, got " + in_quotes(word))
          .in("check_result");
    }
    const auto number = positive_number(word);
    if (!number) return Error(number.error()).in(column == Column::time ? "time" : "alg_bandwidth");
    (column == Column::time ? row.out_of_place.time_us : row.out_of_place.algbw) = *number;
    return {};
  }

  std::string_view log_;
  std::size_t number_ = 0;
  std::vector<CollectiveRun> runs_;
  CollectiveRun next_;           // what was stated before its table
  std::vector<Column> columns_;  // of the table being read
  std::uint64_t largest_ = 0;    // announced for the next table; 0: not
  std::uint64_t largest_of_run_ = 0;
};

}  // namespace

Result<std::vector<CollectiveRun>> read_hccl_test(std::string_view log) {
  if (log.size() > kMaxCollectiveLogBytes) {
    return make_error(Errc::limit_exceeded, concat("longer than ", kMaxCollectiveLogBytes >> 20U,
                                                   " MiB, the limit for a log"));
  }
  return HcclTestReader(log).read();
}

}  // namespace chipweave::codec
