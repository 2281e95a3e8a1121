// What variants of one kernel have in common: libraries choose tiles, stages and vector widths anew
// for each size of a problem.
#ifndef UTLZ_COLLECTOR_KERNEL_NAMES_NAME_WITHOUT_TILES_H_
#define UTLZ_COLLECTOR_KERNEL_NAMES_NAME_WITHOUT_TILES_H_

#include <string>
#include <string_view>

namespace utlz {

// The short name up to what tells a tile, such as `64x8`: "nvjet_sm90_tst". May hold any bytes.
std::string NameWithoutTiles(std::string_view mangled_name);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_NAMES_NAME_WITHOUT_TILES_H_
