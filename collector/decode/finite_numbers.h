// Removes numbers that are not finite from a message that a file gave. utlz writes infinity for the
// limit of an alert that is off alone, and NaN for unknown values of a timeline alone; a forged or
// damaged file may have either anywhere.
//
// Thread safety: a function only.
#ifndef UTLZ_COLLECTOR_DECODE_FINITE_NUMBERS_H_
#define UTLZ_COLLECTOR_DECODE_FINITE_NUMBERS_H_

#include "google/protobuf/message.h"

namespace utlz {

// In `message` and all messages in it: clears each field that is infinite or NaN, so that its value
// is unknown. Empties a list with such a value: fewer values, or a zero among them, would be false.
// Of a TimelineSeries an infinite value becomes NaN instead, and NaN stays; so does an infinite
// limit of an alert. `message` was parsed, so it nests no deeper than the parser allows.
void ClearNonFinite(google::protobuf::Message* message);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DECODE_FINITE_NUMBERS_H_
