#include "studies/extrapolation_bands.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "volvelle/autograd/no_grad.h"

namespace volvelle {
namespace {

// Tokens that a network reads at once: what bounds the memory of a test.
constexpr std::int64_t kTokensAtOnce = 8192;

double share(std::int64_t right, std::int64_t of) {
  if (of == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(right) / static_cast<double>(of);
}

/// Sums over the labels of a band; the means come last.
class BandSums {
 public:
  explicit BandSums(const ExtrapolationTask& task) { sums_.parts.resize(task.parts().size()); }

  void add(const float* logits, std::int64_t count, std::int64_t token, const ContestLabel& label) {
    const float* largest = std::max_element(logits, logits + count);
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      sum += std::exp(static_cast<double>(logits[i]) - static_cast<double>(*largest));
    }
    ++sums_.labels;
    sums_.loss +=
        std::log(sum) + static_cast<double>(*largest) - static_cast<double>(logits[token]);
    sums_.best += label.best;
    if (label.part == ContestLabel::kUncounted) return;
    PartFigures& part = sums_.parts[static_cast<std::size_t>(label.part)];
    const std::int64_t said = largest - logits;
    const bool right = said == label.right[0] || said == label.right[1];
    ++(label.far ? part.far : part.near);
    if (right) ++(label.far ? part.far_right : part.near_right);
  }

  BandFigures means() const {
    BandFigures figures = sums_;
    const auto labels = static_cast<double>(figures.labels);
    figures.loss /= labels;
    figures.best /= labels;
    return figures;
  }

 private:
  BandFigures sums_;
};

std::vector<BandFigures> means_of(const std::vector<BandSums>& sums) {
  std::vector<BandFigures> figures;
  for (const BandSums& band : sums) figures.push_back(band.means());
  return figures;
}

/// A sequence of which a network has read a part.
struct Read {
  const float* logits;         ///< of the first place of the sequence that the network read
  std::int64_t begins;         ///< its place in the whole sequence
  const std::int64_t* labels;  ///< of the whole sequence
  const ContestLabel* known;
  std::int64_t vocabulary;
};

/// Adds the labels at places [from, to) to a band.
void add_places(const Read& read, std::int64_t from, std::int64_t to, BandSums& band) {
  for (std::int64_t place = from; place < to; ++place) {
    if (read.labels[place] < 0) continue;
    band.add(read.logits + (place - read.begins) * read.vocabulary, read.vocabulary,
             read.labels[place], read.known[place]);
  }
}

Variable logits_of(const LanguageModel& model, const Tensor& ids) {
  const NoGrad off;
  return model.forward(ids.view(), {.threads = 1});
}

}  // namespace

double PartFigures::accuracy() const { return share(near_right + far_right, near + far); }
double PartFigures::near_accuracy() const { return share(near_right, near); }
double PartFigures::far_accuracy() const { return share(far_right, far); }

BandFigures measure_logits(const ExtrapolationTask& task, const ContestBatch& batch,
                           const Tensor& logits, const PositionBand& band) {
  BandSums sums(task);
  const std::int64_t tokens = batch.ids.shape()[1], vocabulary = task.vocabulary();
  for (std::int64_t row = 0; row < batch.ids.shape()[0]; ++row) {
    add_places({.logits = logits.data<float>() + row * tokens * vocabulary,
                .begins = 0,
                .labels = batch.labels.data<std::int64_t>() + row * tokens,
                .known = batch.known.data() + row * tokens,
                .vocabulary = vocabulary},
               band.from, std::min(tokens, band.to), sums);
  }
  return sums.means();
}

std::vector<BandFigures> measure_bands(const LanguageModel& model, const ExtrapolationTask& task,
                                       const TestRows& rows, std::int64_t tokens,
                                       const std::vector<PositionBand>& bands) {
  std::vector<BandSums> sums(bands.size(), BandSums(task));
  const std::int64_t vocabulary = task.vocabulary();
  const std::int64_t at_once = std::max<std::int64_t>(1, kTokensAtOnce / tokens);
  for (std::int64_t first = 0; first < rows.rows; first += at_once) {
    const std::int64_t count = std::min(at_once, rows.rows - first);
    const ContestBatch batch = task.for_test(rows.seed, rows.first + first, count, tokens);
    const Variable logits = logits_of(model, batch.ids);
    for (std::int64_t row = 0; row < count; ++row) {
      const Read read{.logits = logits.value().data<float>() + row * tokens * vocabulary,
                      .begins = 0,
                      .labels = batch.labels.data<std::int64_t>() + row * tokens,
                      .known = batch.known.data() + row * tokens,
                      .vocabulary = vocabulary};
      for (std::size_t band = 0; band < bands.size(); ++band) {
        add_places(read, bands[band].from, std::min(tokens, bands[band].to), sums[band]);
      }
    }
  }
  return means_of(sums);
}

std::vector<BandFigures> measure_in_windows(const LanguageModel& model,
                                            const ExtrapolationTask& task, const TestRows& rows,
                                            std::int64_t window,
                                            const std::vector<PositionBand>& bands) {
  std::vector<BandSums> sums(bands.size(), BandSums(task));
  if (bands.empty()) return {};
  const std::int64_t vocabulary = task.vocabulary();
  const std::int64_t tokens = bands.back().to;
  const std::int64_t stride = std::max<std::int64_t>(1, window / 4);
  const std::int64_t at_once = std::max<std::int64_t>(1, kTokensAtOnce / window);
  for (std::int64_t row = 0; row < rows.rows; ++row) {
    const ContestBatch whole = task.for_test(rows.seed, rows.first + row, 1, tokens);
    struct Window {
      std::int64_t from, to;  // the places that are asked for
      std::size_t band;
    };
    std::vector<Window> windows;
    for (std::size_t band = 0; band < bands.size(); ++band) {
      for (std::int64_t from = bands[band].from; from < bands[band].to; from += stride) {
        windows.push_back({from, std::min(from + stride, bands[band].to), band});
      }
    }
    for (std::size_t first = 0; first < windows.size();
         first += static_cast<std::size_t>(at_once)) {
      const auto count =
          std::min<std::size_t>(static_cast<std::size_t>(at_once), windows.size() - first);
      Tensor ids(DType::int64, {static_cast<std::int64_t>(count), window});
      for (std::size_t i = 0; i < count; ++i) {
        std::copy_n(whole.ids.data<std::int64_t>() + windows[first + i].to - window, window,
                    ids.data<std::int64_t>() + static_cast<std::int64_t>(i) * window);
      }
      const Variable logits = logits_of(model, ids);
      for (std::size_t i = 0; i < count; ++i) {
        const Window& one = windows[first + i];
        const Read read{.logits = logits.value().data<float>() +
                                  static_cast<std::int64_t>(i) * window * vocabulary,
                        .begins = one.to - window,
                        .labels = whole.labels.data<std::int64_t>(),
                        .known = whole.known.data(),
                        .vocabulary = vocabulary};
        add_places(read, one.from, one.to, sums[one.band]);
      }
    }
  }
  return means_of(sums);
}

}  // namespace volvelle
