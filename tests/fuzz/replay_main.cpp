// replay_fuzz TARGET FOLDER: runs a fuzz target without a fuzzer: on inputs that once found a bug
// (the files of the folder, which need not exist), on mutations of them, and on inputs that are
// difficult for any parser. The same bytes on every run. A bug shows as a crash, an escaped
// exception, or a sanitizer's report in the presets that have one.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using FuzzTarget = int (*)(const std::uint8_t* data, std::size_t size);
struct NamedTarget {
  std::string_view name;
  FuzzTarget run;
};
#include "targets.inc"  // kFuzzTargets, generated from the names of the files

namespace {
namespace fs = std::filesystem;

FuzzTarget target = nullptr;

std::size_t inputs = 0;

// A heap copy of exactly this size, so that ASan detects reads past its end.
void feed(std::string_view input) {
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  target(bytes.data(), bytes.size());
  ++inputs;
}

std::string repeated(std::string_view part, std::size_t times) {
  std::string text;
  text.reserve(part.size() * times);
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

void feed_small_inputs() {
  feed("");
  for (int c = 0; c < 256; ++c) feed(std::string(1, static_cast<char>(c)));
  for (const char* text : {"{}",
                           "[]",
                           "null",
                           "\"",
                           "{\"\":",
                           "[1,2,,]",
                           "1e999",
                           "-",
                           "<a/>",
                           "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
                           "GET / HTTP/1.1\r\n\r\n",
                           "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                           "a: &a [*a]",
                           "---\n...\n",
                           "\t\t\t",
                           "\xEF\xBB\xBF{}",
                           "\xFF\xFE{\0}\0",
                           "\xC3",
                           "\xED\xA0\x80",
                           "\xF4\x90\x80\x80",
                           "\r\r\n\n",
                           "%n%s%x",
                           "../../x",
                           "9223372036854775808",
                           "18446744073709551616",
                           "-9223372036854775809",
                           "nan",
                           "inf",
                           "0x10"}) {
    feed(text);
  }
}

void feed_long_inputs() {
  constexpr std::size_t kMany = 100000;
  for (const char* part :
       {"[",  "{\"a\":", "(", "<a>", "- ", "a:\n ", "[[],", "\"",  "\\",       " ",   "\n",
        "\t", "a",       "9", ",",   "a,", "\r\n",  "X ",   "&a ", "\xC3\xA9", "\x80"}) {
    feed(repeated(part, kMany));
  }
  feed(repeated("[", kMany) + repeated("]", kMany));
  feed(repeated("<a>", kMany) + repeated("</a>", kMany));
  feed("\"" + std::string(1U << 20U, 'x') + "\"");
  feed(std::string(1U << 20U, '\0'));
}

void feed_random_inputs() {
  std::mt19937_64 random(20260101);
  for (int round = 0; round < 500; ++round) {
    std::string text(random() % 4096, '\0');
    // Half of them are characters with a meaning in the formats, which get further into a parser.
    constexpr std::string_view kSyntax =
        "{}[]<>()\"'\\/:;,.=-+_#&*!?% \t\r\n0123456789aeflnrstuxAGNPUX";
    for (char& c : text) {
      c = round % 2 == 0 ? static_cast<char>(random()) : kSyntax[random() % kSyntax.size()];
    }
    feed(text);
  }
}

void feed_with_mutations(const std::string& input) {
  feed(input);
  std::mt19937_64 random(input.size());
  for (int round = 0; round < 50 && !input.empty(); ++round) {
    feed(std::string_view(input).substr(0, random() % input.size()));
    std::string changed = input;
    changed[random() % changed.size()] = static_cast<char>(random());
    feed(changed);
    changed.insert(random() % changed.size(), input, 0, random() % 64);
    feed(changed);
  }
}

void feed_folder(const fs::path& folder) {
  if (!fs::is_directory(folder)) return;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    feed_with_mutations(std::string(std::istreambuf_iterator<char>(file), {}));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc == 3 ? argv[1] : "";
  for (const NamedTarget& known : kFuzzTargets) {
    if (known.name == name) target = known.run;
  }
  if (target == nullptr) {
    std::fprintf(stderr, "usage: replay_fuzz TARGET FOLDER; known targets:\n");
    for (const NamedTarget& known : kFuzzTargets) {
      std::fprintf(stderr, "  %.*s\n", static_cast<int>(known.name.size()), known.name.data());
    }
    return 2;
  }
  try {
    feed_folder(argv[2]);
    feed_small_inputs();
    feed_long_inputs();
    feed_random_inputs();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "input %zu: an exception escaped: %s\n", inputs + 1, error.what());
    return 1;
  }
  std::printf("%zu inputs\n", inputs);
  return 0;
}
