#include "nn/positions/rotary_rules.h"

#include <array>
#include <cmath>
#include <string_view>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

// What each scaling reads: those it must have, then those it may have.
struct Rule {
  RotaryScaling scaling;
  const char* name;
  std::string_view needs;
  std::string_view reads;
};
constexpr std::array kRules{
    Rule{RotaryScaling::none, "none", "", ""},
    Rule{RotaryScaling::linear, "linear", " factor ", ""},
    Rule{RotaryScaling::ntk, "ntk", " factor ", ""},
    Rule{RotaryScaling::dynamic, "dynamic", " factor original ", ""},
    Rule{RotaryScaling::yarn, "yarn", " factor original ",
         " fast slow truncate attention mscale mscale-all "},
    Rule{RotaryScaling::llama3, "llama3", " factor original low high ", ""},
    Rule{RotaryScaling::longrope, "longrope", " original short long ", " factor max attention "},
    Rule{RotaryScaling::proportional, "proportional", "", " factor "},
};

struct Given {
  const char* name;
  bool is_there;
};

bool holds(std::string_view names, const char* name) {
  return names.find(" " + std::string(name) + " ") != std::string_view::npos;
}

void check_given(const RotaryOptions& o, const Rule& rule) {
  const std::array given{
      Given{"factor", o.factor.has_value()},
      Given{"original", o.original.has_value()},
      Given{"max", o.max.has_value()},
      Given{"low", o.low.has_value()},
      Given{"high", o.high.has_value()},
      Given{"fast", o.fast.has_value()},
      Given{"slow", o.slow.has_value()},
      Given{"truncate", o.truncate.has_value()},
      Given{"attention", o.attention.has_value()},
      Given{"mscale", o.mscale.has_value()},
      Given{"mscale-all", o.mscale_all.has_value()},
      Given{"short", !o.short_factors.empty()},
      Given{"long", !o.long_factors.empty()},
  };
  const std::string name = std::string("scaling=") + rule.name;
  for (const Given& one : given) {
    if (!one.is_there && holds(rule.needs, one.name)) {
      refuse_rotary(name + " needs " + one.name + ", which is missing");
    }
    if (one.is_there && !holds(rule.needs, one.name) && !holds(rule.reads, one.name)) {
      refuse_rotary(name + " does not read " + one.name + ", which would be ignored");
    }
  }
}

void check_positive(const char* name, const std::optional<double>& number) {
  if (!number || (*number > 0 && std::isfinite(*number))) return;
  refuse_rotary(std::string(name) + "=" + std::to_string(*number) + " must be a number above 0");
}

void check_length(const char* name, const std::optional<std::int64_t>& length) {
  if (!length || *length >= 1) return;
  refuse_rotary(std::string(name) + "=" + std::to_string(*length) + " must be positive");
}

void check_order(const char* less, double a, const char* more, double b) {
  if (a < b) return;
  refuse_rotary(std::string(less) + "=" + std::to_string(a) + " must be below " + more + "=" +
                std::to_string(b));
}

void check_yarn(const RotaryOptions& o) {
  check_order("slow", o.slow.value_or(1), "fast", o.fast.value_or(32));
  if (o.mscale.has_value() != o.mscale_all.has_value()) {
    refuse_rotary(
        "mscale and mscale-all go together: their ratio is the factor on cosines and "
        "sines");
  }
  if (o.mscale && o.attention) {
    refuse_rotary("attention and mscale both set the factor on cosines and sines; give one");
  }
}

void check_longrope(const RotaryOptions& o) {
  if (!o.factor && !o.max) refuse_rotary("scaling=longrope needs factor, or max to divide by");
  if (!o.factor || !o.max) return;
  const double stated = *o.factor * static_cast<double>(*o.original);
  if (std::abs(stated - static_cast<double>(*o.max)) <= 0.5) return;
  refuse_rotary("factor=" + std::to_string(*o.factor) +
                " times original=" + std::to_string(*o.original) +
                " is not max=" + std::to_string(*o.max) + "; give one of them");
}

}  // namespace

void refuse_rotary(const std::string& text) { throw InvalidArgument("[rotary] " + text); }

const char* word_of(RotaryScaling scaling) noexcept {
  for (const Rule& rule : kRules) {
    if (rule.scaling == scaling) return rule.name;
  }
  return "";
}

void check_rotary(const RotaryOptions& o) {
  check_positive("base", o.base);
  for (const Rule& rule : kRules) {
    if (rule.scaling == o.scaling) check_given(o, rule);
  }
  check_positive("factor", o.factor);
  if (o.factor && *o.factor < 1) {
    refuse_rotary("factor=" + std::to_string(*o.factor) +
                  " must be at least 1: it says how many times longer texts are");
  }
  check_length("original", o.original);
  check_length("max", o.max);
  check_positive("low", o.low);
  check_positive("high", o.high);
  check_positive("fast", o.fast);
  check_positive("slow", o.slow);
  check_positive("attention", o.attention);
  check_positive("mscale", o.mscale);
  check_positive("mscale-all", o.mscale_all);
  if (o.low && o.high) check_order("low", *o.low, "high", *o.high);
  if (o.scaling == RotaryScaling::yarn) check_yarn(o);
  if (o.scaling == RotaryScaling::longrope) check_longrope(o);
}

double longrope_factor(const RotaryOptions& o) {
  return o.factor ? *o.factor : static_cast<double>(*o.max) / static_cast<double>(*o.original);
}

void check_longrope_lists(const RotaryOptions& options, std::int64_t pairs) {
  for (const auto& [name, list] :
       {std::pair("short", &options.short_factors), std::pair("long", &options.long_factors)}) {
    if (static_cast<std::int64_t>(list->size()) != pairs) {
      refuse_rotary(std::string(name) + " has " + std::to_string(list->size()) +
                    " numbers; it must have one for each of " + std::to_string(pairs) + " pairs");
    }
    for (const double number : *list) check_positive(name, number);
  }
}

}  // namespace volvelle
