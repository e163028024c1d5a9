// chipweave place: which chips of one machine a request would get; one request by flags or many by
// --batch.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "cli/batch.hpp"
#include "cli/chip_flags.hpp"
#include "cli/commands.hpp"
#include "cli/input_file.hpp"
#include "cli/machine_source.hpp"
#include "cli/options.hpp"
#include "cli/overlays.hpp"
#include "cli/place/chip_use.hpp"
#include "cli/place/render_chip_use.hpp"
#include "cli/place_engine.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/io/files.hpp"

namespace chipweave::cli {
namespace {

struct Flags {
  BatchFlags batch;
  MachineSource machine;
  std::vector<std::string> free, unhealthy, network_unhealthy, required, beside, loaded, chips;
  bool has_free = false;  // given, if only as an empty text
  bool has_chips = false;
  std::vector<std::string> down, overlays;
  int size = 0;
  bool distributed = false;
  std::string objective = "bandwidth";
  OutputForm form = OutputForm::text;
  std::string to;  // "env", "docker", "json"; empty: the form above
};

// Two inputs that are standard input; empty: there are none.
std::string place_usage_error(const Flags& flags) {
  const bool overlay =
      std::find(flags.overlays.begin(), flags.overlays.end(), "-") != flags.overlays.end();
  return standard_input_error({{"--batch", flags.batch.file},
                               {"--machine", flags.machine.source},
                               {"--overlay", overlay ? "-" : ""}});
}

Exit answer_batch(const Flags& flags) {
  if (const std::string twice = place_usage_error(flags); !twice.empty())
    return complain(twice, Exit::usage);
  auto overlays = overlays_at(flags.overlays);
  if (!overlays) return complain(overlays.error(), exit_for(overlays.error()));
  PlaceEngine engine(*std::move(overlays));
  const auto answer = [&](const std::string& line, Timing& timing) -> BatchAnswer {
    const codec::PlaceLine parsed = codec::parse_place_line(line);
    if (!parsed.request) return {parsed.id, parsed.request.error()};
    const auto prepared = engine.prepare(*parsed.request);
    if (!prepared) return {parsed.id, prepared.error()};
    const auto decided = timing.timed([&] { return PlaceEngine::decide(*prepared); });
    return {parsed.id,
            codec::write_place_answer(parsed.id, PlaceEngine::answer(*prepared, decided))};
  };
  return run_batch(flags.batch, limits::kMaxBatchLineBytes, answer);
}

// A given list must not be empty: an unset variable in a script must not mean "all" or "none".
Result<std::vector<int>> some_chips(const std::string& flag, const std::vector<std::string>& pieces,
                                    const char* hint) {
  auto chips = parse_chips(flag, pieces);
  if (chips && chips->empty()) {
    return make_error(Errc::invalid_argument,
                      std::string("expected at least one chip, got none; ") + hint)
        .in(flag);
  }
  return chips;
}

Result<codec::PlaceRequest> request_of(const Flags& flags) {
  codec::PlaceRequest r;
  r.machine = flags.machine.source;
  if (flags.has_free) {
    auto free = some_chips("--free", flags.free, "leave it out for all chips");
    if (!free) return std::move(free).error();
    r.free = *std::move(free);
  }
  if (flags.has_chips) {
    auto chips = some_chips("--chips", flags.chips, "name the set to evaluate");
    if (!chips) return std::move(chips).error();
    r.chips = *std::move(chips);
  } else {
    r.size = flags.size;
  }
  const struct {
    const char* flag;
    const std::vector<std::string>& given;
    std::vector<int>& to;
  } lists[] = {{"--unhealthy", flags.unhealthy, r.unhealthy},
               {"--network-unhealthy", flags.network_unhealthy, r.network_unhealthy},
               {"--required", flags.required, r.required},
               {"--beside", flags.beside, r.beside},
               {"--loaded", flags.loaded, r.loaded}};
  for (const auto& list : lists) {
    auto chips = parse_chips(list.flag, list.given);
    if (!chips) return std::move(chips).error();
    list.to = *std::move(chips);
  }
  r.distributed = flags.distributed;
  r.objective = *domain::parse_objective(flags.objective);
  for (const std::string& d : flags.down) {
    auto link = parse_down_link(d);
    if (!link) return std::move(link).error();
    r.down_links.push_back(*link);
  }
  return r;
}

// A set to evaluate fits only if it is free where --free is given. Requests of a batch evaluate
// `chips` whatever `free` says.
void require_free(const codec::PlaceRequest& request, codec::PlaceAnswer& answer) {
  if (!answer.fits || !request.chips || !request.free) return;
  std::vector<int> taken;
  for (const int chip : *request.chips) {
    if (std::find(request.free->begin(), request.free->end(), chip) == request.free->end()) {
      taken.push_back(chip);
    }
  }
  if (taken.empty()) return;
  std::sort(taken.begin(), taken.end());
  answer.fits = false;
  answer.bound.reset();
  answer.reason = (taken.size() == 1 ? "chip " : "chips ") + comma_list(taken) + " not in --free";
}

std::string text_of(const PlaceEngine::Prepared& prepared, const codec::PlaceAnswer& a) {
  if (!a.fits) {
    std::string out = wrapped("does not fit: " + a.reason, 2) + "\n";
    if (!a.chips.empty()) {
      out += "predicted for chips " + chip_list(a.chips) + ": " + gbps_text(a.gbps) + " GB/s\n";
    }
    return out;
  }
  Table table({{"CHIPS"}, {"GB/s", Table::Align::right}, {"BEST HERE", Table::Align::right}});
  table.add({chip_list(a.chips), gbps_text(a.gbps), gbps_text(a.best_gbps)});
  std::string out = table.text(colour_wanted());
  if (a.bound) out += "not proven best: no set can beat " + gbps_text(*a.bound) + " GB/s\n";
  if (!prepared.evaluate.empty()) return out;
  const solver::Explanation why = prepared.machine->explain(prepared.request);
  for (const std::string& c : why.criteria) out += wrapped("  " + c, 4) + "\n";
  if (why.best_rejected) {
    const std::string rejected =
        chip_list(prepared.machine->topology().indices(why.best_rejected->chips));
    out += wrapped("next best: chips " + rejected + ": " + why.best_rejected->lost_by, 2) + "\n";
  }
  return out;
}

// "chips: unknown chip 9", as the key of a request, with the flag instead of the key.
std::string with_flag(const std::string& message) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kFlags = {
      {{"free", "--free"},
       {"unhealthy", "--unhealthy"},
       {"network_unhealthy", "--network-unhealthy"},
       {"down_links", "--down"},
       {"required", "--required"},
       {"beside", "--beside"},
       {"loaded", "--loaded"},
       {"chips", "--chips"},
       {"size", "--size"}}};
  const std::string_view key = std::string_view(message).substr(0, message.find_first_of(":[ "));
  const auto* const at = std::find_if(kFlags.begin(), kFlags.end(),
                                      [&](const auto& flag) { return flag.first == key; });
  const std::size_t colon = message.find(": ");
  return at == kFlags.end() || colon == std::string::npos
             ? message
             : std::string(at->second) + message.substr(colon);
}

// Criteria and runner-up of the choice, as in the text, as members of the JSON answer.
std::string explanation_members(const PlaceEngine::Prepared& prepared) {
  const solver::Explanation why = prepared.machine->explain(prepared.request);
  JsonWriter json;
  json.begin_object().key("criteria").strings(why.criteria);
  if (why.best_rejected) {
    json.key("runner_up").begin_object();
    json.key("chips").integers(prepared.machine->topology().indices(why.best_rejected->chips));
    json.key("gbps").decimal(why.best_rejected->gbps);
    json.field("lost_by", why.best_rejected->lost_by).end_object();
  }
  const std::string object = json.end_object().take();
  return object.substr(1, object.size() - 2);
}

ChipUse use_of(const Flags& flags, const PlaceEngine::Prepared& prepared,
               const PlaceEngine::Decided& decided) {
  const DescribedHost host{prepared.host, prepared.numa_stated,
                           io::is_profile(flags.machine.source)};
  return chip_use(prepared.machine->topology(), decided.choice.chips, prepared.request.already_held,
                  host);
}

std::string json_of(const Flags& flags, const PlaceEngine::Prepared& prepared,
                    const PlaceEngine::Decided& decided, const codec::PlaceAnswer& answer) {
  std::string more;
  if (answer.fits) {
    if (prepared.evaluate.empty()) more = explanation_members(prepared) + ",";
    more += chip_use_members(use_of(flags, prepared, decided));
  }
  return codec::write_place_answer("null", answer, more) + "\n";
}

// --to env and --to docker: on stdout nothing but what a shell takes.
Exit print_for_shell(const Flags& flags, const ChipUse& use) {
  const bool docker = flags.to == "docker";
  if (docker ? use.docker.empty() : use.environment.empty()) {
    return complain("--to " + flags.to + ": cannot tell how a " +
                        (docker ? "container" : "process") +
                        " gets only some of the chips of this machine's vendor",
                    Exit::findings);
  }
  for (const std::string& note : docker ? use.docker_notes : use.notes) remark(note);
  return printed(docker ? docker_line(use) : export_lines(use));
}

Exit run_one(const Flags& flags) {
  if (const std::string twice = place_usage_error(flags); !twice.empty())
    return complain(twice, Exit::usage);
  const auto request = request_of(flags);
  if (!request) return complain(request.error(), Exit::usage);
  auto overlays = overlays_at(flags.overlays);
  if (!overlays) return complain(overlays.error(), exit_for(overlays.error()));
  PlaceEngine engine(*std::move(overlays));
  if (!flags.machine.model.empty() || !flags.machine.index.empty() || flags.machine.source == "-") {
    auto machine = load_machine_source(flags.machine);
    if (!machine) return complain(machine.error(), exit_for(machine.error()));
    engine.provide(flags.machine.source, *std::move(machine));
  }
  const auto prepared = engine.prepare(*request);
  if (!prepared) {
    const Error& error = prepared.error();
    return error.context.empty() ? complain(with_flag(error.message), Exit::usage)
                                 : complain(error, Exit::unreadable);  // the machine
  }
  Timing timing(flags.batch);
  const auto decided = timing.timed([&] { return PlaceEngine::decide(*prepared); });
  codec::PlaceAnswer answer = PlaceEngine::answer(*prepared, decided);
  require_free(*request, answer);
  const bool json = flags.form == OutputForm::json || flags.to == "json";
  if (!json) {
    for (const std::string& w : answer.warnings) warn(w);
  }
  Exit exit = answer.fits ? Exit::fine : Exit::findings;
  if (json) {
    if (!print(json_of(flags, *prepared, decided, answer))) return Exit::unreadable;
  } else if (!flags.to.empty()) {
    exit = answer.fits ? print_for_shell(flags, use_of(flags, *prepared, decided))
                       : complain("does not fit: " + answer.reason, Exit::findings);
  } else {
    std::string text = text_of(*prepared, answer);
    if (answer.fits) text += "\n" + render_chip_use(use_of(flags, *prepared, decided));
    if (!print(text)) return Exit::unreadable;
  }
  timing.report();
  return exit;
}

}  // namespace

void register_place(CLI::App& app, Exit& exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* c =
      app.add_subcommand("place", "choose chips on one machine, from flags or a batch file");
  auto* batch = add_batch_options(*c, flags->batch);
  auto* machine = c->add_option("--machine", flags->machine.source, "profile name or topology file")
                      ->option_text("PROFILE|FILE")
                      ->excludes(batch);
  for (CLI::Option* option : add_machine_options(*c, flags->machine)) {
    option->needs(machine)->excludes(batch);
  }
  auto* size = c->add_option("--size", flags->size, "chips wanted")
                   ->check(CLI::Range(1, limits::kMaxChipIndex))
                   ->excludes(batch);
  auto* free = c->add_option("--free", flags->free, "chips that may be used, e.g. 0,1,4 or 0-3,6")
                   ->option_text("CHIPS")
                   ->excludes(batch);
  c->add_option("--unhealthy", flags->unhealthy, "chips that may not be used")
      ->option_text("CHIPS")
      ->excludes(batch);
  c->add_option("--network-unhealthy", flags->network_unhealthy, "unusable when --distributed")
      ->option_text("CHIPS")
      ->excludes(batch);
  c->add_option("--required", flags->required, "chips that must be in the answer")
      ->option_text("CHIPS")
      ->excludes(batch);
  c->add_option("--beside", flags->beside, "chips that other pods of the job hold")
      ->option_text("CHIPS")
      ->excludes(batch);
  c->add_option("--loaded", flags->loaded, "chips of other jobs, whose adapters to avoid")
      ->option_text("CHIPS")
      ->excludes(batch);
  auto* chips = c->add_option("--chips", flags->chips, "evaluate exactly these chips")
                    ->option_text("CHIPS")
                    ->excludes(batch)
                    ->excludes(size);
  c->add_option("--down", flags->down, "links that are down: A-B or A-B:LANES")
      ->option_text("LINKS")
      ->delimiter(',')
      ->excludes(batch);
  c->add_flag("--distributed", flags->distributed, "the pod is one of several of a job")
      ->excludes(batch);
  c->add_option("--objective", flags->objective,
                "what the chips are chosen for: bandwidth, latency, all_to_all")
      ->check(CLI::IsMember({"bandwidth", "latency", "all_to_all"}))
      ->excludes(batch);
  add_overlay_option(*c, flags->overlays);
  auto* output = add_output_option(*c, flags->form);
  add_value(*c, "--to", "FORM", flags->to,
            "env: export lines for eval; docker: arguments of docker run; json: everything")
      ->check(CLI::IsMember({"env", "docker", "json"}).description(""))
      ->excludes(batch)
      ->excludes(output);
  add_examples(
      *c,
      "  chipweave place --machine hgx-v100-8 --free 0,1,4-6 --size 2\n"
      "  eval \"$(chipweave place --machine box.txt --size 4 --to env)\"\n"
      "  echo '{\"id\":\"r1\",\"machine\":\"hgx-v100-8\",\"size\":4}' | chipweave place --batch -");
  c->callback([=, &exit_code] {
    if (batch->count() > 0) {
      exit_code = answer_batch(*flags);
    } else if (machine->count() == 0 || (size->count() == 0 && chips->count() == 0)) {
      complain(
          "one of --batch FILE, --machine with --size, or --machine with --chips is required; "
          "see 'chipweave place --help'");
      exit_code = Exit::usage;
    } else {
      flags->has_free = free->count() > 0;
      flags->has_chips = chips->count() > 0;
      exit_code = run_one(*flags);
    }
  });
}

}  // namespace chipweave::cli
