// Decodes requests of OTLP, each a file, with OpenTelemetry's own definitions, and prints them as
// JSON lines. node decode_otlp.js FOLDER FILE…: FOLDER is @opentelemetry/otlp-transformer 0.57.
const fs = require("fs");
const path = require("path");
const [folder, ...files] = process.argv.slice(2);
const { opentelemetry } = require(path.resolve(folder, "build/src/generated/root.js"));
const Request = opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
for (const file of files) {
  const request = Request.decode(fs.readFileSync(file));
  const problem = Request.verify(request);
  if (problem) throw new Error(problem);
  console.log(JSON.stringify(Request.toObject(request, { longs: String, enums: String })));
}
