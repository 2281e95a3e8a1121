// Half of a 95 % interval ÷ its standard error, of what is normally distributed.
#ifndef UTLZ_COLLECTOR_NORMAL_INTERVAL_H_
#define UTLZ_COLLECTOR_NORMAL_INTERVAL_H_

namespace utlz {

inline constexpr double kNormal95 = 1.959964;

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_NORMAL_INTERVAL_H_
