#include "tools/model_flops/decoder_family.h"

#include "tools/model_flops/families_json.h"

namespace utlz {

NLOHMANN_JSON_SERIALIZE_ENUM(Windows, {{Windows::kNone, "none"},
                                       {Windows::kAll, "all"},
                                       {Windows::kEvery, "every"},
                                       {Windows::kOptIn, "opt_in"},
                                       {Windows::kListed, "listed"},
                                       {Windows::kChunked, "chunked"}})

std::optional<Family> FamilyOf(const std::string& model_type) {
  const auto families = nlohmann::json::parse(kFamiliesJson);
  const auto found = families.find(model_type);
  if (found == families.end()) return std::nullopt;
  return Family{.gated_mlp = found->value("gated_mlp", true),
                .windows = found->value("windows", Windows::kNone),
                .dense_size = found->value("dense_size", ""),
                .named = found->value("named", std::vector<std::string>()),
                .defaults = found->value("defaults", nlohmann::json::object())};
}

}  // namespace utlz
