#include "common/codec/ranktable/schema/table_writer.hpp"

#include "common/base/json_writer.hpp"

namespace chipweave::codec::ranktable {

void TableWriter::line() {
  if (layout_.indent == 0) return;
  out_ += '\n';
  out_.append(static_cast<std::size_t>(depth_) * layout_.indent, ' ');
}

void TableWriter::element() {
  if (!first_) out_ += ',';
  first_ = false;
  line();
}

void TableWriter::key(std::string_view name) {
  element();
  append_json_string(out_, name);
  out_ += layout_.indent == 0 ? ":" : ": ";
}

void TableWriter::string(std::string_view text) { append_json_string(out_, text); }
void TableWriter::number(std::int64_t number) { out_ += std::to_string(number); }

void TableWriter::open(char bracket) {
  out_ += bracket;
  ++depth_;
  first_ = true;
}

void TableWriter::close(char bracket) {
  --depth_;
  if (!first_) line();
  out_ += bracket;
  first_ = false;
}

void TableWriter::write_raw(std::string_view name, std::string_view json) {
  key(name);
  const bool first = first_;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') {
      std::size_t end = i + 1;
      while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
      out_ += json.substr(i, end - i + 1);
      i = end;
    } else if (c == '{' || c == '[') {
      open(c);
      if (i + 1 < json.size() && json[i + 1] != '}' && json[i + 1] != ']') element();
    } else if (c == '}' || c == ']') {
      close(c);
    } else if (c == ',') {
      element();
    } else if (c == ':') {
      out_ += layout_.indent == 0 ? ":" : ": ";
    } else {
      out_ += c;
    }
  }
  first_ = first;
}

}  // namespace chipweave::codec::ranktable
