import { BOUNDS } from "./bounds";
import { useReport } from "./context";
import { deviceLabel } from "./device_roofs";
import * as format from "./format";
import { LISTS, type OwnerListName } from "./owners/owner_tree";
import { isEmpty } from "./selection";

function Chip({ text, remove }: { text: string; remove: () => void }) {
  return (
    <button type="button" class="chip" onClick={remove} aria-label={`Remove the filter ${text}`}>
      {text} <span aria-hidden="true">×</span>
    </button>
  );
}

const ownerWord = (list: OwnerListName) => LISTS.find((one) => one.list === list)?.one ?? list;

// What is selected at present, and the filters that belong to no single view.
export function SelectionBar() {
  const { summary, selection, select, kernels } = useReport();
  const present = new Set(summary.kernels.map((kernel) => kernel.bound ?? "unknown"));
  const chosen = summary.kernels.filter((kernel) => selection.kernels.has(kernel.id));
  const marker = selection.marker === undefined ? undefined : summary.nvtx[selection.marker];
  return (
    <nav class="selection" aria-label="Filters">
      <div class="bounds" role="group" aria-label="Limited by">
        {BOUNDS.filter(({ bound }) => present.has(bound)).map(({ bound, label, color, meaning }) => (
          <button type="button" class="bound" title={meaning}
            aria-pressed={selection.bounds.has(bound)}
            onClick={() => select({ kind: "bound", bound })}>
            <i style={{ background: color }} />{label}
          </button>
        ))}
      </div>
      {summary.devices.length > 1 && (
        <label>GPU <select value={selection.device ?? ""}
          onChange={(event) => select({ kind: "device", uuid: event.currentTarget.value || undefined })}>
          <option value="">all</option>
          {summary.devices.map((device) => (
            <option value={device.uuid}>{deviceLabel(summary, device)}</option>
          ))}
        </select></label>
      )}
      {summary.processes.length > 1 && (
        <label>Process <select value={selection.pid ?? ""}
          onChange={(event) => select({ kind: "pid",
            pid: event.currentTarget.value ? Number(event.currentTarget.value) : undefined })}>
          <option value="">all</option>
          {summary.processes.map((process) => (
            <option value={process.pid}>
              {`${process.pid}${process.rank === undefined ? "" : ` (rank ${process.rank})`}`}
            </option>
          ))}
        </select></label>
      )}
      {selection.slice && <Chip text={`slice: ${selection.slice}`}
        remove={() => select({ kind: "slice", name: selection.slice ?? "", bounds: [] })} />}
      {selection.window && <Chip
        text={`${format.time(selection.window.start_ns)} to ${format.time(selection.window.end_ns)}`}
        remove={() => select({ kind: "window" })} />}
      {marker && <Chip text={`NVTX: ${marker.name ?? ""}`}
        remove={() => select({ kind: "marker" })} />}
      {selection.owner && <Chip text={`${ownerWord(selection.owner.list)}: ${selection.owner.name}`}
        remove={() => select({ kind: "owner" })} />}
      {chosen.slice(0, 4).map((kernel) => <Chip text={kernel.short_name ?? kernel.name ?? "kernel"}
        remove={() => select({ kind: "kernel", id: kernel.id, add: true })} />)}
      {chosen.length > 4 && <span>and {chosen.length - 4} more</span>}
      <span class="count" role="status">
        {format.count(kernels.length)} of {format.count(summary.kernels.length)} kernels
      </span>
      {!isEmpty(selection) && (
        <button type="button" onClick={() => select({ kind: "clear" })}>Clear (Esc)</button>
      )}
    </nav>
  );
}
