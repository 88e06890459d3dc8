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

  /// `first` is what the untrained network loses, `guess` what the uniform guess does.
  VerdictWatch(double first, double guess) : first_(first), guess_(guess) {}

  /// The loss of the next step, not finite where the step could not be made.
  void add(double loss);
  /// Whether it is certain that the run broke: it may end here.
  bool broken() const noexcept { return broken_; }

  /// Of the last kWindow losses, or of all where there are fewer; not finite where one was not.
  double last_mean() const;
  RunVerdict verdict() const;

 private:
  double first_, guess_;
  std::array<double, kWindow> last_{};
  std::int64_t count_ = 0;
  int above_in_a_row_ = 0;
  bool broken_ = false;
};

}  // namespace volvelle
