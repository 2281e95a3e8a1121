// The local time of a snapshot.
#ifndef UTLZ_TOOLS_TOP_TIME_OF_DAY_H_
#define UTLZ_TOOLS_TOP_TIME_OF_DAY_H_

#include <cstdint>
#include <ctime>
#include <string>

namespace utlz::top {

// "14:02:33" of a time since 1970.
inline std::string TimeOfDay(uint64_t time_ns) {
  const auto seconds = static_cast<std::time_t>(time_ns / 1'000'000'000);
  std::tm local = {};
  char text[16] = {};
  if (localtime_r(&seconds, &local) != nullptr) std::strftime(text, sizeof(text), "%T", &local);
  return text;
}

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_TIME_OF_DAY_H_
