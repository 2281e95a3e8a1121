import { useCallback, useEffect, useMemo, useReducer } from "preact/hooks";
import { Alerts } from "./alerts";
import { CaptureQuality } from "./capture";
import { Comparison } from "./comparison";
import { ReportContext } from "./context";
import { Figures } from "./figures";
import { Families } from "./first_screen/families";
import { Findings } from "./first_screen/findings";
import { LadderSection } from "./first_screen/ladder";
import { Headline } from "./headline";
import { KernelDetail } from "./kernel_detail";
import { KernelTable } from "./kernel_table";
import { kernelsOfOwner } from "./owners/owner_kernels";
import { OwnersSection } from "./owners/owners_section";
import { usePrinting } from "./printing";
import { RankTable } from "./ranks";
import { Roofline } from "./roofline";
import { Server } from "./server";
import { SelectionBar } from "./selection_bar";
import { change, filterKernels, NOTHING, timeInWindow } from "./selection";
import { Steps } from "./steps";
import type { ReportData } from "./summary";
import { Copies, Communications, Markers, MemoryUse, Processes } from "./tables";
import { useTheme } from "./theme";
import { Timeline } from "./timeline";
import { Waterfall } from "./waterfall";

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
}

// "/" goes to the search, Escape clears the selection.
function useKeys(clear: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "/" && !isTyping(event.target)) {
        event.preventDefault();
        document.getElementById("kernel-search")?.focus();
      } else if (event.key === "Escape") {
        clear();
      }
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [clear]);
}

export function App({ data }: { data: ReportData }) {
  const [selection, select] = useReducer(change, NOTHING);
  const printing = usePrinting();
  const theme = useTheme(printing);
  const ownerKernels = useMemo(
    () => (selection.owner ? kernelsOfOwner(data.summary, selection.owner) : undefined),
    [data, selection.owner]);
  const kernels = useMemo(() => filterKernels(data.summary, selection, ownerKernels?.time_ns),
    [data, selection, ownerKernels]);
  const windowTime = useMemo(
    () => (selection.window ? timeInWindow(data.summary, selection.window) : undefined),
    [data, selection.window]);
  const changes = useMemo(
    () => new Map((data.difference?.kernels ?? []).filter((kernel) => kernel.name_after)
      .map((kernel) => [kernel.name_after as string, kernel])),
    [data]);
  useKeys(useCallback(() => select({ kind: "clear" }), []));
  const report = { ...data, selection, select, kernels, windowTime, ownerKernels, changes,
    dark: theme.dark };
  return (
    <ReportContext.Provider value={report}>
      <a class="skip" href="#kernels">Skip to the kernels</a>
      <Headline theme={theme} />
      <main>
        <Comparison />
        <div class="first-screen">
          <LadderSection />
          <Findings />
          <Families />
        </div>
        <Figures />
        <Server />
        <Alerts />
        <SelectionBar />
        <Waterfall />
        <OwnersSection />
        <Roofline />
        <KernelDetail />
        <KernelTable printing={printing} />
        <Steps />
        <Timeline />
        <RankTable />
        <Communications />
        <Copies />
        <Markers />
        <Processes />
        <MemoryUse />
        <CaptureQuality />
      </main>
    </ReportContext.Provider>
  );
}
