#include "tests/unit/export/pprof_file.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <protozero/pbf_reader.hpp>

namespace utlz {
namespace {

using protozero::pbf_reader;

std::string Inflated(const std::string& path) {
  std::string bytes;
  const gzFile file = gzopen(path.c_str(), "rb");
  EXPECT_NE(file, nullptr) << path;
  EXPECT_EQ(gzdirect(file), 0) << "it is no gzip file";
  char chunk[4096];
  for (int read; (read = gzread(file, chunk, sizeof(chunk))) > 0;) {
    bytes.append(chunk, static_cast<size_t>(read));
  }
  EXPECT_EQ(gzclose(file), Z_OK);
  return bytes;
}

struct Tables {
  std::vector<std::string> strings;
  std::map<uint64_t, PprofFileFrame> functions;
  std::map<uint64_t, PprofFileFrame> locations;
};

// Runs `take` on each message of this field of the profile.
template <typename Take>
void ForEach(const std::string& bytes, uint32_t field, Take take) {
  pbf_reader profile(bytes);
  while (profile.next()) {
    if (profile.tag() == field) {
      take(profile);
    } else {
      profile.skip();
    }
  }
}

Tables TablesOf(const std::string& bytes) {
  Tables tables;
  ForEach(bytes, 6, [&](pbf_reader& text) { tables.strings.push_back(text.get_string()); });
  ForEach(bytes, 5, [&](pbf_reader& entry) {
    pbf_reader message = entry.get_message();
    uint64_t id = 0;
    PprofFileFrame function;
    while (message.next()) {
      if (message.tag() == 1) {
        id = message.get_uint64();
      } else if (message.tag() == 2) {
        function.function = tables.strings.at(static_cast<size_t>(message.get_int64()));
      } else if (message.tag() == 4) {
        function.file = tables.strings.at(static_cast<size_t>(message.get_int64()));
      } else {
        message.skip();
      }
    }
    tables.functions[id] = function;
  });
  ForEach(bytes, 4, [&](pbf_reader& entry) {
    pbf_reader message = entry.get_message();
    uint64_t id = 0;
    PprofFileFrame frame;
    while (message.next()) {
      if (message.tag() == 1) {
        id = message.get_uint64();
        continue;
      }
      EXPECT_EQ(message.tag(), 4u);
      pbf_reader line = message.get_message();
      int64_t number = 0;
      while (line.next()) {
        if (line.tag() == 1) {
          frame = tables.functions.at(line.get_uint64());
        } else {
          number = line.get_int64();
        }
      }
      frame.line = number;
    }
    tables.locations[id] = frame;
  });
  return tables;
}

PprofFileSample SampleOf(pbf_reader message, const Tables& tables,
                         const std::vector<std::string>& types) {
  PprofFileSample sample;
  while (message.next()) {
    if (message.tag() == 1) {
      for (const uint64_t id : message.get_packed_uint64()) {
        sample.stack.push_back(tables.locations.at(id));
      }
    } else if (message.tag() == 2) {
      size_t at = 0;
      for (const int64_t value : message.get_packed_int64()) {
        const std::string& type = types.at(at++);
        sample.values[type.substr(0, type.find('/'))] = value;
      }
    } else {
      pbf_reader label = message.get_message();
      std::string key, text;
      while (label.next()) {
        const uint32_t tag = label.tag();
        const int64_t value = label.get_int64();
        if (tag == 1) key = tables.strings.at(static_cast<size_t>(value));
        if (tag == 2) text = tables.strings.at(static_cast<size_t>(value));
        if (tag == 3) text = std::to_string(value);
      }
      sample.labels[key] = text;
    }
  }
  return sample;
}

}  // namespace

int64_t PprofFile::Sum(const std::string& type) const { return SumUnder({}, type); }

int64_t PprofFile::SumUnder(const std::vector<std::string>& names, const std::string& type) const {
  int64_t sum = 0;
  for (const PprofFileSample& sample : samples) {
    bool fits = sample.stack.size() >= names.size();
    for (size_t i = 0; fits && i < names.size(); ++i) fits = sample.stack[i].function == names[i];
    if (fits) sum += sample.values.at(type);
  }
  return sum;
}

PprofFile ReadPprof(const std::string& path) {
  const std::string bytes = Inflated(path);
  const Tables tables = TablesOf(bytes);
  PprofFile file;
  EXPECT_FALSE(tables.strings.empty());
  EXPECT_EQ(tables.strings.at(0), "") << "the format asks for it";
  ForEach(bytes, 1, [&](pbf_reader& entry) {
    pbf_reader message = entry.get_message();
    std::string text;
    while (message.next()) {
      if (!text.empty()) text += '/';
      text += tables.strings.at(static_cast<size_t>(message.get_int64()));
    }
    file.types.push_back(text);
  });
  ForEach(bytes, 2, [&](pbf_reader& entry) {
    file.samples.push_back(SampleOf(entry.get_message(), tables, file.types));
  });
  ForEach(bytes, 13, [&](pbf_reader& entry) {
    file.comments.push_back(tables.strings.at(static_cast<size_t>(entry.get_int64())));
  });
  ForEach(bytes, 9, [&](pbf_reader& entry) { file.time_ns = entry.get_int64(); });
  return file;
}

}  // namespace utlz
