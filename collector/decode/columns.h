// Columns of a message that a target wrote.
#ifndef UTLZ_COLLECTOR_DECODE_COLUMNS_H_
#define UTLZ_COLLECTOR_DECODE_COLUMNS_H_

namespace utlz {

// A column is absent, which stands for zeros, or has `expected` values.
template <typename Column>
bool FitsOrAbsent(const Column& column, int expected) {
  return column.empty() || column.size() == expected;
}

template <typename Column>
auto ValueAt(const Column& column, int index) {
  return column.empty() ? typename Column::value_type{} : column.Get(index);
}

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DECODE_COLUMNS_H_
