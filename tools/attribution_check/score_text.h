// A score as text.
#ifndef UTLZ_TOOLS_ATTRIBUTION_CHECK_SCORE_TEXT_H_
#define UTLZ_TOOLS_ATTRIBUTION_CHECK_SCORE_TEXT_H_

#include <string>

#include "tools/attribution_check/attribution_score.h"

namespace utlz {

std::string ScoreJson(const AttributionScore& score);
std::string ScoreTable(const AttributionScore& score);

}  // namespace utlz

#endif  // UTLZ_TOOLS_ATTRIBUTION_CHECK_SCORE_TEXT_H_
