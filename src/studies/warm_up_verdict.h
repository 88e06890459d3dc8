#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace volvelle {

/// How a run of the warm-up study ended.
enum class RunVerdict : std::uint8_t { learned, stuck, broke };

/// "learned", "stuck", "broke".
std::string_view name_of(RunVerdict verdict) noexcept;

/// Watches the losses of a run, one after the other.
class VerdictWatch {
 public:
  static constexpr int kWindow = 20;
  static constexpr double kLearnedBelow = 0.7;  ///< of the guess
  static constexpr double kBrokeAbove = 1.05;   ///< of the first loss
  static constexpr double kSpreads = 4;         ///< beyond what chance does to a mean of kWindow

  /// `first` is what the untrained network loses, `spread` the standard deviation of that from
  /// batch to batch, `guess` what the uniform guess loses. Where batches are small, chance alone
  /// lifts a mean of kWindow losses above kBrokeAbove: then it has to be kSpreads of its own
  /// deviations above.
  VerdictWatch(double first, double guess, double spread = 0);

  /// The loss of the next step, not finite where the step could not be made.
  void add(double loss);
  /// Whether it is certain that the run broke: it may end here.
  bool broken() const noexcept { return broken_; }

  /// Of the last kWindow losses, or of all where there are fewer; not finite where one was not.
  double last_mean() const;
  RunVerdict verdict() const;

 private:
  double first_, guess_, bound_;
  std::array<double, kWindow> last_{};
  std::int64_t count_ = 0;
  int above_in_a_row_ = 0;
  bool broken_ = false;
};

}  // namespace volvelle
