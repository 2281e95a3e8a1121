// The smaller tables: communication, copies, NVTX ranges, processes, memory.
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { useReport } from "./context";
import * as format from "./format";
import { Section } from "./section";

// Titles of columns that hold text, not numbers, are in `text`: they stand to the left as it does.
export function Plain({ columns, text = [], children }:
  { columns: string[]; text?: string[]; children: ComponentChildren }) {
  return (
    <div class="scroll"><table class="plain">
      <thead><tr>{columns.map((column) => (
        <th scope="col" class={text.includes(column) ? "text" : undefined}>{column}</th>
      ))}</tr></thead>
      <tbody>{children}</tbody>
    </table></div>
  );
}

export function Communications() {
  const { summary } = useReport();
  const rows = summary.communication;
  if (rows.length === 0) return null;
  const notes = new Set(rows.map((row) => row.size_note).filter((note) => note !== undefined));
  const sizes = rows.flatMap((row) => (row.sizes ?? []).map((size) => ({ row, size })));
  return (
    <Section id="communication" title="Communication"
      note={notes.size > 0 ? [...notes].join("; ") : undefined}>
      <Plain columns={["collective", "launches", "time", "exposed", "bytes", "algorithm bandwidth",
        "bus bandwidth"]}>
        {rows.map((row) => (
          <tr>
            <th scope="row">{row.collective}</th>
            <td>{format.count(row.launches)}</td>
            <td>{format.time(row.time_ns)}</td>
            <td>{format.time(row.exposed_ns)}</td>
            <td>{format.bytes(row.bytes)}</td>
            <td>{format.byteRate(row.algorithm_bytes_per_second)}</td>
            <td>{format.byteRate(row.bus_bytes_per_second)}</td>
          </tr>
        ))}
      </Plain>
      {sizes.length > 1 && (
        <details>
          <summary>By size of the message</summary>
          <Plain columns={["collective", "ranks", "launches", "bytes of each", "time of each",
            "algorithm bandwidth", "bus bandwidth"]}>
            {sizes.map(({ row, size }) => (
              <tr>
                <th scope="row">{row.collective}</th>
                <td>{format.count(size.ranks)}</td>
                <td>{format.count(size.launches)}</td>
                <td>{format.bytes(size.bytes)}</td>
                <td>{format.time(size.time_ns)}</td>
                <td>{format.byteRate(size.algorithm_bytes_per_second)}</td>
                <td>{format.byteRate(size.bus_bytes_per_second)}</td>
              </tr>
            ))}
          </Plain>
        </details>
      )}
    </Section>
  );
}

export function Copies() {
  const { summary, selection } = useReport();
  const rows = summary.copies.filter((copy) =>
    selection.device === undefined || copy.device_uuid === selection.device);
  if (rows.length === 0) return null;
  const gpuOf = (uuid: string | undefined) => {
    const index = summary.devices.findIndex((device) => device.uuid === uuid);
    return summary.devices.length > 1 && index >= 0 ? `, GPU ${index}` : "";
  };
  return (
    <Section id="copies" title="Copies">
      <Plain columns={["kind", "copies", "time", "exposed", "bytes", "rate"]}>
        {rows.map((row) => (
          <tr>
            <th scope="row">{row.kind}{row.pageable && <span class="tag warn">pageable</span>}
              {gpuOf(row.device_uuid)}</th>
            <td>{format.count(row.copies)}</td>
            <td>{format.time(row.time_ns)}</td>
            <td>{format.time(row.exposed_ns)}</td>
            <td>{format.bytes(row.bytes)}</td>
            <td>{format.byteRate(row.bytes_per_second)}</td>
          </tr>
        ))}
      </Plain>
    </Section>
  );
}

const MARKERS_AT_FIRST = 20;

export function Markers() {
  const { summary, selection, select } = useReport();
  const [all, setAll] = useState(false);
  if (summary.nvtx.length === 0) return null;
  const rows = summary.nvtx.map((marker, index) => ({ marker, index }))
    .sort((a, b) => (b.marker.time_ns ?? 0) - (a.marker.time_ns ?? 0))
    .slice(0, all ? undefined : MARKERS_AT_FIRST);
  const name = (marker: { domain?: string; name?: string }) =>
    [marker.domain, marker.name].filter(Boolean).join(": ");
  return (
    <Section id="nvtx" title="NVTX ranges">
      <Plain columns={["range", "count", "wall", "launches", "kernel time", "FLOPs", "DRAM bytes"]}>
        {rows.map(({ marker, index }) => (
          <tr class={selection.marker === index ? "chosen" : ""}>
            <th scope="row">
              {marker.kernel_ids
                ? <button type="button" class="link" aria-pressed={selection.marker === index}
                  onClick={() => select({ kind: "marker",
                    index: selection.marker === index ? undefined : index })}>{name(marker)}</button>
                : name(marker)}
            </th>
            <td>{format.count(marker.count)}</td>
            <td>{format.time(marker.time_ns)}</td>
            <td>{format.count(marker.launches)}</td>
            <td>{format.time(marker.kernel_time_ns)}</td>
            <td>{format.flops(marker.flops)}</td>
            <td>{format.bytes(marker.dram_bytes)}</td>
          </tr>
        ))}
      </Plain>
      {!all && summary.nvtx.length > MARKERS_AT_FIRST && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {format.count(summary.nvtx.length)}</button>
      )}
    </Section>
  );
}

export function Processes() {
  const { summary, selection, select } = useReport();
  if (summary.processes.length === 0) return null;
  return (
    <Section id="processes" title="Processes">
      <Plain columns={["process", "rank", "command", "launches", "kernel time", "cost of tracing", "end"]}
        text={["command", "end"]}>
        {summary.processes.map((row) => (
          <tr class={selection.pid !== undefined && selection.pid === row.pid ? "chosen" : ""}>
            <th scope="row"><button type="button" class="link"
              aria-pressed={selection.pid !== undefined && selection.pid === row.pid}
              onClick={() => select({ kind: "pid",
                pid: selection.pid === row.pid ? undefined : row.pid })}>{row.pid}</button></th>
            <td>{row.rank ?? "–"}</td>
            <td class="text">{row.command}{row.agent && row.agent !== "traced" && ` (${row.agent})`}</td>
            <td>{format.count(row.launches)}</td>
            <td>{format.time(row.kernel_time_ns)}</td>
            <td>{format.share(row.agent_cost_share)}</td>
            <td class="text">{row.end ?? "–"}</td>
          </tr>
        ))}
      </Plain>
    </Section>
  );
}

export function MemoryUse() {
  const { summary } = useReport();
  const memory = summary.memory;
  if (!memory) return null;
  return (
    <Section id="memory" title="Memory" note={memory.source}>
      <dl class="facts">
        {memory.used_bytes_max !== undefined && <>
          <div><dt>highest use</dt><dd>{format.bytes(memory.used_bytes_max)}</dd></div>
          <div><dt>headroom</dt><dd>{format.bytes(memory.headroom_bytes)}</dd></div>
        </>}
        {memory.pool_used_bytes_max !== undefined && <>
          <div><dt>cudaMallocAsync&apos;s pools: in use</dt><dd>{format.bytes(memory.pool_used_bytes_max)}</dd></div>
          <div><dt>of them reserved</dt><dd>{format.bytes(memory.pool_reserved_bytes_max)}</dd></div>
        </>}
        {memory.leak_suspected && <>
          <div><dt>growth a step</dt><dd>{format.bytes(memory.growth_bytes_per_step)}</dd></div>
          <div><dt>growth</dt><dd>{format.byteRate(memory.growth_bytes_per_second)}</dd></div>
        </>}
      </dl>
      {memory.leak_suspected && <p class="withheld">Memory grows from step to step: a leak?</p>}
    </Section>
  );
}
