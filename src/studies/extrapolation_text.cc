#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "studies/extrapolation_task.h"
#include "training/row_draws.h"
#include "volvelle/base/error.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

// Tests have batches of their own, as those of the generated tasks do.
constexpr std::int64_t kTestBatches = std::int64_t{1} << 40;

/// The bytes of a text: its first nine tenths are learned, the others tested. Sequences begin at
/// places that are drawn.
class TextContest : public ExtrapolationTask {
 public:
  TextContest(const std::string& text, std::int64_t longest) : longest_(longest) {
    std::array<std::int64_t, 256> token{};
    token.fill(-1);
    for (const char byte : text) {
      std::int64_t& id = token[static_cast<unsigned char>(byte)];
      if (id < 0) id = kinds_++;
      ids_.push_back(id);
    }
    learned_ = static_cast<std::int64_t>(ids_.size()) / 10 * 9;
    const std::int64_t tested = static_cast<std::int64_t>(ids_.size()) - learned_;
    if (tested <= longest + 1) {
      throw InvalidArgument("[extrapolation] the last tenth of the text is tested: its " +
                            grouped(tested) + " bytes must be more than the " + grouped(longest) +
                            " of the longest test; give a longer text or shorter tests");
    }
    count_pairs();
  }

  std::string name() const override { return "text"; }
  std::string sentence() const override {
    return "the next byte of a text of " + grouped(static_cast<std::int64_t>(ids_.size())) +
           " bytes, " + std::to_string(kinds_) +
           " different ones; the last tenth is tested. Who knows the last byte only and says what "
           "followed it most often is right " +
           fixed(100 * guess_, 1) + "% of the time";
  }
  std::int64_t vocabulary() const override { return kinds_; }
  std::vector<ContestPart> parts() const override {
    return {{"bytes", "bytes", guess_, guess_, false}};
  }
  bool knows_best() const override { return false; }

  ContestBatch for_training(std::uint64_t seed, std::int64_t step, std::int64_t rows,
                            std::int64_t tokens) const override {
    return batch({.seed = seed, .index = step, .last_start = learned_ - tokens - 1}, rows, tokens);
  }
  ContestBatch for_test(std::uint64_t seed, std::int64_t first, std::int64_t rows,
                        std::int64_t tokens) const override {
    // Room for the longest, so that a shorter row begins at the same byte.
    return batch({.seed = seed,
                  .index = kTestBatches,
                  .first_row = first,
                  .first_start = learned_,
                  .last_start = static_cast<std::int64_t>(ids_.size()) - longest_ - 1},
                 rows, tokens);
  }

 private:
  struct Draw {
    std::uint64_t seed = 0;
    std::int64_t index = 0, first_row = 0;
    std::int64_t first_start = 0, last_start = 0;  ///< where sequences may begin
  };

  ContestBatch batch(const Draw& draw, std::int64_t rows, std::int64_t tokens) const {
    ContestBatch batch{.ids = Tensor(DType::int64, {rows, tokens}),
                       .labels = Tensor(DType::int64, {rows, tokens}),
                       .known = {}};
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t start =
          draw.first_start + RowDraws(draw.seed, draw.index, draw.first_row + row)
                                 .below(draw.last_start - draw.first_start + 1);
      const std::int64_t* bytes = ids_.data() + start;
      std::copy_n(bytes, tokens, batch.ids.data<std::int64_t>() + row * tokens);
      std::copy_n(bytes + 1, tokens, batch.labels.data<std::int64_t>() + row * tokens);
      for (std::int64_t i = 1; i <= tokens; ++i) {
        batch.known.push_back({.best = 0, .part = 0, .far = false, .right = {bytes[i], bytes[i]}});
      }
    }
    return batch;
  }

  /// How often the likeliest follower of the last byte is right, counted on what is learned.
  void count_pairs() {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(kinds_ * kinds_));
    for (std::int64_t i = 0; i + 1 < learned_; ++i) {
      ++counts[static_cast<std::size_t>(ids_[static_cast<std::size_t>(i)] * kinds_ +
                                        ids_[static_cast<std::size_t>(i + 1)])];
    }
    std::int64_t right = 0, of = 0;
    for (auto i = static_cast<std::size_t>(learned_); i + 1 < ids_.size(); ++i, ++of) {
      const auto row = counts.begin() + ids_[i] * kinds_;
      right += std::max_element(row, row + kinds_) - row == ids_[i + 1] ? 1 : 0;
    }
    guess_ = static_cast<double>(right) / static_cast<double>(of);
  }

  std::vector<std::int64_t> ids_;
  std::int64_t longest_, kinds_ = 0, learned_ = 0;
  double guess_ = 0;
};

}  // namespace

std::unique_ptr<ExtrapolationTask> make_text_contest(const std::string& text,
                                                     std::int64_t longest) {
  return std::make_unique<TextContest>(text, longest);
}

}  // namespace volvelle
