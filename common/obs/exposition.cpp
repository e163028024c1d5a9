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

void Exposition::begin(std::string_view name, std::string_view help, std::string_view type) {
  name_ = name;
  header_.clear();
  header_.append("# HELP ").append(name).append(" ").append(help).append("\n");
  header_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
  if (empty_ == Empty::shown) out_ += std::exchange(header_, {});
}

void Exposition::begin_sample() {
  out_ += std::exchange(header_, {});
  out_ += name_;
  labelled_ = false;
}

void Exposition::append_label(std::string_view key, std::string_view text) {
  out_ += std::exchange(labelled_, true) ? ',' : '{';
  out_.append(key).append("=\"");
  append_escaped(out_, text);
  out_ += '"';
}

void Exposition::end_sample(double value) {
  if (labelled_) out_ += '}';
  std::array<char, 32> number{};
  const auto end = std::to_chars(number.data(), number.data() + number.size(), value);
  out_ += ' ';
  out_.append(number.data(), end.ptr);
  out_ += '\n';
}

}  // namespace chipweave::obs
