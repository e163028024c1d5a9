// chipweave defrag: which running pods to move so that whole domains become free; one request by
// flags and files, answered with a table, or many by --batch.
//
// The flags are turned into a line of the batch form, so that both forms share keys, checks and
// messages.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/batch.hpp"
#include "cli/commands.hpp"
#include "cli/defrag/defrag_engine.hpp"
#include "cli/defrag/render_defrag.hpp"
#include "cli/input_file.hpp"
#include "cli/options.hpp"
#include "cli/overlays.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/codec/gang/defrag_codec.hpp"
#include "common/codec/gang/gang_file.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/network/plan_network.hpp"

namespace chipweave::cli {
namespace {

struct DefragFlags {
  BatchFlags batch;
  std::string network, pods, gang;
  codec::NetworkImportOptions import;
  std::optional<std::int64_t> free, domains, max_moves;
  std::optional<std::string> level;
  std::vector<std::string> overlays;
  OutputForm form = OutputForm::text;
};

struct DefragmentedLine {
  std::string text;  // as the batch form prints it
  codec::DefragLineRequest request;
  codec::DefragAnswer answer;
};

Result<DefragmentedLine> defrag_line(DefragEngine& engine, codec::DefragLine line, Timing& timing) {
  if (!line.request) return std::move(line.request).error();
  codec::DefragLineRequest& request = *line.request;
  const auto prepared = engine.prepare(request);
  if (!prepared) return prepared.error();
  codec::DefragAnswer answer =
      timing.timed([&] { return DefragEngine::decide(request, *prepared); });
  if (auto planned = engine.plan_gang(request, *prepared, answer); !planned)
    return std::move(planned).error();
  std::string text = codec::write_defrag_answer(line.id, request, answer);
  return DefragmentedLine{std::move(text), std::move(request), std::move(answer)};
}

std::string target_json(const DefragFlags& flags) {
  JsonWriter json;
  json.begin_object();
  if (flags.level) json.field("level", *flags.level);
  if (flags.domains) json.field("domains", *flags.domains);
  if (flags.max_moves) json.field("max_moves", *flags.max_moves);
  return json.end_object().take();
}

// The pods of a file, a list of them, as JSON text on one line.
Result<std::string> pods_json(const std::string& text) {
  const auto document =
      codec::parse_json(text, {limits::kMaxPlanLineBytes, limits::kMaxPlanValues});
  if (!document) return document.error();
  const codec::JsonValue pods(*document);
  if (!pods.is_array()) {
    return make_error(Errc::invalid_argument,
                      "must be the list of running pods: [{\"name\":…, \"node\":…, "
                      "\"chips\":…, \"movable\":true}]");
  }
  JsonWriter json;
  json.reformatted(pods.raw());
  return json.take();
}

// The usage error that shows before any file is read; empty: none.
std::string defrag_usage_error(const DefragFlags& flags) {
  if (flags.network.empty() || flags.pods.empty())
    return "one of --batch FILE, or --network FILE with --pods FILE, is required; see 'chipweave "
           "defrag --help'";
  return standard_input_error(
      {{"--network", flags.network}, {"--pods", flags.pods}, {"--gang", flags.gang}});
}

// An unusable line: its message begins with the key.
Exit complain_of_defrag_line(const Error& error, const DefragFlags& flags) {
  const std::string text = error.text();
  for (const auto& [key, flag] :
       {std::pair("target.level", "--level"), std::pair("target.domains", "--domains"),
        std::pair("target.max_moves", "--max-moves")})
    if (text.starts_with(key)) return complain(std::string(flag) + ": " + text, Exit::usage);
  if (text.starts_with("pods")) return complain_of_input(error, flags.pods);
  const bool of_gang = text.starts_with("gang") || text.find("(gang") != std::string::npos;
  return complain_of_input(error, of_gang && !flags.gang.empty() ? flags.gang : flags.network);
}

Exit run_defrag_flags(const DefragFlags& flags) {
  if (const std::string wrong = defrag_usage_error(flags); !wrong.empty())
    return complain(wrong, Exit::usage);
  const auto content = read_input(flags.network, limits::kMaxPlanLineBytes);
  if (!content) return complain_of_reading(content.error());
  const auto network = codec::plan_network(*content, flags.import, flags.free);
  if (!network) return complain_of_input(network.error(), flags.network);
  const auto listed = read_input(flags.pods, limits::kMaxPlanLineBytes);
  if (!listed) return complain_of_reading(listed.error());
  const auto pods = pods_json(*listed);
  if (!pods) return complain_of_input(pods.error(), flags.pods);
  JsonWriter line;
  line.begin_object().key("network").raw(network->json).key("pods").raw(*pods);
  line.key("target").raw(target_json(flags));
  if (!flags.gang.empty()) {
    const auto text = read_input(flags.gang, limits::kMaxPlanLineBytes);
    if (!text) return complain_of_reading(text.error());
    const auto gang = codec::read_gang_file(*text);
    if (!gang) return complain_of_input(gang.error(), flags.gang);
    line.key("gang").raw("{" + gang->members + "}");
  }
  line.end_object();
  auto overlays = overlays_at(flags.overlays);
  if (!overlays) return complain(overlays.error(), exit_for(overlays.error()));
  for (const std::string& warning : network->warnings) warn(warning);
  Timing timing(flags.batch);
  DefragEngine engine(*std::move(overlays));
  const auto done = defrag_line(engine, codec::parse_defrag_line(line.text()), timing);
  if (!done) return complain_of_defrag_line(done.error(), flags);
  const bool frees = !done->answer.freed.empty();
  std::string page;
  if (flags.form == OutputForm::json) {
    page = done->text + "\n";
  } else if (frees) {
    page = render_defrag(done->request, done->answer);
  } else {
    complain("frees nothing: " + done->answer.reason);
  }
  if (!print(page)) return Exit::unreadable;
  timing.report();
  return frees ? Exit::fine : Exit::findings;
}

// All flags of a single request. `batch` excludes them.
void add_defrag_flags(CLI::App& command, DefragFlags& flags, CLI::Option* batch) {
  const auto option = [&](const char* name, auto& to, const char* says, const char* form) {
    return add_value(command, name, form, to, says)->excludes(batch);
  };
  option("--network", flags.network, "where nodes are: a description in any format; -: stdin",
         "FILE");
  for (CLI::Option* o : add_network_options(command, flags.import)) o->excludes(batch);
  option("--free", flags.free,
         "chips that each node, for which the file gives none, has free beside its pods", "CHIPS")
      ->check(CLI::Range(0, limits::kMaxChipsOfPod));
  option("--pods", flags.pods, "the running pods as a JSON list; -: stdin", "FILE");
  option("--level", flags.level, "free whole domains of this level; default: whole nodes", "LEVEL");
  option("--domains", flags.domains,
         "so many more free ones are enough; default: as many as possible", "N");
  option("--max-moves", flags.max_moves, "move at most so many pods; default: any number", "N");
  option("--gang", flags.gang, "a gang as JSON, planned before and after the moves; -: stdin",
         "FILE");
}

}  // namespace

void register_defrag(CLI::App& app, Exit& exit_code) {
  auto flags = std::make_shared<DefragFlags>();
  CLI::App* c = app.add_subcommand(
      "defrag", "choose pods to move so that nodes or domains become free, or a batch file");
  auto* batch = add_batch_options(*c, flags->batch);
  add_defrag_flags(*c, *flags, batch);
  add_overlay_option(*c, flags->overlays);
  add_output_option(*c, flags->form);
  add_examples(*c,
               "  chipweave defrag --network net.json --pods pods.json --level rack --domains 1\n"
               "  chipweave defrag --network net.json --pods pods.json --max-moves 10 -o json\n"
               "  echo '{\"id\":1,\"network\":{\"levels\":[\"rack\"],\"nodes\":[{\"name\":\"x1\","
               "\"free\":6},{\"name\":\"x2\",\"free\":5}]},\"pods\":[{\"name\":\"a\",\"node\":"
               "\"x1\",\"chips\":2,\"movable\":true}]}' | chipweave defrag --batch -");
  c->callback([=, &exit_code] {
    if (batch->count() == 0) {
      exit_code = run_defrag_flags(*flags);
      return;
    }
    auto overlays = overlays_at(flags->overlays);
    if (!overlays) {
      exit_code = complain(overlays.error(), exit_for(overlays.error()));
      return;
    }
    DefragEngine engine(*std::move(overlays));
    const auto answer = [&engine](const std::string& line, Timing& timing) -> BatchAnswer {
      codec::DefragLine parsed = codec::parse_defrag_line(line);
      std::string id = parsed.id;
      return {std::move(id),
              defrag_line(engine, std::move(parsed), timing)
                  .transform([](const DefragmentedLine& done) { return done.text; })};
    };
    exit_code = run_batch(flags->batch, limits::kMaxPlanLineBytes, answer);
  });
}

}  // namespace chipweave::cli
