#include <algorithm>
#include <string>

#include "cli/scheme_figures.h"
#include "volvelle/attention/buckets.h"

namespace volvelle::cli {
namespace {

struct BucketRule {
  Buckets kind = Buckets::none;
  std::int64_t count = 0;
  std::int64_t max_distance = 0;

  std::int64_t of(std::int64_t offset) const {
    return bucket_of(offset, kind, count, max_distance);
  }
};

BucketRule rule_of(const SchemeCase& scheme) {
  AttendVariableOptions attention;
  make_positions(scheme.text, scheme.context)->enter(attention, {});
  return {attention.rules.buckets, attention.bucket_table.shape()[1], attention.rules.max_distance};
}

// The least distance on one side (1: later keys) whose bucket is at least this; buckets grow with
// the distance.
std::int64_t first_distance(const BucketRule& rule, std::int64_t bucket, std::int64_t side) {
  std::int64_t low = side > 0 ? 1 : 0, high = rule.max_distance + 1;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (rule.of(side * middle) >= bucket) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

std::string offset_text(std::int64_t offset) {
  return (offset > 0 ? "+" : "") + std::to_string(offset);
}

std::string offsets_of(const BucketRule& rule, std::int64_t bucket) {
  const std::int64_t half = rule.count / 2;
  const bool later = rule.kind == Buckets::two_way && bucket >= half;
  const std::int64_t side = later ? 1 : -1;
  const bool last = bucket == (later || rule.kind == Buckets::one_way ? rule.count : half) - 1;
  const std::int64_t first = first_distance(rule, bucket, side);
  if (rule.of(side * first) != bucket) return "none";
  std::string text = offset_text(side * first);
  if (last) {
    text += " and beyond";
  } else if (const std::int64_t end = first_distance(rule, bucket + 1, side) - 1; end > first) {
    text += " to " + offset_text(side * end);
  }
  if (bucket == 0 && rule.kind == Buckets::one_way) text += ", and all later keys";
  return text;
}

}  // namespace

void add_bucket_figures(const SchemeCase& scheme, StudyResult& sheet) {
  const BucketRule rule = rule_of(scheme);
  StudyTable table{.key = "buckets",
                   .title = "Which offsets (key less query) share a number",
                   .columns = {{"bucket", "bucket"}, {"offsets", "offsets"}},
                   .rows = {}};
  for (std::int64_t bucket = 0; bucket < rule.count; ++bucket) {
    table.rows.push_back({bucket, offsets_of(rule, bucket)});
  }
  StudyChart chart{.kind = StudyChart::Kind::lines,
                   .key = "buckets_by_offset",
                   .title = "The bucket of each offset",
                   .x_label = "key less query",
                   .y_label = "bucket"};
  StudySeries series{.label = "bucket", .x = {}, .y = {}, .low = {}, .high = {}};
  constexpr std::int64_t kPoints = 1000;
  const std::int64_t reach = rule.max_distance + rule.max_distance / 4;
  const std::int64_t step = std::max<std::int64_t>(1, 2 * reach / kPoints);
  for (std::int64_t offset = -reach; offset <= reach; offset += step) {
    series.x.push_back(static_cast<double>(offset));
    series.y.push_back(static_cast<double>(rule.of(offset)));
  }
  chart.series.push_back(std::move(series));
  sheet.tables.push_back(std::move(table));
  sheet.charts.push_back(std::move(chart));
}

}  // namespace volvelle::cli
