#include "common/obs/exposition.hpp"

#include <array>
#include <charconv>

namespace chipweave::obs {
namespace {

void append_escaped(std::string& out, std::string_view value) {
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
}

}  // namespace

void Exposition::gauges(std::string_view name, std::string_view help) {
  name_ = name;
  out_.append("# HELP ").append(name).append(" ").append(help).append("\n");
  out_.append("# TYPE ").append(name).append(" gauge\n");
}

void Exposition::sample(std::initializer_list<Label> labels, double value) {
  out_ += name_;
  char before = '{';
  for (const auto& [key, text] : labels) {
    out_ += before;
    out_.append(key).append("=\"");
    append_escaped(out_, text);
    out_ += '"';
    before = ',';
  }
  if (labels.size() > 0) out_ += '}';
  std::array<char, 32> number{};
  const auto end = std::to_chars(number.data(), number.data() + number.size(), value);
  out_ += ' ';
  out_.append(number.data(), end.ptr);
  out_ += '\n';
}

}  // namespace chipweave::obs
