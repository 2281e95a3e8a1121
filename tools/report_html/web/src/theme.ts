// Light or dark: as the system says, until the reader says otherwise. Paper is always light.
import { useEffect, useState } from "preact/hooks";

export interface Theme { dark: boolean; toggle: () => void }

export function useTheme(): Theme {
  const [dark, setDark] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches);
  const [chosen, setChosen] = useState(false);
  const [printing, setPrinting] = useState(() => matchMedia("print").matches);
  useEffect(() => {
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const paper = matchMedia("print");
    const onScheme = () => { if (!chosen) setDark(scheme.matches); };
    const onPaper = () => setPrinting(paper.matches);
    scheme.addEventListener("change", onScheme);
    paper.addEventListener("change", onPaper);
    return () => {
      scheme.removeEventListener("change", onScheme);
      paper.removeEventListener("change", onPaper);
    };
  }, [chosen]);
  const shown = dark && !printing;
  document.documentElement.dataset.theme = shown ? "dark" : "light";
  return { dark: shown, toggle: () => { setChosen(true); setDark(!dark); } };
}
