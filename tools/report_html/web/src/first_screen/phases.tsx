import * as format from "../format";
import type { Phase } from "../summary";
import { phaseRows } from "./phase_rows";

// A bar as long as the run, and its parts in words.
export function Phases({ phases }: { phases: Phase[] }) {
  const rows = phaseRows(phases);
  if (rows.length === 0) return null;
  return (
    <div class="phases">
      <p class="levels"><b>Run:</b> {rows.map((row, index) => (
        <span title={row.meaning}>{index > 0 && " · "}{row.label}{" "}{format.time(row.time_ns)}</span>
      ))}</p>
      <span class="phase-bar" aria-hidden="true">
        {rows.map((row) => <i class={["steps", "work"].includes(row.name) ? "of-figures" : ""}
          title={`${row.label}: ${format.time(row.time_ns)}`}
          style={{ width: `${row.part * 100}%` }} />)}
      </span>
    </div>
  );
}
