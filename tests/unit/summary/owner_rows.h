// Rows of owners, and how tests look into them.
#ifndef UTLZ_TESTS_UNIT_SUMMARY_OWNER_ROWS_H_
#define UTLZ_TESTS_UNIT_SUMMARY_OWNER_ROWS_H_

#include <string>

#include "proto/summary.pb.h"

namespace utlz {

using Rows = google::protobuf::RepeatedPtrField<OwnerSummary>;

// Null where there is none.
inline const OwnerSummary* RowNamed(const Rows& rows, const std::string& name) {
  for (const OwnerSummary& row : rows) {
    if (row.name() == name) return &row;
  }
  return nullptr;
}

inline double OwnTime(const Rows& rows) {
  double sum = 0;
  for (const OwnerSummary& row : rows) sum += row.own_time_ns();
  return sum;
}

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_SUMMARY_OWNER_ROWS_H_
