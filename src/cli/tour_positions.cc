#include "cli/tour_parts.h"
#include "cli/tour_text.h"
#include "volvelle/report/table.h"
#include "volvelle/studies/positions.h"

namespace volvelle::cli {

std::string positions_tour(const TourStyle& style) {
  StudyResult result = study_positions({}, {.threads = style.threads});
  return wrapped(
             "Nothing in query, key, softmax and weighted sum knows which token came first: the "
             "layer is permutation equivariant. Position comes in by one of four doors: a vector "
             "added to the token (sinusoidal, learned), queries and keys turned (rotary), a number "
             "added to a score by the offset of key and query, far ones sharing a number (clamped, "
             "T5's buckets, ALiBi), or a vector for the offset added to key or value (relative). "
             "The last three change the attention formula, not the embeddings. `volvelle schemes` "
             "has the table of all schemes; here each is tried on six tokens of width 8:",
             {.indent = 0}) +
         tour_heading("Six tokens, shuffled and shifted") + tour_brief(std::move(result), style);
}

}  // namespace volvelle::cli
