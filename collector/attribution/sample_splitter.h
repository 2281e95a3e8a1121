// Divides one sample's count among what ran in it, in proportion to the fitted rates.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_SAMPLE_SPLITTER_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_SAMPLE_SPLITTER_H_

#include <cstddef>
#include <vector>

#include "collector/attribution/rate_fit.h"
#include "collector/attribution/sample_walker.h"

namespace utlz::attribution {

// parts + idle + unattributed == counted, to rounding.
struct SplitSample {
  std::vector<double> parts;      // as Coverage::pieces
  std::vector<double> predicted;  // as Coverage::pieces
  double idle = 0;
  double unattributed = 0;
  double residual = 0;  // counted - predicted
};

// What the fit expects of one piece.
double Expected(const RateFit& fit, size_t index, const Coverage& coverage,
                const Coverage::Piece& piece);

void Split(const RateFit& fit, size_t index, const Coverage& coverage, double counted,
           SplitSample* split);

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_SAMPLE_SPLITTER_H_
