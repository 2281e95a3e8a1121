// How many rows a matrix product's tile has, by the kernel's name: a product of fewer rows computes
// the others for nothing. Pure, thread-safe.
#ifndef UTLZ_COLLECTOR_KERNEL_NAMES_TILE_ROWS_H_
#define UTLZ_COLLECTOR_KERNEL_NAMES_TILE_ROWS_H_

#include <string_view>

namespace utlz {

// Reads names like nvjet's "…_64x8_64x16_…". The first pair of numbers, here 64x8, is the size of a
// tile. Libraries lay a tile's short side along the short side of the product, so the rows are the
// smaller number, here 8. 0: the name does not tell.
int RowsOfTile(std::string_view mangled_name);

// Libraries choose tiles of so few rows only for products that have few rows themselves.
constexpr bool IsNarrowTile(int rows) { return rows > 1 && rows <= 16; }

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_NAMES_TILE_ROWS_H_
