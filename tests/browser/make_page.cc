// Puts JSON files into the report page, as utlz does: make_page OUT SUMMARY [BEFORE DIFFERENCE].
#include <fstream>
#include <iostream>
#include <iterator>

#include "tools/report_html/page.h"

namespace {

std::string ReadFile(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 5) {
    std::cerr << "usage: make_page OUT SUMMARY [BEFORE DIFFERENCE]\n";
    return 2;
  }
  const std::string summary = ReadFile(argv[2]);
  const std::string before = argc == 5 ? ReadFile(argv[3]) : "";
  const std::string difference = argc == 5 ? ReadFile(argv[4]) : "";
  std::ofstream(argv[1], std::ios::binary) << utlz::MakePage({summary, before, difference});
  return 0;
}
