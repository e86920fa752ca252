"use client";

import { createContext } from "react";
import { rememberInCookie } from "@/app/_ui/data/cookie";

export type Theme = "system" | "light" | "dark";

/** The reader's choice, and the function that changes it. */
export const ThemeContext = createContext<{ theme: Theme; onTheme: (theme: Theme) => void }>({
  theme: "system",
  onTheme: () => {},
});

/** Changes the theme and stores it in a cookie, so that the server renders it from the first byte. */
export function applyTheme(theme: Theme): void {
  const root = document.documentElement;
  rememberInCookie("theme", theme === "system" ? null : theme);
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
}
