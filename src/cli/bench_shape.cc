#include "cli/bench_shape.h"

#include "cli/array_roles.h"
#include "cli/bench_options.h"

namespace volvelle::cli {
namespace {

std::string heads_text(const AttentionCase& shape) {
  const std::string heads = std::to_string(shape.heads);
  const bool grouped_heads = shape.key_heads > 0 && shape.key_heads != shape.heads;
  return grouped_heads ? heads + '/' + std::to_string(shape.key_heads) : heads;
}

std::string length_text(const AttentionCase& shape) {
  const std::string queries = std::to_string(shape.queries);
  const bool differ = shape.keys > 0 && shape.keys != shape.queries;
  return differ ? queries + 'x' + std::to_string(shape.keys) : queries;
}

std::string mask_text(const AttentionCase& shape) {
  std::string text = shape.causal ? "causal" : "";
  if (shape.window > 0) text += (text.empty() ? "w" : " w") + std::to_string(shape.window);
  return text.empty() ? "full" : text;
}

std::string or_as(std::int64_t length, const char* option) {
  return length > 0 ? " (" + std::to_string(length) + ')' : std::string(" (as ") + option + ')';
}

}  // namespace

void ShapeOptions::declare(CommandLine& line, const AttentionCase& standard,
                           const std::vector<std::string>& dtypes) {
  standard_ = standard;
  line.group("The shape (none of these: a table of shapes)");
  line.choice("--dtype", dtype_, dtypes,
              "of q, k, v and the output (" + std::string(name_of(standard.dtype)) + ')');
  line.integer("--batch", batch_, "B", "batch rows" + or_as(standard.batch, ""));
  line.integer("--heads", heads_, "H", "query heads" + or_as(standard.heads, ""));
  line.integer("--key-heads", key_heads_, "G", "key heads" + or_as(standard.key_heads, "--heads"));
  line.integer("--queries", queries_, "T", "queries" + or_as(standard.queries, ""));
  line.integer("--keys", keys_, "S", "keys" + or_as(standard.keys, "--queries"));
  line.integer("--head-width", head_width_, "D",
               "width of a head" + or_as(standard.head_width, ""));
  line.flag("--causal", causal_, "a query sees no later key");
  line.integer("--window", window_, "N", "a query sees the N keys up to its own position");
}

bool ShapeOptions::given() const {
  return dtype_ || batch_ || heads_ || key_heads_ || queries_ || keys_ || head_width_ || window_ ||
         causal_;
}

AttentionCase ShapeOptions::shape() const {
  at_least_one("--batch", batch_);
  at_least_one("--heads", heads_);
  at_least_one("--key-heads", key_heads_);
  at_least_one("--queries", queries_);
  at_least_one("--keys", keys_);
  at_least_one("--head-width", head_width_);
  if (window_ && *window_ < 0) throw UsageError("--window must not be negative");
  AttentionCase one = standard_;
  if (dtype_) one.dtype = dtype_named(*dtype_);
  one.batch = batch_.value_or(one.batch);
  one.heads = heads_.value_or(one.heads);
  one.key_heads = key_heads_.value_or(one.key_heads);
  one.queries = queries_.value_or(one.queries);
  one.keys = keys_.value_or(one.keys);
  one.head_width = head_width_.value_or(one.head_width);
  one.causal = causal_;
  one.window = window_.value_or(0);
  return one;
}

std::string shape_text(const AttentionCase& shape) {
  return std::string(name_of(shape.dtype)) + " B" + std::to_string(shape.batch) + " H" +
         heads_text(shape) + " T" + length_text(shape) + " D" + std::to_string(shape.head_width) +
         ' ' + mask_text(shape);
}

std::vector<std::string> shape_titles() { return {"dtype", "B", "H", "T", "D", "mask"}; }

std::vector<std::string> shape_cells(const AttentionCase& shape) {
  return {std::string(name_of(shape.dtype)),
          std::to_string(shape.batch),
          heads_text(shape),
          length_text(shape),
          std::to_string(shape.head_width),
          mask_text(shape)};
}

const char* const kShapeLegend = " (H: query heads / key heads, T: queries x keys, w: window)";

void write_shape(JsonWriter& json, const AttentionCase& shape) {
  json.key("dtype").value(name_of(shape.dtype));
  json.key("batch").value(shape.batch);
  json.key("heads").value(shape.heads);
  json.key("key_heads").value(shape.key_heads);
  json.key("queries").value(shape.queries);
  json.key("keys").value(shape.keys);
  json.key("head_width").value(shape.head_width);
  json.key("causal").value(shape.causal);
  json.key("window").value(shape.window);
}

}  // namespace volvelle::cli
