// The output of nccl-tests and rccl-tests. Their versions differ in the columns of the table
// ("error" became "#wrong", "root" was added), in the lines of devices ("Group", the form of the
// PCI address) and in what stands around them; the header of each table says which columns it has.
#include <algorithm>
#include <array>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/codec/calibration/collective_log.hpp"
#include "common/codec/calibration/log_words.hpp"

namespace chipweave::codec {
namespace {

using domain::CollectiveRank;
using domain::CollectiveRow;
using domain::CollectiveRun;
using domain::CollectiveTiming;

// Algorithms by their numbers in NCCL_DEBUG_SUBSYS=TUNING of older versions.
constexpr std::array<std::string_view, 7> kAlgorithms = {
    "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"};
constexpr std::uint64_t kLargeCall = 128U << 20U;  // bytes; smaller calls may use other algorithms
constexpr std::size_t kMaxAlgorithms = 16;
constexpr std::size_t kMaxWord = 256;

std::string_view known_column(std::string_view word) {
  for (const std::string_view name : {"size", "count", "type", "redop", "root", "time", "algbw",
                                      "busbw", "#wrong", "error", "cputime"}) {
    if (word == name) return name;
  }
  return {};
}

class NcclTestsReader {
 public:
  explicit NcclTestsReader(std::string_view log) : log_(log) {}

  Result<std::vector<CollectiveRun>> read() {
    if (Result<void> ok =
            each_log_line(log_, number_, [this](std::string_view line) { return take(line); });
        !ok)
      return std::move(ok).error();
    if (runs_.empty()) {
      return make_error(Errc::invalid_argument,
                        "no run of nccl-tests or rccl-tests found: expected lines \"# nThread …\" "
                        "and a table \"# size count type … time algbw busbw\"");
    }
    return std::move(runs_);
  }

 private:
  static Error wrong(std::string message) {
    return make_error(Errc::invalid_argument, std::move(message));
  }

  Result<void> take(std::string_view line) {
    if (line.empty()) return {};
    if (const auto date = date_of(line); date && date_.empty()) date_ = *date;
    if (line.find("_perf") != std::string_view::npos &&
        line.find("concluded") == std::string_view::npos) {
      note_program(line);
    }
    if (line.find("ersion") != std::string_view::npos) note_version(line);
    note_algorithm(line);
    if (line.starts_with("# nThread")) return begin();
    if (runs_.empty()) return {};
    if (line.starts_with('#')) return take_comment(trim(line.substr(1)));
    if (!columns_.empty() && is_digit(line[0])) return take_row(line);
    return {};
  }

  CollectiveRun& run() { return runs_.back(); }

  // Processes that did not join one communicator print this line once each, before any row.
  Result<void> begin() {
    if (!runs_.empty() && run().rows.empty() && !run().complete) return {};
    if (runs_.size() == kMaxRunsOfLog) {
      return make_error(Errc::limit_exceeded,
                        "more than " + std::to_string(kMaxRunsOfLog) + " runs in one log");
    }
    runs_.emplace_back();
    run().line = number_;
    run().collective = std::exchange(program_, {});
    run().algorithms = environment_;
    run().in_switch_off = in_switch_off_;
    run().tool = tool_;
    run().library = library_;
    run().date = std::exchange(date_, {});
    columns_.clear();
    return {};
  }

  // Command lines and "# Collective test starting: all_reduce_perf" come before the run, or within
  // it before its rows.
  void note_program(std::string_view line) {
    for (const std::string_view word : split_words(line)) {
      const std::string name = collective_of_program(word, "_perf");
      if (name.empty()) continue;
      if (!runs_.empty() && !run().complete && run().rows.empty()) {
        run().collective = name;
      } else {
        program_ = name;
      }
    }
  }

  void note_version(std::string_view line) {
    const auto after = [line](std::string_view key) {
      const std::size_t at = line.find(key);
      if (at == std::string_view::npos) return std::string();
      std::string_view rest = trim(line.substr(at + key.size()));
      if (rest.starts_with(':')) rest = trim(rest.substr(1));
      return printable(shortened(rest.substr(0, rest.find(' ')), 64));
    };
    for (const std::string_view key : {"nccl-tests version", "rccl-tests: Version"}) {
      if (const std::string version = after(key); !version.empty()) {
        tool_ = std::string(key.substr(0, 10)) + " " + version;
        if (!runs_.empty() && run().rows.empty()) run().tool = tool_;
      }
    }
    for (const std::string_view key : {"NCCL version", "RCCL version"}) {
      if (const std::string version = after(key); !version.empty()) {
        library_ = std::string(key.substr(0, 4)) + " " + version;
        if (!runs_.empty() && !run().complete) run().library = library_;
      }
    }
  }

  // NCCL_ALGO and NCCL_NVLS_ENABLE as NCCL_DEBUG=INFO or a command line shows them, and the choice
  // that NCCL_DEBUG_SUBSYS=TUNING prints for each call.
  void note_algorithm(std::string_view line) {
    if (const auto value = setting_of(line, "NCCL_ALGO"); !value.empty()) state_environment(value);
    if (const auto value = setting_of(line, "NCCL_NVLS_ENABLE"); value == "0") {
      in_switch_off_ = true;
      if (!runs_.empty() && !run().complete) run().in_switch_off = true;
    }
    const std::size_t call = line.find(" Bytes -> Algo ");
    if (call == std::string_view::npos || runs_.empty() || run().complete) return;
    const std::string_view before = line.substr(0, call);
    const auto bytes = parse_number<std::uint64_t>(before.substr(before.find_last_of(' ') + 1));
    const std::vector<std::string_view> after = split_words(line.substr(call + 15));
    if (!bytes || *bytes < kLargeCall || after.empty()) return;
    const auto number = parse_number<std::size_t>(after[0]);
    add_algorithm(run().algorithms, number && *number < kAlgorithms.size()
                                        ? std::string(kAlgorithms[*number])
                                        : lower_case(after[0]));
  }

  static std::string_view setting_of(std::string_view line, std::string_view name) {
    const std::size_t at = line.find(name);
    if (at == std::string_view::npos) return {};
    std::string_view rest = line.substr(at + name.size());
    constexpr std::string_view kSet = " set by environment to ";
    if (rest.starts_with(kSet)) {
      rest.remove_prefix(kSet.size());
    } else if (rest.starts_with('=')) {
      rest.remove_prefix(1);
    } else {
      return {};
    }
    rest = trim(rest.substr(0, rest.find_first_of(" \t")));
    while (!rest.empty() && (rest.back() == '.' || rest.back() == '"' || rest.back() == '\''))
      rest.remove_suffix(1);
    while (!rest.empty() && (rest.front() == '"' || rest.front() == '\'')) rest.remove_prefix(1);
    return rest;
  }

  // "Ring", "ring,tree", "allreduce:ring;allgather:tree": each is one algorithm that may be used.
  void state_environment(std::string_view value) {
    environment_.clear();
    std::string list = lower_case(value);
    std::replace(list.begin(), list.end(), ';', ',');
    for (std::string_view each : split(list, ',')) {
      each = each.substr(each.find_last_of(':') + 1);
      if (!each.empty()) add_algorithm(environment_, std::string(each));
    }
    if (!runs_.empty() && !run().complete) run().algorithms = environment_;
  }

  static void add_algorithm(std::vector<std::string>& list, const std::string& name) {
    const std::string shown = printable(shortened(name, 32));
    if (list.size() < kMaxAlgorithms && std::find(list.begin(), list.end(), shown) == list.end())
      list.push_back(shown);
  }

  Result<void> take_comment(std::string_view text) {
    if (text.starts_with("Rank ")) return take_device(text);
    const std::vector<std::string_view> words = split_words(text);
    if (words.size() >= 3 && words[0] == "size" && words[1] == "count") return take_header(words);
    if (const auto value = value_of(text, "Out of bounds values")) {
      const auto number = whole_count(value->substr(0, value->find(' ')));
      if (!number) return Error(number.error()).in("Out of bounds values");
      run().out_of_bounds = *number;
    } else if (const auto average = value_of(text, "Avg bus bandwidth")) {
      const auto number = positive_number(average->substr(0, average->find(' ')));
      if (!number) return Error(number.error()).in("Avg bus bandwidth");
      run().average_busbw = *number;
      run().complete = true;
      columns_.clear();
    }
    return {};
  }

  // "Rank  0 Group  0 Pid  37300 on   g100n126 device  0 [0000:05:00] AMD Instinct MI300X"
  Result<void> take_device(std::string_view text) {
    if (run().devices.size() == kMaxRanksOfRun) {
      return make_error(Errc::limit_exceeded,
                        "more than " + std::to_string(kMaxRanksOfRun) + " ranks in one run");
    }
    const Error other = wrong(
        "expected \"Rank N … on HOST device N [PCI] NAME\" with a number after Rank and device");
    const std::size_t open = text.find('[');
    const std::size_t close = text.find(']', open == std::string_view::npos ? 0 : open);
    if (open == std::string_view::npos || close == std::string_view::npos) return other;
    const std::vector<std::string_view> words = split_words(text.substr(0, open));
    CollectiveRank rank;
    std::optional<int> number;
    std::optional<int> device;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i] == "Rank") number = parse_number<int>(words[i + 1]);
      if (words[i] == "on") rank.host = printable(shortened(words[i + 1], kMaxWord));
      if (words[i] == "device") device = parse_number<int>(words[i + 1]);
    }
    if (!number || *number < 0 || !device || *device < 0 || rank.host.empty()) return other;
    rank.rank = *number;
    rank.device = *device;
    rank.pci = pci_of(text.substr(open + 1, close - open - 1));
    rank.name = printable(shortened(trim(text.substr(close + 1)), kMaxWord));
    run().devices.push_back(std::move(rank));
    run().ranks = static_cast<int>(run().devices.size());
    return {};
  }

  // "0x07", "0000:07:00", "0000:07:00.0"
  static std::string pci_of(std::string_view text) {
    std::string pci = lower_case(shortened(trim(text), 32));
    if (pci.starts_with("0x")) return pci.substr(2);
    return pci.substr(0, pci.find('.'));
  }

  Result<void> take_header(const std::vector<std::string_view>& words) {
    columns_.clear();
    for (const std::string_view word : words) {
      const std::string_view name = known_column(word);
      if (name.empty())
        return wrong("unknown column " + in_quotes(word) + " in the table's header");
      columns_.push_back(name);
    }
    header_line_ = number_;
    const auto count = [this](std::string_view name) {
      return std::count(columns_.begin(), columns_.end(), name);
    };
    const auto times = count("time");
    if (times < 1 || times > 2 || count("algbw") != times || count("busbw") != times ||
        columns_.size() > 32) {
      columns_.clear();
      return wrong("the table's header has no columns time, algbw and busbw, or more than two");
    }
    return {};
  }

  Result<void> take_row(std::string_view line) {
    const std::vector<std::string_view> words = split_words(line);
    if (!parse_number<std::uint64_t>(words[0])) return {};  // a library's message, not a row
    if (words.size() != columns_.size()) {
      return wrong(concat("expected ", columns_.size(), " columns as in the header of line ",
                          header_line_, ", got ", words.size(), ": the row is cut"));
    }
    if (run().rows.size() == kMaxRowsOfRun) {
      return make_error(Errc::limit_exceeded,
                        "more than " + std::to_string(kMaxRowsOfRun) + " rows in one run");
    }
    CollectiveRow row;
    row.line = number_;
    CollectiveTiming timings[2];
    bool absent[2] = {false, true};
    int side = -1;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (columns_[i] == "time") absent[++side] = words[i] == "N/A";
      if (Result<void> ok = take_cell(columns_[i], words[i], row, timings[std::max(side, 0)]); !ok)
        return std::move(ok).error().in(std::string(columns_[i]));
    }
    if (absent[0]) return wrong("the row has no out-of-place measurement");
    row.out_of_place = timings[0];
    if (!absent[1]) row.in_place = timings[1];
    run().rows.push_back(row);
    return {};
  }

  Result<void> take_cell(std::string_view column, std::string_view word, CollectiveRow& row,
                         CollectiveTiming& timing) {
    if (word == "N/A" && column != "size") return {};
    if (column == "redop") {
      run().reduces = word != "none";
    } else if (column == "root") {
      run().rooted = word != "-1";
    } else if (column == "#wrong") {
      const auto number = whole_count(word);
      if (!number) return Error(number.error());
      // added without overflow: a hostile log may state any two numbers
      const std::uint64_t before = row.wrong.value_or(0);
      row.wrong = before > UINT64_MAX - *number ? UINT64_MAX : before + *number;
    } else if (column == "size") {
      const auto number = whole_count(word);
      if (!number) return Error(number.error());
      row.bytes = *number;
    } else if (column == "time" || column == "algbw" || column == "busbw") {
      const auto number = positive_number(word);
      if (!number) return Error(number.error());
      if (column == "time") timing.time_us = *number;
      if (column == "algbw") timing.algbw = *number;
      if (column == "busbw") timing.busbw = *number;
    }
    return {};
  }

  std::string_view log_;
  std::size_t number_ = 0;
  std::vector<CollectiveRun> runs_;
  std::vector<std::string_view> columns_;  // of the table being read; empty outside of tables
  std::size_t header_line_ = 0;
  // Stated before a run begins.
  std::string program_, tool_, library_, date_;
  std::vector<std::string> environment_;
  bool in_switch_off_ = false;
};

}  // namespace

Result<std::vector<CollectiveRun>> read_nccl_tests(std::string_view log) {
  if (log.size() > kMaxCollectiveLogBytes) {
    return make_error(Errc::limit_exceeded, concat("longer than ", kMaxCollectiveLogBytes >> 20U,
                                                   " MiB, the limit for a log"));
  }
  return NcclTestsReader(log).read();
}

}  // namespace chipweave::codec
