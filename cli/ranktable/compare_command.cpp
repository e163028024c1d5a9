// chipweave ranktable diff, hash
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/input_file.hpp"
#include "cli/options.hpp"
#include "cli/ranktable/commands.hpp"
#include "cli/ranktable/table_file.hpp"
#include "cli/terminal.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/text.hpp"
#include "common/codec/ranktable/canonical.hpp"
#include "common/domain/ranktable/diff.hpp"
#include "common/http/sha256.hpp"

namespace chipweave::cli {

using codec::ranktable::LintedText;
using domain::ranktable::Difference;

namespace {

struct DiffFlags {
  TableFile a;
  std::string b;
  OutputForm form = OutputForm::text;
};

std::string diff_json(const std::vector<Difference>& differences) {
  JsonWriter json;
  json.begin_object().key("equal").boolean(differences.empty());
  json.key("differences").begin_array();
  for (const Difference& each : differences) {
    json.begin_object().field("where", each.where);
    if (each.only_in_a || each.only_in_b) {
      json.field("only_in", each.only_in_a ? "a" : "b");
    } else {
      json.field("what", each.what).field("a", each.a).field("b", each.b);
    }
    json.end_object();
  }
  json.end_array().end_object();
  return json.take() + "\n";
}

std::string diff_text(const std::vector<Difference>& differences, const DiffFlags& flags) {
  if (differences.empty()) return "the tables are equal\n";
  std::string out;
  for (const Difference& each : differences) {
    out += printable(each.where) + ": ";
    if (each.only_in_a || each.only_in_b) {
      out += "only in " + printable(each.only_in_a ? flags.a.file : flags.b);
    } else {
      out += printable(each.what + " " + each.a + " -> " + each.b);
    }
    out += '\n';
  }
  return out;
}

// What the model of the table does not say: other members and the order of lists. The checksum
// counts them (HCCL's does), so that two tables are equal if and only if their hashes are.
std::vector<Difference> differences_of(const LintedText& a, const LintedText& b) {
  std::vector<Difference> out = domain::ranktable::diff(a.table, b.table);
  if (a.dialect != b.dialect) {
    remark(concat("the tables have different dialects, ", to_string(*a.dialect), " and ",
                  to_string(*b.dialect),
                  ": compared in what both can express; their hashes differ"));
    return out;
  }
  const auto mismatch = codec::ranktable::first_mismatch(codec::JsonValue(&*a.tree, a.root),
                                                         codec::JsonValue(&*b.tree, b.root));
  if (!mismatch) return {};
  if (!out.empty()) return out;
  constexpr std::size_t kShown = 80;
  const auto shown = [](const std::string& text) {
    return text.empty() ? "(none)" : std::string(shortened(text, kShown));
  };
  out.push_back({mismatch->pointer.empty() ? "the table" : mismatch->pointer,
                 mismatch->order ? "order of the list" : "value", shown(mismatch->a),
                 shown(mismatch->b)});
  return out;
}

Exit run_diff(const DiffFlags& flags) {
  if (const std::string twice = standard_input_error({{"A", flags.a.file}, {"OTHER", flags.b}});
      !twice.empty())
    return complain(twice, Exit::usage);
  Exit exit = Exit::fine;
  const auto a = load_table(flags.a, exit);
  if (!a) return exit;
  TableFile other = flags.a;
  other.file = flags.b;
  const auto b = load_table(other, exit);
  if (!b) return exit;
  const auto differences = differences_of(*a, *b);
  const bool shown = print(flags.form == OutputForm::json ? diff_json(differences)
                                                          : diff_text(differences, flags));
  if (!shown) return Exit::unreadable;
  return differences.empty() ? Exit::fine : Exit::findings;
}

struct HashFlags {
  TableFile first;
  std::vector<std::string> more;
  OutputForm form = OutputForm::text;
};

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return out;
}

// The same line as sha256sum prints; several tables that differ end with exit code 1.
Exit run_hash(const HashFlags& flags) {
  std::vector<std::string> files = {flags.first.file};
  files.insert(files.end(), flags.more.begin(), flags.more.end());
  if (std::count(files.begin(), files.end(), "-") > 1)
    return complain("FILE: standard input (-) can be given only once", Exit::usage);
  std::string first;
  bool differ = false;
  JsonWriter json;
  json.begin_array();
  std::string text;
  for (const std::string& file : files) {
    TableFile table = flags.first;
    table.file = file;
    Exit exit = Exit::fine;
    const auto linted = load_table(table, exit);
    if (!linted) return exit;
    const std::string hash =
        hex(http::sha256(codec::ranktable::canonical(*linted->tree, linted->root)));
    differ = differ || (!first.empty() && hash != first);
    if (first.empty()) first = hash;
    json.begin_object().field("file", file).field("dialect", to_string(*linted->dialect));
    json.field("sha256", hash).end_object();
    text += hash + "  " + printable(file) + "\n";
  }
  json.end_array();
  if (!print(flags.form == OutputForm::json ? json.take() + "\n" : text)) return Exit::unreadable;
  return differ ? Exit::findings : Exit::fine;
}

}  // namespace

void register_table_compare(CLI::App& ranktable, Exit& exit_code) {
  auto diff = std::make_shared<DiffFlags>();
  CLI::App* d = ranktable.add_subcommand("diff", "differences between two tables");
  add_table_options(*d, diff->a, "A");
  d->add_option("OTHER", diff->b, "the other table")->option_text(" ")->required();
  add_output_option(*d, diff->form);
  add_examples(
      *d,
      "  chipweave ranktable diff hccl.json /user/config/jobstart_hccl.json\n"
      "Layout and the order of members do not count. Exit code 1 if they differ, as 'hash' finds; "
      "tables of different dialects are compared in what both can express.");
  d->callback([diff, &exit_code] { exit_code = run_diff(*diff); });

  auto hash = std::make_shared<HashFlags>();
  CLI::App* h = ranktable.add_subcommand("hash", "a checksum of the content of a table");
  add_table_options(*h, hash->first);
  h->add_option("MORE", hash->more, "further tables, which must be equal")->option_text("…");
  add_output_option(*h, hash->form);
  add_examples(
      *h,
      "  chipweave ranktable hash rank0/hccl.json rank8/hccl.json\n"
      "Layout and the order of members do not count, values and the order of lists do, as\n"
      "in the checksum that HCCL compares between ranks. Exit code 1 if they differ.");
  h->callback([hash, &exit_code] { exit_code = run_hash(*hash); });
}

}  // namespace chipweave::cli
