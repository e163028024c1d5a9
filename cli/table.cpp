#include "cli/table.hpp"

#include <algorithm>
#include <numeric>

namespace chipweave::cli {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kLeast = 12;

std::string padded(const std::string& text, std::size_t width, Table::Align align) {
  const std::string blanks(width > text.size() ? width - text.size() : 0, ' ');
  return align == Table::Align::right ? blanks + text : text + blanks;
}

}  // namespace

void Table::add(std::vector<std::string> cells, Colour colour) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back({std::move(cells), colour});
}

void Table::add_text(const std::string& text) {
  if (!text.empty()) rows_.back().beneath = wrapped("  " + text, 2) + "\n";
}

std::vector<std::size_t> Table::widths(std::size_t columns) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = columns_[c].title.size();
    for (const Row& row : rows_) width = std::max(width, row.cells[c].size());
    widths.push_back(width);
  }
  const std::size_t total =
      std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
  if (total > columns) {
    std::size_t& flexible = widths[shrinking_];
    const std::size_t excess = total - columns;
    flexible = std::max(std::min(flexible, kLeast), flexible - std::min(flexible, excess));
  }
  return widths;
}

std::string Table::text(bool colours, std::size_t columns) const {
  const std::vector<std::size_t> width = widths(columns);
  std::string header;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (c > 0) header.append(kGap, ' ');
    header += padded(columns_[c].title, width[c], columns_[c].align);
  }
  trim_right(header);
  std::string out = painted(header, Colour::bold, colours) + "\n";
  for (const Row& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c > 0) line.append(kGap, ' ');
      const std::string cell = c == shrinking_ ? shortened(row.cells[c], width[c]) : row.cells[c];
      line += padded(cell, width[c], columns_[c].align);
    }
    trim_right(line);
    out += painted(line, row.colour, colours) + "\n" + row.beneath;
  }
  return out;
}

void trim_right(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

std::string shortened(const std::string& text, std::size_t width) {
  constexpr std::size_t kDots = 3;
  if (text.size() <= width) return text;
  if (width <= kDots) return text.substr(0, width);
  const std::size_t tail = (width - kDots) / 2;
  const std::size_t head = width - kDots - tail;
  return text.substr(0, head) + "..." + text.substr(text.size() - tail);
}

}  // namespace chipweave::cli
