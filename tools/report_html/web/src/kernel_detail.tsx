import { boundStyle } from "./bounds";
import { useReport } from "./context";
import { deviceLabelOf } from "./device_roofs";
import * as format from "./format";
import * as measured from "./measured";
import { Section } from "./section";
import type { DataTypeFlops, Kernel, Summary } from "./summary";

type Fact = [label: string, value: string];

// A figure that is a most has no error beside it: the most holds it.
function errorUnless(isMost: boolean, error: number | undefined, text: (size: number) => string,
  assumed: number | undefined): string {
  return isMost ? "" : format.plusMinus(error, text, assumed);
}

function typeFlops({ flops, flops_error: error, flops_error_assumed: assumed }: DataTypeFlops): string {
  const most = format.NORMAL_95 * (error ?? 0) >= (flops ?? 0);
  return format.measured(flops, error, false, format.flops) +
    errorUnless(most, error, format.flops, assumed);
}

function factsOf(summary: Summary, kernel: Kernel): Fact[] {
  const facts: Fact[] = [
    ["GPU", deviceLabelOf(summary, kernel) ?? "–"],
    ["grid", format.dimensions(kernel.grid)],
    ["block", format.dimensions(kernel.block)],
    ["cluster", format.dimensions(kernel.cluster)],
    ["registers a thread", format.count(kernel.registers_per_thread)],
    ["shared memory", format.bytes(kernel.shared_bytes)],
    ["launches", format.count(kernel.launches)],
    ["of these traced", format.count(kernel.launches_traced)],
    ["CUDA graph nodes", kernel.graph ? format.count(kernel.graph_nodes) : "–"],
    ["time", format.time(kernel.time_ns) + format.plusMinus(kernel.time_error_ns, format.time)],
    ["mean", format.time(kernel.time_mean_ns)],
    ["median", format.time(kernel.time_p50_ns)],
    ["99 %", format.time(kernel.time_p99_ns)],
    ["shortest to longest",
      `${format.time(kernel.time_minimum_ns)} to ${format.time(kernel.time_maximum_ns)}`],
    ["FLOPs", measured.flops(kernel) + errorUnless(measured.mayBeNone(kernel),
      kernel.flops_error, format.flops, kernel.flops_error_assumed)],
    ...(measured.bytesMayBeNone(kernel) ? [] : [
      ["DRAM read", format.bytes(kernel.dram_read_bytes)],
      ["DRAM written", format.bytes(kernel.dram_write_bytes)]] as Fact[]),
    ["DRAM total", measured.bytes(kernel) + errorUnless(measured.bytesMayBeNone(kernel),
      kernel.dram_bytes_error, format.bytes, kernel.dram_bytes_error_assumed)],
    ["L2", format.bytes(kernel.l2_bytes)],
    ["SM active", format.share(kernel.sm_active_share)],
    ["tensor active", format.share(kernel.tensor_active_share)],
    ["limited by", boundStyle(kernel.bound).label],
    ["roofline time", format.time(kernel.roofline_time_ns)],
    ["roofline efficiency", format.share(kernel.roofline_efficiency)],
    ["savings", format.time(kernel.estimated_savings_ns) +
      format.plusMinus(kernel.estimated_savings_error_ns, format.time,
        kernel.estimated_savings_error_assumed_ns)],
    ["FLOPs are", format.sourceText(kernel.flops_source)],
    ["bytes are", format.sourceText(kernel.bytes_source)],
  ];
  return facts.filter(([, value]) => value !== "–" && value !== "– to –");
}

function Types({ kernel }: { kernel: Kernel }) {
  const parts = kernel.flops_by_type ?? [];
  if (parts.length === 0) return null;
  return (
    <table class="plain">
      <thead><tr><th>data type</th><th>FLOPs</th><th>source</th></tr></thead>
      <tbody>
        {parts.map((part) => (
          <tr>
            <td>{part.data_type}{part.assumed && " (assumed from the name)"}</td>
            <td>{typeFlops(part)}</td>
            <td>{format.sourceText(part.source)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Detail({ summary, kernel }: { summary: Summary; kernel: Kernel }) {
  return (
    <article class="detail">
      <h3>{kernel.short_name ?? kernel.name} {kernel.variant_label}</h3>
      <p class="name">{kernel.name}</p>
      {kernel.withheld_reason && <p class="withheld">Counters withheld: {kernel.withheld_reason}</p>}
      {(kernel.merged_with ?? []).length > 0 && (
        <p class="withheld">Cannot be told apart from: {(kernel.merged_with ?? []).join(", ")}</p>
      )}
      <dl class="facts">
        {factsOf(summary, kernel).map(([label, value]) => <div><dt>{label}</dt><dd>{value}</dd></div>)}
      </dl>
      <Types kernel={kernel} />
    </article>
  );
}

// The kernels chosen one by one, in full.
export function KernelDetail() {
  const { summary, selection } = useReport();
  const chosen = summary.kernels.filter((kernel) => selection.kernels.has(kernel.id)).slice(0, 4);
  if (chosen.length === 0) return null;
  return (
    <Section id="chosen" title={chosen.length === 1 ? "The chosen kernel" : "The chosen kernels"}>
      <div class="details">{chosen.map((kernel) =>
        <Detail key={kernel.id} summary={summary} kernel={kernel} />)}</div>
    </Section>
  );
}
