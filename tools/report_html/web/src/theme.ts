// Light or dark: as the system says, until the reader says otherwise. Paper is always light.
import { useEffect, useState } from "preact/hooks";

export interface Theme { dark: boolean; toggle: () => void }

export function useTheme(printing: boolean): Theme {
  const [dark, setDark] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches);
  const [chosen, setChosen] = useState(false);
  useEffect(() => {
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const onScheme = () => { if (!chosen) setDark(scheme.matches); };
    scheme.addEventListener("change", onScheme);
    return () => scheme.removeEventListener("change", onScheme);
  }, [chosen]);
  const shown = dark && !printing;
  document.documentElement.dataset.theme = shown ? "dark" : "light";
  return { dark: shown, toggle: () => { setChosen(true); setDark(!dark); } };
}
