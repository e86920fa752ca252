"use client";

import { createContext, type ReactNode, useContext, useMemo, useState } from "react";
import { rememberInCookie } from "@/app/_ui/data/browser-storage";
import { MoonIcon, SunIcon, SystemThemeIcon } from "@/app/_ui/icons";

export const THEMES = [
  { value: "system", label: "System", icon: <SystemThemeIcon className="text-muted" /> },
  { value: "light", label: "Light", icon: <SunIcon className="text-muted" /> },
  { value: "dark", label: "Dark", icon: <MoonIcon className="text-muted" /> },
] as const;
export type Theme = (typeof THEMES)[number]["value"];

const ThemeContext = createContext({ theme: "system" as Theme, onTheme: (_: Theme) => {} });

export const useTheme = () => useContext(ThemeContext);

/** `initial`: the theme that the server has rendered. */
export function ThemeProvider({ initial, children }: { initial: Theme; children: ReactNode }) {
  const [theme, setTheme] = useState(initial);
  const choice = useMemo(() => {
    const onTheme = (next: Theme) => {
      setTheme(next);
      applyTheme(next);
    };
    return { theme, onTheme };
  }, [theme]);
  return <ThemeContext value={choice}>{children}</ThemeContext>;
}

/** Stored in a cookie, so that the server renders it from the first byte. */
function applyTheme(theme: Theme): void {
  const root = document.documentElement;
  rememberInCookie("theme", theme === "system" ? null : theme);
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
}
