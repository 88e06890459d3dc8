// The layer log: grouping by name, norms of a layer, activations, CSV.
#include "volvelle/training/layer_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "volvelle/base/error.h"
#include "volvelle/report/study_report.h"
#include "volvelle/studies/layer_log_tables.h"

namespace volvelle {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(LayerLogTest, ParametersBelongToTheLayerThatTheirNameSays) {
  EXPECT_EQ(layer_of("stack.layers.3.self_attn.in_proj_weight"), "stack.layers.3");
  EXPECT_EQ(layer_of("layers.12.norm1.weight"), "layers.12");
  EXPECT_EQ(layer_of("0.weight"), "0");
  EXPECT_EQ(layer_of("h.2.mlp.4.bias"), "h.2.mlp.4");
  EXPECT_EQ(layer_of("embedding.weight"), "embedding");
  EXPECT_EQ(layer_of("stack.norm.bias"), "stack.norm");
  EXPECT_EQ(layer_of("layer12.weight"), "layer12");
  EXPECT_EQ(layer_of("weight"), "weight");
  EXPECT_EQ(layer_of(""), "");
}

StepReport report_of(std::int64_t step) {
  StepReport report;
  report.step = step;
  report.loss = 2.5;
  report.rate = 0.125;
  report.gradient_norm = 7;
  report.parameters = {
      {.name = "embedding.weight", .gradient_norm = 1, .weight_norm = 2, .update_norm = 0.5},
      {.name = "layers.0.a", .gradient_norm = 3, .weight_norm = 6, .update_norm = 0.3},
      {.name = "layers.0.b.weight", .gradient_norm = 4, .weight_norm = 8, .update_norm = 0.4},
      {.name = "layers.1.a", .gradient_norm = 0, .weight_norm = 0, .update_norm = 0}};
  return report;
}

StackTrace trace_of_two_layers() {
  StackTrace trace;
  for (const float value : {9.f, 2.f, 3.f}) {
    Tensor stream(DType::float32, {2, 2});
    for (int i = 0; i < 4; ++i) stream.data<float>()[i] = i % 2 == 0 ? value : -value;
    trace.inputs.emplace_back(stream);
  }
  return trace;
}

TEST(LayerLogTest, NormsOfALayerAreOverAllItsParameters) {
  LayerLog log;
  const StackTrace trace = trace_of_two_layers();
  log.add(report_of(1), &trace);
  EXPECT_THAT(log.layers(), ElementsAre("embedding", "layers.0", "layers.1"));
  const std::vector<LayerFigures>& layers = log.records().front().layers;
  EXPECT_DOUBLE_EQ(layers[1].gradient_norm, 5);
  EXPECT_DOUBLE_EQ(layers[1].weight_norm, 10);
  EXPECT_DOUBLE_EQ(layers[1].update_norm, 0.5);
  EXPECT_DOUBLE_EQ(layers[1].update_ratio, 0.05);
  EXPECT_DOUBLE_EQ(layers[2].update_ratio, 0) << "0 of 0";
  EXPECT_TRUE(std::isnan(layers[0].activation_rms));
  EXPECT_DOUBLE_EQ(layers[1].activation_rms, 2) << "behind the layer, not before it";
  EXPECT_DOUBLE_EQ(layers[2].activation_rms, 3);
}

TEST(LayerLogTest, CsvHasALineAStepAndLayer) {
  LayerLog log;
  const StackTrace trace = trace_of_two_layers();
  log.add(report_of(1), &trace);
  StepReport stopped;
  stopped.step = 2;
  stopped.loss = std::numeric_limits<double>::infinity();
  stopped.stepped = false;
  log.add(stopped);
  EXPECT_EQ(study_csv(layer_table(log)),
            "step,loss,rate,layer,gradient_norm,weight_norm,update_norm,update_ratio,"
            "activation_rms\n"
            "1,2.5,0.125,embedding,1,2,0.5,0.25,\n"
            "1,2.5,0.125,layers.0,5,10,0.5,0.05,2\n"
            "1,2.5,0.125,layers.1,0,0,0,0,3\n"
            "2,inf,0,,,,,,\n");
}

TEST(LayerLogTest, TablesAndChartsHoldTheSameFigures) {
  LayerLog log;
  log.add(report_of(1));
  log.add(report_of(2));
  const StudyTable table = layer_table(log);
  ASSERT_EQ(table.rows.size(), 6u);
  ASSERT_EQ(table.columns.size(), 9u);
  EXPECT_EQ(std::get<std::string>(table.rows[4][3]), "layers.0");
  EXPECT_EQ(std::get<double>(table.rows[4][4]), 5);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(table.rows[4][8])) << "no trace";
  const StudyChart chart = layer_chart(log, "update_ratio");
  ASSERT_EQ(chart.series.size(), 3u);
  EXPECT_EQ(chart.series[1].label, "layers.0");
  EXPECT_THAT(chart.series[1].x, ElementsAre(1, 2));
  EXPECT_THAT(chart.series[1].y, ElementsAre(0.05, 0.05));
  const std::string drawn = study_chart_text(chart);
  for (const char* part : {"update / weight by layer", "embedding", "layers.0", "layers.1"}) {
    EXPECT_THAT(drawn, HasSubstr(part));
  }
  EXPECT_TRUE(layer_chart(log, "activation_rms").series.empty());
  EXPECT_THAT([&] { layer_chart(log, "gradient_nrm"); },
              ThrowsMessage<InvalidArgument>(HasSubstr("did you mean 'gradient_norm'?")));
}

TEST(LayerLogTest, WhatDoesNotBelongTogetherIsRefused) {
  LayerLog log;
  StepReport unmeasured = report_of(3);
  unmeasured.parameters.clear();
  EXPECT_THAT([&] { log.add(unmeasured); },
              ThrowsMessage<InvalidArgument>(HasSubstr("set measure_layers")));
  StackTrace trace = trace_of_two_layers();
  trace.inputs.pop_back();
  EXPECT_THAT([&] { log.add(report_of(3), &trace); },
              ThrowsMessage<InvalidArgument>(HasSubstr("2 streams")));
  EXPECT_TRUE(log.records().empty());
}

}  // namespace
}  // namespace volvelle
