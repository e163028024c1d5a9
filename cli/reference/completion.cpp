#include "cli/reference/completion.hpp"

#include <algorithm>
#include <utility>

#include "cli/reference/command_page.hpp"
#include "cli/reference/help_topics.hpp"
#include "common/base/text.hpp"
#include "common/profiles/profiles.hpp"

namespace chipweave::cli {
namespace {

class Completer {
 public:
  Completer(const CLI::App& program, std::string unfinished)
      : program_(program), command_(&program), word_(std::move(unfinished)) {}

  // A finished word of the line.
  void pass(const std::string& word) {
    if (word == "=" || word.empty()) return;  // bash splits "--to=json" into three words
    if (std::exchange(open_, nullptr) != nullptr) return;
    if (only_arguments_ || !word.starts_with('-')) return pass_argument(word);
    if (word == "--") {
      only_arguments_ = true;
      return;
    }
    const CLI::Option* option = command_->get_option_no_throw(word.substr(0, word.find('=')));
    if (option == nullptr) return;
    used_.push_back(option);
    if (option->get_items_expected_max() > 0 && word.find('=') == std::string::npos) open_ = option;
  }

  Completion finish() {
    if (word_ == "=") word_.clear();
    const std::size_t equals = word_.find('=');
    if (open_ != nullptr) {
      add_values(entry_of(*open_), "");
    } else if (word_.starts_with("--") && equals != std::string::npos) {
      finish_attached(equals);
    } else if (word_.starts_with('-') && !only_arguments_) {
      add_flags();
    } else if (is_help()) {
      add_commands(*find_command(program_, arguments_).app);
      if (arguments_.empty()) add("exit-codes", "what the exit codes mean");
    } else {
      add_commands(*command_);
      add_positional();
    }
    return std::move(out_);
  }

 private:
  bool is_help() const { return command_->get_name() == "help" || command_->get_name() == "man"; }

  void pass_argument(const std::string& word) {
    const FoundCommand below = find_command(*command_, {word});
    if (below.unknown.empty() && arguments_.empty())
      command_ = below.app;
    else
      arguments_.push_back(word);
  }

  void add(const std::string& text, const std::string& about) {
    if (text.starts_with(word_)) out_.candidates.push_back({text, about});
  }

  void add_commands(const CLI::App& of) {
    for (const CLI::App* below : of.get_subcommands(nullptr))
      if (!below->get_name().empty()) add(below->get_name(), below->get_description());
  }

  void add_flags() {
    for (const CLI::Option* option : command_->get_options()) {
      const OptionEntry entry = entry_of(*option);
      const bool used = std::find(used_.begin(), used_.end(), option) != used_.end();
      if (entry.positional || (used && !entry.repeatable)) continue;
      for (const std::string& name : entry.names)
        if (name.size() > 2 || entry.names.size() == 1) add(name, entry.help);
    }
  }

  void finish_attached(std::size_t equals) {
    const std::string name = word_.substr(0, equals);
    const CLI::Option* option = command_->get_option_no_throw(name);
    if (option == nullptr) return;
    word_.erase(0, equals + 1);
    add_values(entry_of(*option), name + "=");
  }

  void add_positional() {
    std::size_t skip = arguments_.size();
    for (const CLI::Option* option : command_->get_options()) {
      const OptionEntry entry = entry_of(*option);
      if (!entry.positional) continue;
      if (skip == 0 || entry.repeatable) return add_values(entry, "");
      --skip;
    }
  }

  // before: what stands before the value in the unfinished word.
  void add_values(const OptionEntry& entry, std::string before) {
    const std::size_t comma = entry.list ? word_.rfind(',') : std::string::npos;
    if (comma != std::string::npos) {
      before += word_.substr(0, comma + 1);
      word_.erase(0, comma + 1);
    }
    for (const std::string& value : entry.values) add(value, "");
    if (entry.kind == ValueKind::machine && entry.values.empty())
      for (const profiles::Profile& profile : profiles::all()) add(std::string(profile.name), "");
    if (entry.values.empty()) {
      out_.files = entry.kind == ValueKind::file || entry.kind == ValueKind::machine;
      out_.folders = entry.kind == ValueKind::folder;
    }
    for (Candidate& candidate : out_.candidates) candidate.text.insert(0, before);
  }

  const CLI::App& program_;
  const CLI::App* command_;
  std::string word_;
  const CLI::Option* open_ = nullptr;  // whose value comes next
  std::vector<const CLI::Option*> used_;
  std::vector<std::string> arguments_;
  bool only_arguments_ = false;
  Completion out_;
};

constexpr std::string_view kBash =
    R"sh(# bash completion of chipweave: source <(chipweave completion bash)
_chipweave() {
  local current="${COMP_WORDS[COMP_CWORD]}" line directive=4
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :*) directive=${line#:} ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD-1}" "$current" 2>/dev/null)
  [[ $current == '=' ]] && current=''
  local action=
  ((directive & 16)) && action=-d
  ((directive & 20)) || action=-f
  [[ $action ]] || return 0
  compopt -o filenames 2>/dev/null
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen $action -- "$current")
}
complete -F _chipweave chipweave
)sh";

constexpr std::string_view kZsh = R"sh(#compdef chipweave
# zsh completion of chipweave: chipweave completion zsh > "${fpath[1]}/_chipweave"
_chipweave() {
  local line directive=4
  local -a candidates
  for line in "${(@f)$(${words[1]} __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == :* ]]; then
      directive=${line#:}
    elif [[ -n $line ]]; then
      candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    fi
  done
  (( ${#candidates} )) && _describe 'chipweave' candidates
  if (( directive & 16 )); then
    _files -/
  elif (( ! (directive & 4) )); then
    _files
  fi
}
if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
  _chipweave "$@"
else
  compdef _chipweave chipweave
fi
)sh";

constexpr std::string_view kFish =
    R"sh(# fish completion of chipweave: chipweave completion fish | source
function __chipweave_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l directive 4
  for line in ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    if string match -q ':*' -- $line
      set directive (string sub -s 2 -- $line)
    else
      echo $line
    end
  end
  switch $directive
    case 16
      __fish_complete_directories "$current"
    case 0
      __fish_complete_path "$current"
  end
end
complete -c chipweave -f -a '(__chipweave_complete)'
)sh";

}  // namespace

Completion complete(const CLI::App& program, const std::vector<std::string>& words) {
  Completer completer(program, words.empty() ? "" : words.back());
  for (std::size_t i = 0; i + 1 < words.size(); ++i) completer.pass(words[i]);
  return completer.finish();
}

std::string completion_lines(const Completion& completion) {
  std::string out;
  for (const Candidate& candidate : completion.candidates)
    out += candidate.text + "\t" + candidate.about + "\n";
  return out + (completion.folders ? ":16\n" : completion.files ? ":0\n" : ":4\n");
}

std::vector<std::string_view> completion_shells() { return {"bash", "zsh", "fish"}; }

std::string_view completion_script(std::string_view shell) {
  return shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish;
}

}  // namespace chipweave::cli
