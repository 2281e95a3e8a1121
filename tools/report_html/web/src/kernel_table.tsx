import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useReport } from "./context";
import { availableColumns, sortKernels, type Column } from "./kernel_columns";
import { Section } from "./section";
import type { Kernel } from "./summary";

const ROW_HEIGHT = 32;
const VIEW_HEIGHT = 560;
const SPARE_ROWS = 8;
const PRINTED_ROWS = 60;

interface Order { column: string; descending: boolean }

function HeaderCell({ id, title, hint, order, setOrder }:
  { id: string; title: string; hint: string; order: Order; setOrder: (order: Order) => void }) {
  const sorted = order.column === id;
  const state = sorted ? (order.descending ? "descending" : "ascending") : "none";
  return (
    <th scope="col" aria-sort={state} data-column={id}>
      <button type="button" title={hint}
        onClick={() => setOrder({ column: id, descending: sorted ? !order.descending : id !== "name" })}>
        {title}{sorted && <span aria-hidden="true">{order.descending ? " ▾" : " ▴"}</span>}
      </button>
    </th>
  );
}

function ColumnChooser({ columns, hidden, toggle }:
  { columns: Column[]; hidden: (column: Column) => boolean; toggle: (column: Column) => void }) {
  return (
    <details class="columns">
      <summary>Columns</summary>
      <div>
        {columns.map((column) => (
          <label title={column.hint}>
            <input type="checkbox" checked={!hidden(column)} onChange={() => toggle(column)} />
            {column.title}
          </label>
        ))}
      </div>
    </details>
  );
}

// Only the rows in sight exist, so that thousands of kernels scroll at once.
function useRowsInSight(rows: number, printing: boolean) {
  const frame = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const first = printing ? 0 : Math.max(0, Math.floor(top / ROW_HEIGHT) - SPARE_ROWS);
  const last = printing ? Math.min(rows, PRINTED_ROWS)
    : Math.min(rows, Math.ceil((top + VIEW_HEIGHT) / ROW_HEIGHT) + SPARE_ROWS);
  return { frame, first: Math.min(first, rows), last, onScroll: () => setTop(frame.current?.scrollTop ?? 0) };
}

// A name too long for its column is cut before its end, which often is what tells two apart.
const KEPT_END = 14;

function Name({ kernel }: { kernel: Kernel }) {
  const name = kernel.short_name ?? kernel.name ?? "";
  const end = [...name].slice(-KEPT_END).join("");
  return (
    <div class="cut">
      {kernel.graph && <span class="tag" title="launched as CUDA graph nodes">graph</span>}
      <span class="head">{name.slice(0, name.length - end.length)}</span>
      <span class="tail">{end}</span>
      <small>{shapeText(kernel)}</small>
    </div>
  );
}

function shapeText(kernel: Kernel): string {
  const shape = `${(kernel.grid ?? []).join("×")} / ${(kernel.block ?? []).join("×")}`;
  return [shape === " / " ? "" : shape, kernel.variant_label ?? ""].filter(Boolean).join(" ");
}

export function KernelTable({ printing }: { printing: boolean }) {
  const report = useReport();
  const { selection, select, kernels } = report;
  const [order, setOrder] = useState<Order>({ column: "savings", descending: true });
  const [flipped, setFlipped] = useState<ReadonlySet<string>>(new Set());
  const available = availableColumns(report);
  const hidden = (column: Column) => column.shown === flipped.has(column.id);
  const columns = available.filter((column) => !hidden(column));
  const rows = useMemo(
    () => sortKernels(kernels, available.find((column) => column.id === order.column),
      order.descending, report),
    [kernels, order, report.windowTime]);
  const { frame, first, last, onScroll } = useRowsInSight(rows.length, printing);

  // What was chosen in another view comes into sight here.
  const chosen = [...selection.kernels].pop();
  useEffect(() => {
    const at = rows.findIndex((kernel) => kernel.id === chosen);
    const table = frame.current;
    if (at < 0 || !table) return;
    const y = at * ROW_HEIGHT;
    if (y < table.scrollTop || y > table.scrollTop + VIEW_HEIGHT - 3 * ROW_HEIGHT) {
      table.scrollTop = Math.max(0, y - VIEW_HEIGHT / 2);
    }
  }, [chosen, rows]);

  const toggleColumn = (column: Column) => setFlipped((before) => {
    const after = new Set(before);
    if (!after.delete(column.id)) after.add(column.id);
    return after;
  });
  const onRowKey = (event: KeyboardEvent, kernel: Kernel) => {
    const row = event.currentTarget as HTMLElement;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      select({ kind: "kernel", id: kernel.id, add: event.ctrlKey || event.metaKey });
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const next = event.key === "ArrowDown" ? row.nextElementSibling : row.previousElementSibling;
      if (next instanceof HTMLElement && next.tabIndex >= 0) next.focus();
    }
  };

  return (
    <Section id="kernels" title={report.summary.steady_state?.scope === "steps" ? "Kernels in the steps" : "Kernels"}
      note={kernels.some((kernel) => kernel.own_time_share !== undefined) &&
        "Kernels that ran at once share the time, and rates go by it."}>
      <div class="tools">
        <input id="kernel-search" type="search" placeholder="Search names ( / )"
          aria-label="Search kernels by name" value={selection.text}
          onInput={(event) => select({ kind: "text", text: event.currentTarget.value })} />
        <ColumnChooser columns={available} hidden={hidden} toggle={toggleColumn} />
      </div>
      <div class="table" ref={frame} onScroll={onScroll} role="region" aria-label="Kernels" tabIndex={0}>
        <table aria-rowcount={rows.length + 1}>
          <thead>
            <tr>
              <HeaderCell id="name" title="kernel" hint="name, grid / block" order={order}
                setOrder={setOrder} />
              {columns.map((column) => <HeaderCell key={column.id} {...column} order={order}
                setOrder={setOrder} />)}
            </tr>
          </thead>
          <tbody>
            {first > 0 && <tr class="spacer" aria-hidden="true"><td style={{ height: `${first * ROW_HEIGHT}px` }} /></tr>}
            {rows.slice(first, last).map((kernel, index) => (
              <tr key={kernel.id} tabIndex={0} data-kernel={kernel.id} aria-rowindex={first + index + 2}
                aria-selected={selection.kernels.has(kernel.id)}
                class={selection.kernels.has(kernel.id) ? "chosen" : ""}
                onKeyDown={(event) => onRowKey(event, kernel)}
                onClick={(event) => select({ kind: "kernel", id: kernel.id,
                  add: event.ctrlKey || event.metaKey })}>
                <th scope="row" title={kernel.name}>
                  <Name kernel={kernel} />
                </th>
                {columns.map((column) => (
                  <td key={column.id} data-column={column.id} title={kernel.withheld_reason}>
                    {column.cell ? column.cell(kernel, report) : column.value(kernel, report)}
                  </td>
                ))}
              </tr>
            ))}
            {last < rows.length && !printing && <tr class="spacer" aria-hidden="true">
              <td style={{ height: `${(rows.length - last) * ROW_HEIGHT}px` }} /></tr>}
          </tbody>
        </table>
        {rows.length === 0 && <p class="empty">No kernel passes the filters.</p>}
      </div>
      {printing && rows.length > PRINTED_ROWS && <p class="note">
        {rows.length - PRINTED_ROWS} more kernels are not printed.</p>}
    </Section>
  );
}
