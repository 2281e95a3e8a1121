import { boundStyle } from "../bounds";
import * as format from "../format";
import type { Owner } from "../summary";
import { forwardTime, hasPasses, type OwnerNode } from "./owner_tree";

type Fact = [label: string, value: string];

const withShare = (time: number | undefined, share: number | undefined) =>
  format.time(time) + (share === undefined ? "" : ` (${format.share(share)})`);

function factsOf(owner: Owner, hasInside: boolean): Fact[] {
  const facts: Fact[] = [
    ["time", withShare(owner.time_ns, owner.time_share)],
    ...(hasInside && (owner.own_time_ns ?? 0) > 0
      ? [["of it in no part inside", format.time(owner.own_time_ns)]] as Fact[] : []),
    ...(!hasPasses(owner) ? [] : [
      ["forward", format.time(forwardTime(owner))],
      ["backward", format.time(owner.backward_time_ns)],
      ["recomputed", format.time(owner.recomputation_time_ns)],
    ] as Fact[]),
    ["launches", format.count(owner.launches)],
    ["idle before", format.time(owner.idle_before_ns)],
    ["FLOPs", format.flops(owner.flops) + format.plusMinus(owner.flops_error, format.flops)],
    ["DRAM bytes", format.bytes(owner.dram_bytes) +
      format.plusMinus(owner.dram_bytes_error, format.bytes)],
    ["HFU", format.share(owner.hfu)],
    ["limited by", owner.bound === undefined ? "–" : boundStyle(owner.bound).label],
    ["estimated savings", format.time(owner.estimated_savings_ns) +
      format.plusMinus(owner.estimated_savings_error_ns, format.time)],
    ...((owner.time_without_counters_ns ?? 0) > 0
      ? [["time without counters", format.time(owner.time_without_counters_ns)]] as Fact[] : []),
    ...((owner.inferred_time_ns ?? 0) > 0
      ? [["inferred, not seen", format.time(owner.inferred_time_ns)]] as Fact[] : []),
  ];
  return facts.filter(([, value]) => value !== "–");
}

function describe(owner: Owner): string {
  const place = owner.file === undefined ? "" : `${owner.file}:${owner.line ?? "?"}`;
  const origin = owner.origin === "kernel_name" ? "as the compiler named the kernel"
    : owner.origin === "compiled_code" ? "as the compiler wrote beside the launch"
    : owner.origin === "family" ? "family of kernels: their operations are not known" : "";
  return [owner.module_class, place, origin, (owner.instances ?? 1) > 1 &&
    `${owner.instances} ${owner.kind === "repeated_part" ? "times" : "layers"}`,
    (owner.idle_before_ns ?? 0) > 0 && owner.idle_after && `idle mostly after ${owner.idle_after}`]
    .filter(Boolean).join("; ");
}

const MOST_IDLE_FRAMES = 5;

// What launching threads were in while the GPU waited for this line, by samples.
function IdleFrames({ owner }: { owner: Owner }) {
  const sampled = owner.sampled_idle_ns ?? 0;
  if (sampled <= 0) return null;
  return (
    <div class="idle-frames">
      <h4>In the idle time before it, launching threads were in</h4>
      <ol>
        {(owner.idle_frames ?? []).slice(0, MOST_IDLE_FRAMES).map((frame, i) => (
          <li key={frame}>{format.share((owner.idle_frame_ns?.[i] ?? 0) / sampled)} {frame}</li>
        ))}
      </ol>
      <p class="muted">sampled in {format.time(sampled)} of it</p>
    </div>
  );
}

// The figures of one part, under the graph.
export function OwnerFacts({ node }: { node: OwnerNode }) {
  const { owner } = node;
  const described = describe(owner);
  return (
    <div class="detail owner-facts" role="status">
      <h3>{owner.name ?? node.label}</h3>
      {described && <p class="muted">{described}</p>}
      <dl class="facts">
        {factsOf(owner, node.children.length > 0).map(([label, value]) => (
          <div key={label}><dt>{label}</dt><dd>{value}</dd></div>
        ))}
      </dl>
      <IdleFrames owner={owner} />
    </div>
  );
}
