// Any message of the summary as JSON, by reflection; the rules are in json.h.
#ifndef UTLZ_TOOLS_JSON_MESSAGE_JSON_H_
#define UTLZ_TOOLS_JSON_MESSAGE_JSON_H_

#include <google/protobuf/message.h>

#include <nlohmann/json.hpp>

namespace utlz {

nlohmann::ordered_json MessageToJson(const google::protobuf::Message& message);

}  // namespace utlz

#endif  // UTLZ_TOOLS_JSON_MESSAGE_JSON_H_
