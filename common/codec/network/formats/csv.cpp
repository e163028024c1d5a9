// CSV with a header: name, then levels coarsest first; "rails" (leaves joined by |) and
// "accelerator" or "accelerator:LEVEL" columns are optional.
#include <algorithm>
#include <array>
#include <utility>

#include "common/base/text.hpp"
#include "common/codec/network/formats.hpp"
#include "common/codec/network/table/table_builder.hpp"
#include "common/codec/text/lines.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr std::string_view kAccelerator = "accelerator";
constexpr std::array<std::string_view, 4> kNameColumns{"name", "node", "hostname", "nodename"};
constexpr std::size_t kMaxColumns = 64;

// The separator is the character after the title of the first column.
char separator_of(std::string_view header) {
  const std::size_t at = header.find_first_of(",;\t");
  return at == std::string_view::npos ? '\0' : header[at];
}

// Fields of one line; a quoted field may hold the separator and "" for a quote, but no line end.
Result<std::vector<std::string>> split_fields(std::string_view line, char separator) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      out.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == separator && !quoted) {
      if (out.size() >= kMaxColumns) {
        return make_error(Errc::limit_exceeded,
                          "must have at most " + std::to_string(kMaxColumns) + " columns");
      }
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  if (quoted) return network_error("missing closing quote");
  for (std::string& field : out) field = std::string(trim(field));
  return out;
}

bool is_name_column(std::string_view title) {
  const std::string lower = lower_case(title);
  return std::find(kNameColumns.begin(), kNameColumns.end(), lower) != kNameColumns.end();
}

enum class Column { name, level, rails, accelerator };

struct Header {
  std::vector<Column> columns;
  std::vector<std::string> levels;
  std::vector<std::string> accelerator_levels;
};

Result<Header> read_header(const std::vector<std::string>& titles) {
  Header out;
  for (const std::string& title : titles) {
    const std::string lower = lower_case(title);
    if (out.columns.empty()) {
      if (!is_name_column(title)) {
        return network_error("expected the first column to be \"name\", got " +
                             quoted_excerpt(title));
      }
      out.columns.push_back(Column::name);
    } else if (lower == "rails") {
      out.columns.push_back(Column::rails);
    } else if (lower == kAccelerator || lower.starts_with(std::string(kAccelerator) + ":")) {
      const bool named = lower.size() > kAccelerator.size() + 1;
      out.accelerator_levels.push_back(named ? title.substr(kAccelerator.size() + 1) : lower);
      out.columns.push_back(Column::accelerator);
    } else {
      out.levels.push_back(title);
      out.columns.push_back(Column::level);
    }
  }
  return out;
}

std::vector<std::string> split_rails(std::string_view text) {
  std::vector<std::string> out;
  if (text.empty()) return out;
  for (const std::string_view rail : split(text, '|')) out.emplace_back(trim(rail));
  return out;
}

domain::NetworkNode make_node(const Header& header, std::vector<std::string> fields) {
  domain::NetworkNode node;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    switch (header.columns[i]) {
      case Column::name:
        node.name = std::move(fields[i]);
        break;
      case Column::level:
        node.path.push_back(std::move(fields[i]));
        break;
      case Column::rails:
        node.rails = split_rails(fields[i]);
        break;
      case Column::accelerator:
        node.accelerator.push_back(std::move(fields[i]));
        break;
    }
  }
  return node;
}

bool looks_like_network_csv(std::string_view text) {
  const std::string_view header = first_content_line(text);
  const char separator = separator_of(header);
  if (separator == '\0') return false;
  std::string_view first = trim(header.substr(0, header.find(separator)));
  if (first.size() > 2 && first.front() == '"' && first.back() == '"') {
    first = first.substr(1, first.size() - 2);
  }
  return is_name_column(first);
}

Result<domain::NetworkTable> import_network_csv(std::string_view text, Warnings& /*warnings*/) {
  LineReader lines(text);
  std::vector<std::string> titles;
  char separator = '\0';
  for (std::string_view line; separator == '\0' && lines.next(line);) {
    line = trim(line);
    if (line.empty() || line.front() == '#') continue;
    separator = separator_of(line);
    if (separator == '\0') break;
    Result<std::vector<std::string>> fields = split_fields(line, separator);
    if (!fields) return std::move(fields).error().in(lines.where());
    titles = *std::move(fields);
  }
  if (separator == '\0') return not_this_format(kCsvFormat.name, "header \"name,LEVEL,…\"");
  const Result<Header> header = read_header(titles);
  if (!header) return Error(header.error()).in(lines.where());
  NetworkTableBuilder builder(header->levels, header->accelerator_levels, lines.where());
  for (std::string_view line; builder.ok() && lines.next(line);) {
    const std::string_view shown = trim(line);
    if (shown.empty() || shown.front() == '#') continue;
    Result<std::vector<std::string>> fields = split_fields(line, separator);
    if (!fields) return std::move(fields).error().in(lines.where());
    if (fields->size() != titles.size()) {
      return network_error("expected " + std::to_string(titles.size()) +
                           " columns as in the header, got " + std::to_string(fields->size()))
          .in(lines.where());
    }
    builder.add(make_node(*header, *std::move(fields)), lines.where());
  }
  return std::move(builder).take();
}

}  // namespace

const TextFormat kCsvFormat{"csv", looks_like_network_csv, import_network_csv};

}  // namespace chipweave::codec
