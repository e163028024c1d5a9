// Table — rows of text with aligned columns, on a terminal not wider than its lines.
//
// One column (by default the first) is shortened in the middle when a row would not fit. Cells are
// plain text without colour; colours are given by row, so that widths stay right.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.hpp"

namespace chipweave::cli {

class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };
  explicit Table(std::vector<Column> columns, std::size_t shrinking = 0)
      : columns_(std::move(columns)), shrinking_(shrinking) {}

  // As many cells as columns; missing ones are empty.
  void add(std::vector<std::string> cells, Colour colour = Colour::none);
  // Text below the previous row, across all columns, on as many lines as needed.
  void add_text(const std::string& text);
  // Header and rows; no line has trailing blanks.
  std::string text(bool colours, std::size_t columns = output_columns()) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    Colour colour = Colour::none;
    std::string beneath{};
  };
  std::vector<std::size_t> widths(std::size_t columns) const;
  std::vector<Column> columns_;
  std::size_t shrinking_;
  std::vector<Row> rows_;
};

// Removes the blanks at the end.
void trim_right(std::string& line);
// "a-very-long-name-0" in 10 columns: "a-ve...me-0". Text that fits is returned as it is.
std::string shortened(const std::string& text, std::size_t width);

}  // namespace chipweave::cli
