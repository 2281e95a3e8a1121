// Prices in text. Thread safety: functions only.
#ifndef UTLZ_COLLECTOR_TEXT_PRICE_TEXT_H_
#define UTLZ_COLLECTOR_TEXT_PRICE_TEXT_H_

#include <string>

namespace utlz {

// With as many digits as it needs, and no exponent: "0.0000339".
std::string PriceText(double price);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TEXT_PRICE_TEXT_H_
