// Makes the history's page of a report in JSON, as utlz does: make_history_page OUT REPORT.
#include <google/protobuf/util/json_util.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "tools/history_report/history_html.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: make_history_page OUT REPORT\n";
    return 2;
  }
  std::ifstream file(argv[2], std::ios::binary);
  const std::string json{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  utlz::HistoryReport report;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &report);
  if (!status.ok()) {
    std::cerr << status.ToString() << "\n";
    return 1;
  }
  std::ofstream(argv[1], std::ios::binary) << utlz::RenderHistoryHtml(report);
  return 0;
}
