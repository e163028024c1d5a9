// Log — structured lines (logfmt) on stderr; one line per decision at info level, no secrets.
//
// The only header of logging; spdlog stays behind it. Any thread.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace chipweave::obs {

enum class Level { debug, info, warn, error };

// A key and its value as text; quoted in the output if necessary.
struct Field {
  std::string_view key;
  std::string value;
  Field(std::string_view k, std::string v) : key(k), value(std::move(v)) {}
  Field(std::string_view k, std::string_view v) : key(k), value(v) {}
  Field(std::string_view k, const char* v) : key(k), value(v) {}
  Field(std::string_view k, long long v) : key(k), value(std::to_string(v)) {}
  Field(std::string_view k, int v) : key(k), value(std::to_string(v)) {}
  Field(std::string_view k, unsigned long v) : key(k), value(std::to_string(v)) {}
  Field(std::string_view k, double v);
};

// "debug", "info", "warn", "error"; false (and no change) for anything else.
bool set_level(std::string_view level);
// e.g. log(Level::info, "bound", {{"pod", "ns/p"}, {"node", "n1"}})
// → ts=2026-01-02T03:04:05.123Z level=info msg=bound pod=ns/p node=n1
void log(Level level, std::string_view message, std::initializer_list<Field> fields = {});

}  // namespace chipweave::obs
