#include "collector/text/price_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "collector/text/number_text.h"

namespace utlz {

std::string PriceText(double price) {
  if (price >= 1000) return CompactCountText(price);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", price);
  if (price > 0 && price < 1e-4) {
    const int decimals = std::min(15, 2 - static_cast<int>(std::floor(std::log10(price))));
    std::snprintf(text.data(), text.size(), "%.*f", decimals, price);
    const std::string_view digits = text.data();
    return std::string(digits.substr(0, digits.find_last_not_of('0') + 1));
  }
  return text.data();
}

}  // namespace utlz
