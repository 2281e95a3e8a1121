// What an agent and the collector of `utlz run` know each other by, besides the path of a socket:
// the path may be somebody else's by the time that a process uses it. `utlz run` makes the token at
// random and puts it into the command's environment. Each side shows its own half, so that who has
// seen one cannot give the other.
#ifndef UTLZ_PROTO_RUN_TOKEN_H_
#define UTLZ_PROTO_RUN_TOKEN_H_

#include <cstddef>
#include <cstdint>

namespace utlz {

inline constexpr char kTokenVariable[] = "UTLZ_TOKEN";
inline constexpr size_t kTokenHalfBytes = 16;
inline constexpr size_t kTokenTextBytes = 4 * kTokenHalfBytes + 1;  // hexadecimal, and its end

struct RunToken {
  uint8_t agents[kTokenHalfBytes];      // in AgentHello
  uint8_t collectors[kTokenHalfBytes];  // in AgentWelcome
};
static_assert(sizeof(RunToken) == 2 * kTokenHalfBytes);

// Takes as long wherever the difference is.
inline bool IsSameHalf(const uint8_t (&one)[kTokenHalfBytes],
                       const uint8_t (&other)[kTokenHalfBytes]) {
  volatile uint8_t difference = 0;
  for (size_t i = 0; i < kTokenHalfBytes; ++i) {
    difference = static_cast<uint8_t>(difference | (one[i] ^ other[i]));
  }
  return difference == 0;
}

inline void WriteToken(const RunToken& token, char (&text)[kTokenTextBytes]) {
  constexpr char kDigits[] = "0123456789abcdef";
  char* out = text;
  for (const auto* half : {&token.agents, &token.collectors}) {
    for (const uint8_t byte : *half) {
      *out++ = kDigits[byte >> 4];
      *out++ = kDigits[byte & 15];
    }
  }
  *out = 0;
}

// False for anything but a token's text; null is none.
inline bool ParseToken(const char* text, RunToken* token) {
  if (text == nullptr) return false;
  const auto digit = [](char letter) {
    if (letter >= '0' && letter <= '9') return letter - '0';
    if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
    return -1;
  };
  for (auto* half : {&token->agents, &token->collectors}) {
    for (uint8_t& byte : *half) {
      const int high = digit(text[0]);
      const int low = high < 0 ? -1 : digit(text[1]);
      if (low < 0) return false;
      byte = static_cast<uint8_t>(high << 4 | low);
      text += 2;
    }
  }
  return *text == 0;
}

}  // namespace utlz

#endif  // UTLZ_PROTO_RUN_TOKEN_H_
