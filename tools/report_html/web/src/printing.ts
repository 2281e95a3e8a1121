// Whether the page is shown as it will be on paper.
import { useEffect, useState } from "preact/hooks";

export function usePrinting(): boolean {
  const [printing, setPrinting] = useState(() => matchMedia("print").matches);
  useEffect(() => {
    const paper = matchMedia("print");
    const onPaper = () => setPrinting(paper.matches);
    const before = () => setPrinting(true);
    const after = () => setPrinting(false);
    paper.addEventListener("change", onPaper);
    window.addEventListener("beforeprint", before);
    window.addEventListener("afterprint", after);
    return () => {
      paper.removeEventListener("change", onPaper);
      window.removeEventListener("beforeprint", before);
      window.removeEventListener("afterprint", after);
    };
  }, []);
  return printing;
}
