#include "cli/schemes.h"

#include <deque>
#include <optional>

#include "cli/exit_code.h"
#include "cli/scheme_options.h"
#include "cli/scheme_sheet.h"
#include "cli/subjects.h"
#include "volvelle/nn/positions/rotary.h"

namespace volvelle::cli {
namespace {

constexpr std::int64_t kMostLength = std::int64_t{1} << 20;

int show(const Invocation& call, const StudyResult& sheet, const SheetOptions& how) {
  how.check(sheet);
  if (how.json()) {
    write_sheet_json(call.out, sheet);
  } else {
    call.out << sheet_text(sheet);
  }
  call.out.flush();
  for (const std::string& path : how.write_files(sheet)) call.remarks << "wrote " << path << '\n';
  return kDone;
}

int run_all(const Invocation& call) {
  ModelOptions model;
  SheetOptions how;
  CommandLine line(call.verb);
  model.declare(line);
  how.declare(line, false);
  if (!line.parse(call)) return kDone;
  return show(call, schemes_sheet(model.context()), how);
}

// A text that shows what the scheme was made for: as long as the longest it may read.
std::int64_t length_of(const PositionText& text, const std::optional<std::int64_t>& asked) {
  constexpr std::int64_t kUsual = 2048;
  if (asked) {
    if (*asked < 1 || *asked > kMostLength) throw UsageError("--length takes 1 to 2^20");
    return *asked;
  }
  if (text.scheme != "rotary") return kUsual;
  const RotaryOptions options = rotary_options(text);
  if (options.max) return std::min(*options.max, kMostLength);
  if (!options.original) return kUsual;
  const double reached = static_cast<double>(*options.original) * options.factor.value_or(1);
  return static_cast<std::int64_t>(std::min(reached, static_cast<double>(kMostLength)));
}

PositionContext filled(PositionContext context) {
  if (context.head_width == 0 && context.width % context.heads == 0) {
    context.head_width = context.width / context.heads;
  }
  if (context.key_heads == 0) context.key_heads = context.heads;
  return context;
}

int run_one(const Invocation& call) {
  const PositionEntry& entry =
      position_scheme(std::string(call.verb.name).substr(std::string("schemes ").size()));
  ModelOptions model;
  SettingOptions settings;
  SheetOptions how;
  std::optional<std::int64_t> length;
  CommandLine line(call.verb);
  settings.declare(line, entry);
  model.declare(line);
  line.integer("--length", length, "N", "positions of the text that is shown (2048, or max)");
  how.declare(line, true);
  if (!line.parse(call)) return kDone;
  SchemeCase scheme{.text = settings.text(entry), .context = filled(model.context())};
  make_positions(scheme.text, scheme.context);  // refuses what does not fit, before all else
  scheme.length = length_of(scheme.text, length);
  return show(call, scheme_sheet(scheme), how);
}

const char* examples_of(const std::string& scheme) {
  if (scheme == "rotary") {
    return "volvelle schemes rotary --head-width 8 # frequencies, wavelengths, whole turns\n"
           "volvelle schemes rotary --head-width 128 --scaling yarn --factor 4 --original 32768 "
           "--base 1e6 # what a scaling does to each pair\n"
           "volvelle schemes rotary --head-width 8 --plot rotary.svg # clock hands, waves, table";
  }
  if (scheme == "learned") return "volvelle schemes learned --rows 16 --width 8 # 128 parameters";
  if (scheme == "t5") return "volvelle schemes t5 --buckets 32 --max 128 # the offsets of a bucket";
  if (scheme == "alibi") return "volvelle schemes alibi --heads 8 # slopes from 1/2 to 1/256";
  if (scheme == "sinusoidal") {
    return "volvelle schemes sinusoidal --width 16 --plot table.svg # the table as a picture";
  }
  return "";
}

const std::deque<Verb>& scheme_verbs() {
  static const auto made = [] {
    static std::deque<std::string> names;  // verbs point at them
    static std::deque<std::string> examples;
    std::deque<Verb> verbs;
    for (const PositionEntry& entry : position_schemes()) {
      const std::string& name = names.emplace_back("schemes " + std::string(entry.name));
      const char* const known = examples_of(entry.name);
      const std::string& shown = examples.emplace_back(
          *known != '\0' ? known : "volvelle " + name + " # its facts and settings");
      verbs.push_back(
          {name.c_str(), entry.sentence, "[settings] [options]", shown.c_str(), "", run_one});
    }
    return verbs;
  }();
  return made;
}

}  // namespace

int run_schemes(const Invocation& call) {
  const bool all =
      call.arguments.empty() || (call.arguments[0].starts_with('-') &&
                                 call.arguments[0] != "--help" && call.arguments[0] != "-h");
  if (all) return run_all(call);
  static const std::vector<Verb> verbs(scheme_verbs().begin(), scheme_verbs().end());
  return run_subject(call, verbs, {"Schemes", "scheme", "NAME"});
}

const char* const kSchemesExamples =
    "volvelle schemes # all ways of giving position, side by side\n"
    "volvelle schemes --width 768 --heads 12 # with the parameters and costs of your model\n"
    "volvelle schemes rotary --head-width 8 --base 10000 # one of them on your numbers";

}  // namespace volvelle::cli
