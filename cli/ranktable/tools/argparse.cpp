#include "cli/ranktable/tools/argparse.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "common/base/text.hpp"

namespace chipweave::cli {
namespace {

constexpr std::size_t kMaxShown = 200;  // bytes of a word in a message

const ArgOption& help_option() {
  static const ArgOption option{"--help", Takes::nothing, "", "show this help and exit", {}, false};
  return option;
}

std::string shown(std::string_view word) { return with_dots(word, kMaxShown); }

Error usage_error(std::string message) {
  return make_error(Errc::invalid_argument, std::move(message));
}

Error argument_error(const ArgOption& option, const std::string& what) {
  const std::string name = &option == &help_option() ? "-h/--help" : option.name;
  return usage_error("argument " + name + ": " + what);
}

// -5, -.5, -5.0: `^-\d+$|^-\d*\.\d+$`
bool is_negative_number(std::string_view word) {
  const auto digits = [](std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  word.remove_prefix(1);
  const std::size_t dot = word.find('.');
  if (dot == std::string_view::npos) return !word.empty() && digits(word);
  const std::string_view fraction = word.substr(dot + 1);
  return digits(word.substr(0, dot)) && !fraction.empty() && digits(fraction);
}

struct Token {
  enum class Kind { value, option, unknown_option, separator };
  Kind kind = Kind::value;
  const ArgOption* option = nullptr;
  std::optional<std::string> attached;  // behind '='
};

class Parser {
 public:
  Parser(const ArgSpec& spec, const std::vector<std::string>& words) : spec_(spec), words_(words) {}

  Result<ArgWords> parse() {
    for (const std::string& word : words_) {
      if (Result<void> done = classify(word); !done) return std::move(done).error();
    }
    std::size_t at = 0;
    while (at < words_.size() && !out_.help) {
      Result<std::size_t> next = consume(at);
      if (!next) return std::move(next).error();
      at = *next;
    }
    if (!out_.help && !unrecognized_.empty()) {
      std::string list;
      for (const std::string& word : unrecognized_) list += (list.empty() ? "" : " ") + word;
      return usage_error("unrecognized arguments: " + shown(list));
    }
    if (!out_.help && !spec_.files.empty() && out_.files.empty()) {
      return usage_error("the following arguments are required: " + spec_.files);
    }
    return std::move(out_);
  }

 private:
  Result<void> classify(const std::string& word) {
    using Kind = Token::Kind;
    if (separator_seen_) {
      tokens_.push_back({});
    } else if (word == "--") {
      separator_seen_ = true;
      tokens_.push_back({Kind::separator, nullptr, std::nullopt});
    } else {
      Result<Token> token = token_of(word);
      if (!token) return std::move(token).error();
      tokens_.push_back(*std::move(token));
    }
    return {};
  }

  Result<Token> token_of(const std::string& word) const {
    using Kind = Token::Kind;
    if (word.size() < 2 || word[0] != '-') return Token{};
    if (const ArgOption* exact = find(word)) return Token{Kind::option, exact, std::nullopt};
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    std::optional<std::string> attached;
    if (equals != std::string::npos) attached = word.substr(equals + 1);
    if (const ArgOption* exact = attached ? find(name) : nullptr) {
      return Token{Kind::option, exact, attached};
    }
    const std::vector<const ArgOption*> fits = beginning_with(name);
    if (fits.size() > 1) {
      std::string names;
      for (const ArgOption* each : fits) names += (names.empty() ? "" : ", ") + each->name;
      return usage_error("ambiguous option: " + shown(word) + " could match " + names);
    }
    if (fits.size() == 1) return Token{Kind::option, fits.front(), attached};
    if (word.starts_with("-h")) return Token{Kind::option, &help_option(), word.substr(2)};
    if (is_negative_number(word) || word.find(' ') != std::string::npos) return Token{};
    return Token{Kind::unknown_option, nullptr, std::nullopt};
  }

  const ArgOption* find(std::string_view name) const {
    if (name == "-h" || name == "--help") return &help_option();
    for (const ArgOption& option : spec_.options) {
      if (option.name == name) return &option;
    }
    return nullptr;
  }

  std::vector<const ArgOption*> beginning_with(std::string_view name) const {
    std::vector<const ArgOption*> out;
    if (!name.starts_with("--")) return out;
    if (help_option().name.starts_with(name)) out.push_back(&help_option());
    for (const ArgOption& option : spec_.options) {
      if (!option.full_name_only && option.name.starts_with(name)) out.push_back(&option);
    }
    return out;
  }

  // Takes the word at `at`, and what belongs to it; the place behind.
  Result<std::size_t> consume(std::size_t at) {
    const Token& token = tokens_[at];
    if (token.kind == Token::Kind::option) return consume_option(*token.option, token.attached, at);
    const bool file = token.kind == Token::Kind::value && !spec_.files.empty();
    const bool passed_over = token.kind == Token::Kind::separator && !spec_.files.empty();
    if (file) {
      out_.files.push_back(words_[at]);
    } else if (!passed_over) {
      unrecognized_.push_back(words_[at]);
    }
    return at + 1;
  }

  Result<std::size_t> consume_option(const ArgOption& option,
                                     const std::optional<std::string>& attached, std::size_t at) {
    std::vector<std::string> values;
    std::size_t next = at + 1;
    if (attached) {
      if (option.takes == Takes::nothing) {
        return argument_error(option, "ignored explicit argument '" + shown(*attached) + "'");
      }
      values.push_back(*attached);
    } else {
      const std::size_t most = most_of(option.takes);
      while (next < tokens_.size() && values.size() < most &&
             tokens_[next].kind == Token::Kind::value) {
        values.push_back(words_[next++]);
      }
    }
    if (const std::string wrong = fault_of(option, values); !wrong.empty()) {
      return argument_error(option, wrong);
    }
    if (&option == &help_option()) out_.help = true;
    out_.given[option.name] = std::move(values);
    return next;
  }

  static std::size_t most_of(Takes takes) {
    if (takes == Takes::nothing) return 0;
    if (takes == Takes::one) return 1;
    return takes == Takes::two ? 2 : std::string::npos;
  }

  static std::string fault_of(const ArgOption& option, const std::vector<std::string>& values) {
    if (option.takes == Takes::one && values.empty()) return "expected one argument";
    if (option.takes == Takes::two && values.size() != 2) return "expected 2 arguments";
    if (option.takes == Takes::at_least_one && values.empty()) {
      return "expected at least one argument";
    }
    if (option.choices.empty()) return "";
    for (const std::string& value : values) {
      const auto& known = option.choices;
      if (std::find(known.begin(), known.end(), value) != known.end()) continue;
      std::string names;
      for (const std::string& each : known) names += (names.empty() ? "'" : ", '") + each + "'";
      return "invalid choice: '" + shown(value) + "' (choose from " + names + ")";
    }
    return "";
  }

  const ArgSpec& spec_;
  const std::vector<std::string>& words_;
  std::vector<Token> tokens_;  // of each word
  bool separator_seen_ = false;
  ArgWords out_;
  std::vector<std::string> unrecognized_;
};

// "--mode {gen,merge}", "--device-port-range PORT PORT", "--list [FILE ...]"
std::string form_of(const ArgOption& option) {
  std::string value = option.value;
  if (!option.choices.empty()) {
    value = "{";
    for (const std::string& each : option.choices) value += (value == "{" ? "" : ",") + each;
    value += '}';
  }
  switch (option.takes) {
    case Takes::nothing:
      return option.name;
    case Takes::one:
      return option.name + " " + value;
    case Takes::two:
      return option.name + " " + value + " " + value;
    case Takes::any_number:
      return option.name + " [" + value + " ...]";
    case Takes::at_least_one:
      return option.name + " " + value + " [" + value + " ...]";
  }
  return option.name;
}

// Words behind each other in lines of at most 90 bytes, all but the first indented.
std::string in_lines(const std::string& head, const std::vector<std::string>& items) {
  constexpr std::size_t kMax = 90;
  std::string out = head;
  std::size_t column = head.size();
  const std::string indent(7, ' ');
  for (const std::string& item : items) {
    if (column + 1 + item.size() > kMax) {
      out += "\n" + indent;
      column = indent.size();
    }
    out += " " + item;
    column += item.size() + 1;
  }
  return out + "\n";
}

}  // namespace

std::string ArgWords::one(const std::string& option, const std::string& fallback) const {
  const auto found = given.find(option);
  return found == given.end() || found->second.empty() ? fallback : found->second.back();
}

std::vector<std::string> ArgWords::list(const std::string& option) const {
  const auto found = given.find(option);
  return found == given.end() ? std::vector<std::string>{} : found->second;
}

Result<ArgWords> parse_words(const ArgSpec& spec, const std::vector<std::string>& words) {
  return Parser(spec, words).parse();
}

std::string usage_text(const ArgSpec& spec) {
  std::vector<std::string> items = {"[-h]"};
  for (const ArgOption& option : spec.options) items.push_back("[" + form_of(option) + "]");
  if (!spec.files.empty()) items.push_back(spec.files + " [" + spec.files + " ...]");
  return in_lines("usage: " + spec.program, items);
}

std::string help_text(const ArgSpec& spec) {
  std::string out = usage_text(spec) + "\n" + spec.about + "\n\noptions:\n";
  out += "  -h, --help\n        " + help_option().help + "\n";
  for (const ArgOption& option : spec.options) {
    out += "  " + form_of(option) + "\n        " + option.help + "\n";
  }
  return out + "\nexamples:\n" + spec.examples;
}

}  // namespace chipweave::cli
