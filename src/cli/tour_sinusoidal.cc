#include <vector>

#include "cli/tour_parts.h"
#include "cli/tour_text.h"
#include "volvelle/report/table.h"
#include "volvelle/studies/sinusoidal.h"

namespace volvelle::cli {

std::string sinusoidal_tour(const TourStyle& style) {
  StudyResult result = study_sinusoidal({}, {.threads = style.threads});
  std::erase_if(result.tables, [](const StudyTable& table) { return table.key == "precision"; });
  return wrapped(
             "Attention reads its input as a set: shuffled tokens give the same outputs, shuffled. "
             "So something must tell the first token from the fifth. The original way is a row of "
             "numbers for each position, added to the token's vector: sines and cosines of the "
             "position, two columns to a rate, with rates that fall in equal ratios:",
             {.indent = 0}) +
         "\n    PE[p, 2i] = sin(p w_i)   PE[p, 2i+1] = cos(p w_i)   w_i = 10000^(-2i/d)\n\n" +
         wrapped(
             "In the original set-up x = sqrt(d) * embedding + PE, of which only as many rows are "
             "used as there are tokens. The table is fixed: it has no parameters, costs time and "
             "memory by its entries, and an odd width, where a sine would have no cosine, is "
             "refused by the study and said how to mend.",
             {.indent = 0}) +
         tour_heading("The table, and what sees a wrong one") +
         tour_brief(std::move(result), style);
}

}  // namespace volvelle::cli
