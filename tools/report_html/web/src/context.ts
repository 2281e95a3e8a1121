// What every view reads: the data, the selection, and what follows from both.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { OwnerKernels } from "./owners/owner_kernels";
import type { Change, Selection } from "./selection";
import type { Kernel, KernelChange, ReportData } from "./summary";

export interface Report extends ReportData {
  selection: Selection;
  select: (change: Change) => void;
  kernels: Kernel[];                      // that pass the filters
  windowTime?: Map<number, number>;       // ns in the chosen window, by kernel
  ownerKernels?: OwnerKernels;            // of the chosen layer, line or operation
  changes: Map<string, KernelChange>;     // by the kernel's name after
  dark: boolean;
}

export const ReportContext = createContext<Report | null>(null);

export function useReport(): Report {
  const report = useContext(ReportContext);
  if (!report) throw new Error("a view stands outside the report");
  return report;
}
