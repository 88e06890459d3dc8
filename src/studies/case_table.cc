#include "studies/case_table.h"

#include <utility>

namespace volvelle {

StudyTable table_of_cases(std::string key, std::string title, std::vector<StudyColumn> further) {
  StudyTable table;
  table.key = std::move(key);
  table.title = std::move(title);
  table.columns = {{"depth", "layers"}, {"placement", "placement"}, {"norm", "norm"}};
  table.identifying = 3;
  table.columns.insert(table.columns.end(), further.begin(), further.end());
  return table;
}

void add_row(StudyTable& table, const PlacementCase& one, std::vector<StudyCell> further) {
  std::vector<StudyCell> row{one.depth, one.placement, std::string(name_of(one.norm))};
  for (StudyCell& cell : further) row.push_back(std::move(cell));
  table.rows.push_back(std::move(row));
}

}  // namespace volvelle
