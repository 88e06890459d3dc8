#pragma once

#include <string>

#include "volvelle/tensor/view.h"

namespace volvelle {

/// What an operator demands of its arrays, with messages that begin with its name.
class OperatorChecks {
 public:
  constexpr explicit OperatorChecks(const char* operation) : operation_(operation) {}

  /// Throws InvalidArgument("[operation] " + text).
  [[noreturn]] void refuse(const std::string& text) const;

  /// Present, of a floating dtype, no negative axis, a pointer where there are elements, and byte
  /// offsets that fit 63 bits.
  void floats(const char* name, const View& view) const;
  /// The same, and no two elements share memory.
  void written(const char* name, const MutableView& view) const;
  /// Both float64 or neither; an absent one goes with everything.
  void same_width(const char* name, const View& view, const char* other_name,
                  const View& other) const;
  /// At least `least` axes.
  void rank(const char* name, const View& view, int least, const char* axes) const;
  /// `shape` exactly; `axes` are its letters, for the message.
  void shape(const char* name, const View& view, const Shape& shape, const char* axes) const;
  /// No byte of `output` belongs to `input`.
  void apart(const char* output_name, const MutableView& output, const char* input_name,
             const View& input) const;

 private:
  const char* operation_;
};

/// "x (2,12,64)", for messages.
std::string named_shape(const char* name, const View& view);

/// Stride of an axis counted from the end (-1 is the last): 0 where its length is 1.
std::int64_t stride_from_end(const View& view, int axis);

}  // namespace volvelle
