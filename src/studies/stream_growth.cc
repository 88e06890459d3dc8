#include "volvelle/studies/stream_growth.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "studies/stack_streams.h"
#include "studies/unit_branches.h"
#include "volvelle/base/error.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

constexpr std::int64_t kMostLayers = 100'000, kMostWidth = 65'536;
constexpr double kNear = 0.25;  // of sqrt(1 + layer)

void check(const StreamGrowthOptions& options) {
  if (options.layers < 1 || options.layers > kMostLayers) {
    throw InvalidArgument("[stream-growth] layers must be 1 to " + grouped(kMostLayers) + ", not " +
                          std::to_string(options.layers));
  }
  if (options.width < 2 || options.width > kMostWidth) {
    throw InvalidArgument("[stream-growth] width must be 2 to " + grouped(kMostWidth) + ", not " +
                          std::to_string(options.width) +
                          ": in one dimension branches have no directions");
  }
}

// As many heads as GPT-like models of that width have, but ones that divide it.
std::int64_t heads_for(std::int64_t width) {
  for (const std::int64_t heads :
       {std::max<std::int64_t>(width / 64, 4), std::int64_t{4}, std::int64_t{2}}) {
    if (width % heads == 0) return heads;
  }
  return 1;
}

double root_rule(std::int64_t layer) { return std::sqrt(1.0 + static_cast<double>(layer)); }

// The first layer, a quarter, a half and all of them: the lines that are read in text.
std::vector<std::size_t> marked_rows(std::int64_t layers) {
  std::vector<std::size_t> rows;
  for (const std::int64_t layer : {std::int64_t{1}, layers / 4, layers / 2, layers}) {
    const std::size_t row = static_cast<std::size_t>(std::max<std::int64_t>(layer, 1) - 1);
    if (rows.empty() || rows.back() < row) rows.push_back(row);
  }
  return rows;
}

StudyTable unit_table(const StreamLengths& unit) {
  StudyTable table{.key = "rows",
                   .title = "Branches of length 1 in random directions, added up",
                   .columns = {{"layer", "layer"},
                               {"length", "stream", 2},
                               {"share", "branch's share", 0, StudyForm::percent},
                               {"root", "sqrt(1 + layer)", 2}},
                   .rows = {},
                   .shown = marked_rows(static_cast<std::int64_t>(unit.length.size()))};
  for (std::size_t i = 0; i < unit.length.size(); ++i) {
    const auto layer = static_cast<std::int64_t>(i) + 1;
    table.rows.push_back({layer, unit.length[i], unit.share[i], root_rule(layer)});
  }
  return table;
}

StudyTable stack_table(const StackStreams& streams) {
  StudyTable table{.key = "stacks",
                   .title =
                       "Measured in stacks at initialisation: length of the stream over its "
                       "first, and the share of it that each branch is",
                   .columns = {{"layer", "layer"},
                               {"pre_length", "pre-LN", 2},
                               {"pre_attention_share", "attention", 1, StudyForm::percent},
                               {"pre_feed_forward_share", "feed-forward", 1, StudyForm::percent},
                               {"post_length", "post-LN", 2},
                               {"post_attention_share", "attention", 1, StudyForm::percent},
                               {"post_feed_forward_share", "feed-forward", 1, StudyForm::percent}},
                   .rows = {},
                   .shown = marked_rows(static_cast<std::int64_t>(streams.post.size()))};
  for (std::size_t i = 0; i < streams.post.size(); ++i) {
    const LayerStream &pre = streams.pre[i], &post = streams.post[i];
    table.rows.push_back({static_cast<std::int64_t>(i) + 1, pre.length, pre.attention_share,
                          pre.feed_forward_share, post.length, post.attention_share,
                          post.feed_forward_share});
  }
  return table;
}

StudySeries series_of(const std::string& label, const std::vector<double>& values) {
  StudySeries series{.label = label, .x = {}, .y = values, .low = {}, .high = {}};
  for (std::size_t i = 0; i < values.size(); ++i) series.x.push_back(static_cast<double>(i) + 1);
  return series;
}

StudySeries series_of(const std::string& label, const std::vector<LayerStream>& layers,
                      double LayerStream::* figure) {
  std::vector<double> values;
  for (const LayerStream& layer : layers) values.push_back(layer.*figure);
  return series_of(label, values);
}

std::vector<StudyChart> charts_of(const StreamLengths& unit, const StackStreams& streams) {
  StudyChart length;
  length.key = "length";
  length.title = "Length of the stream after each layer (1 before the first)";
  length.x_label = "layer";
  length.y_label = "length";
  std::vector<double> root;
  for (std::size_t i = 0; i < unit.length.size(); ++i) {
    root.push_back(root_rule(static_cast<std::int64_t>(i) + 1));
  }
  length.series = {series_of("unit branches", unit.length), series_of("sqrt(1 + layer)", root),
                   series_of("pre-LN stack", streams.pre, &LayerStream::length),
                   series_of("post-LN stack", streams.post, &LayerStream::length)};
  StudyChart share;
  share.key = "share";
  share.title = "Share of the stream that each layer's branch is";
  share.x_label = "layer";
  share.y_label = "share";
  share.series = {series_of("unit branches", unit.share),
                  series_of("pre-LN feed-forward", streams.pre, &LayerStream::feed_forward_share),
                  series_of("post-LN feed-forward", streams.post, &LayerStream::feed_forward_share),
                  series_of("pre-LN attention", streams.pre, &LayerStream::attention_share),
                  series_of("post-LN attention", streams.post, &LayerStream::attention_share)};
  return {length, share};
}

StudyControl control_of(const StreamGrowthOptions& options) {
  const StreamLengths lengths =
      add_unit_branches(make_generator(options.stream, options.seed), options.layers, options.width,
                        AfterAdding::back_to_one);
  const double rule = root_rule(options.layers);
  StudyControl control;
  control.what =
      "The same branches, but the stream is divided back to length 1 after each layer, as "
      "a norm on it does.";
  control.check = "after the last layer the stream is within a quarter of sqrt(1 + layers), " +
                  fixed(rule, 2) + '.';
  control.failed = std::fabs(lengths.length.back() - rule) > kNear * rule;
  control.figures = "its length is " + fixed(lengths.length.back(), 2) +
                    ", and the last branch is " + fixed(100 * lengths.share.back(), 0) +
                    "% of the sum (the first was " + fixed(100 * lengths.share.front(), 0) + "%).";
  return control;
}

std::string percent(double share, int digits = 0) { return fixed(share * 100, digits) + '%'; }

void read_units(std::vector<std::string>& reading, const StreamLengths& unit) {
  const auto layers = static_cast<std::int64_t>(unit.length.size());
  const double length = unit.length.back();
  const bool near = std::fabs(length - root_rule(layers)) <= kNear * root_rule(layers);
  reading.push_back("Random directions hardly cancel or reinforce each other: after " +
                    grouped(layers) + (layers == 1 ? " layer" : " layers") + " the stream is " +
                    fixed(length, 2) + " long, " + (near ? "near" : "here not near") +
                    " sqrt(1 + " + grouped(layers) + ") = " + fixed(root_rule(layers), 2) + '.');
  if (layers == 1) return;
  reading.push_back("So a branch of the same length is a smaller part of it the later it comes: " +
                    percent(unit.share.front()) + " at layer 1, " + percent(unit.share.back()) +
                    " at layer " + grouped(layers) + '.');
}

void read_stacks(std::vector<std::string>& reading, const StackStreams& streams) {
  if (streams.post.empty()) return;
  const LayerStream &first = streams.pre.front(), &last = streams.pre.back();
  const LayerStream &post_first = streams.post.front(), &post_last = streams.post.back();
  const std::string layers = grouped(static_cast<std::int64_t>(streams.post.size()));
  reading.push_back("The pre-LN stack's stream is " + fixed(last.length, 2) +
                    " times as long after "
                    "layer " +
                    layers +
                    " as before the first; from layer 1 on its feed-forward "
                    "branch goes from " +
                    percent(first.feed_forward_share, 1) + " of it to " +
                    percent(last.feed_forward_share, 1) + ", its attention from " +
                    percent(first.attention_share, 1) + " to " + percent(last.attention_share, 1) +
                    '.');
  reading.push_back("The post-LN stack's norms put the length back (" + fixed(post_last.length, 2) +
                    " after layer " + layers + "): its feed-forward branch is " +
                    percent(post_first.feed_forward_share, 1) + " at layer 1 and " +
                    percent(post_last.feed_forward_share, 1) + " at layer " + layers + '.');
  const double fall = last.feed_forward_share / first.feed_forward_share;
  const double post_fall = post_last.feed_forward_share / post_first.feed_forward_share;
  if (fall < 0.9 * post_fall) {
    reading.push_back(
        "That is the sense in which pre-LN's top layers change the stream less: their "
        "share goes to " +
        percent(fall) + " of the first layer's, post-LN's to " + percent(post_fall) + '.');
  } else {
    reading.push_back(
        "At this depth pre-LN's late branches are no smaller a part than post-LN's: "
        "their share goes to " +
        percent(fall) +
        " of the first layer's, post-LN's "
        "to " +
        percent(post_fall) + '.');
  }
}

}  // namespace

StudyResult study_stream_growth(const StreamGrowthOptions& options, const StudyRun& run) {
  check(options);
  StudyResult result;
  result.name = "stream-growth";
  result.question =
      "If every layer adds its branch to one stream, how long does the stream get, and "
      "how much of it is a late layer's branch?";
  const StackStreamOptions stacks{.block = {.width = options.width,
                                            .heads = heads_for(options.width),
                                            .feed_forward = 4 * options.width},
                                  .layers = options.layers,
                                  .stream = options.stream,
                                  .seed = options.seed,
                                  .threads = run.threads};
  result.setup = {
      {"layers, width", grouped(options.layers) + ", " + grouped(options.width)},
      {"random numbers",
       std::string(name_of(options.stream)) + ", seed " + std::to_string(options.seed)},
      {"unit branches",
       "a stream of length 1, one branch of length 1 a layer, all in random "
       "directions"},
      {"stacks", std::to_string(stacks.block.heads) + " heads, feed-forward " +
                     std::to_string(stacks.block.feed_forward) +
                     ", ReLU, layer norm, PyTorch's initial values; pre-LN and post-LN start from "
                     "the same; " +
                     std::to_string(stacks.batch) + " x " + std::to_string(stacks.tokens) +
                     " normal token vectors"}};
  result.facts = {{"layers", options.layers},
                  {"width", options.width},
                  {"seed", static_cast<std::int64_t>(options.seed)},
                  {"stream", std::string(name_of(options.stream))}};
  const StreamLengths unit = add_unit_branches(make_generator(options.stream, options.seed),
                                               options.layers, options.width, AfterAdding::nothing);
  result.tables.push_back(unit_table(unit));
  const StackStreams streams = measure_stack_streams(stacks, [&](std::int64_t layer) {
    if (run.stopped && run.stopped()) {
      result.complete = false;
      return false;
    }
    if (run.progress) {
      run.progress(static_cast<double>(layer) / static_cast<double>(options.layers),
                   "layer " + std::to_string(layer + 1) + " of both stacks");
    }
    return true;
  });
  result.tables.push_back(stack_table(streams));
  result.charts = charts_of(unit, streams);
  result.controls.push_back(control_of(options));
  read_units(result.reading, unit);
  read_stacks(result.reading, streams);
  result.limits = {
      "Unit branches are illustrative: not a model of a real network, where a layer's branch "
      "depends "
      "on the stream and its length on the weights.",
      "The stacks are measured at initialisation, on random token vectors; training changes the "
      "length of every branch."};
  return result;
}

}  // namespace volvelle
