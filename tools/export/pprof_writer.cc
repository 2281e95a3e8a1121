#include "tools/export/pprof_writer.h"

#include <protozero/pbf_writer.hpp>

#include "proto/valid_text.h"
#include "tools/export/gzip_stream.h"
#include "tools/export/pprof_fields.h"

namespace utlz {
namespace {

namespace field = pprof_fields;
using protozero::pbf_writer;

}  // namespace

PprofWriter::PprofWriter(std::span<const PprofValueType> types) {
  StringOf("");  // the format's first string
  for (const PprofValueType& type : types) {
    std::string message;
    pbf_writer writer(message);
    writer.add_int64(field::kType, StringOf(type.type));
    writer.add_int64(field::kUnit, StringOf(type.unit));
    Emit(field::kSampleTypes, message);
  }
  if (!types.empty()) {
    pbf_writer(body_).add_int64(field::kDefaultSampleType, StringOf(types.front().type));
  }
}

void PprofWriter::Emit(uint32_t field, const std::string& message) {
  pbf_writer(body_).add_message(field, message);
}

int64_t PprofWriter::StringOf(std::string_view text) {
  std::string valid(text);
  MakeValidUtf8(valid.data(), valid.size());
  const auto [entry, is_new] =
      strings_.try_emplace(std::move(valid), static_cast<int64_t>(strings_.size()));
  if (is_new) pbf_writer(string_table_).add_string(field::kStrings, entry->first);
  return entry->second;
}

void PprofWriter::SetTime(uint64_t start_ns, uint64_t duration_ns) {
  pbf_writer writer(body_);
  writer.add_int64(field::kTimeNanos, static_cast<int64_t>(start_ns));
  writer.add_int64(field::kDurationNanos, static_cast<int64_t>(duration_ns));
}

void PprofWriter::AddComment(std::string_view comment) {
  pbf_writer(body_).add_int64(field::kComments, StringOf(comment));
}

uint64_t PprofWriter::FunctionOf(const PprofFrame& frame) {
  const FunctionKey key = {StringOf(frame.name),
                           StringOf(frame.system_name.empty() ? frame.name : frame.system_name),
                           StringOf(frame.file)};
  const auto [entry, is_new] = functions_.try_emplace(key, functions_.size() + 1);
  if (is_new) {
    std::string message;
    pbf_writer writer(message);
    writer.add_uint64(field::kFunctionIdentifier, entry->second);
    writer.add_int64(field::kName, std::get<0>(key));
    writer.add_int64(field::kSystemName, std::get<1>(key));
    writer.add_int64(field::kFileName, std::get<2>(key));
    Emit(field::kFunctions, message);
  }
  return entry->second;
}

uint64_t PprofWriter::LocationOf(const PprofFrame& frame) {
  const uint64_t function = FunctionOf(frame);
  const auto [entry, is_new] =
      locations_.try_emplace({function, frame.line}, locations_.size() + 1);
  if (is_new) {
    std::string message;
    {
      pbf_writer writer(message);
      writer.add_uint64(field::kLocationId, entry->second);
      pbf_writer line(writer, field::kLines);
      line.add_uint64(field::kFunctionId, function);
      if (frame.line != 0) line.add_int64(field::kLineNumber, static_cast<int64_t>(frame.line));
    }
    Emit(field::kLocations, message);
  }
  return entry->second;
}

void PprofWriter::AddSample(std::span<const uint64_t> locations, std::span<const int64_t> values,
                            std::span<const PprofLabel> labels) {
  std::string message;
  {
    pbf_writer writer(message);
    writer.add_packed_uint64(field::kLocationIds, locations.begin(), locations.end());
    writer.add_packed_int64(field::kValues, values.begin(), values.end());
    for (const PprofLabel& label : labels) {
      pbf_writer entry(writer, field::kLabels);
      entry.add_int64(field::kKey, StringOf(label.key));
      if (label.text.empty()) {
        entry.add_int64(field::kNumber, static_cast<int64_t>(label.number));
      } else {
        entry.add_int64(field::kText, StringOf(label.text));
      }
    }
  }
  Emit(field::kSamples, message);
}

void PprofWriter::Write(std::ostream* out) {
  GzipStream gzip(out);
  gzip.Write(body_);
  gzip.Write(string_table_);
  gzip.Finish();
}

}  // namespace utlz
