import { rememberInCookie } from "@/app/_ui/cookie";

export type Theme = "system" | "light" | "dark";

/** Changes the theme and stores it in a cookie, so that the server renders it from the first byte. */
export function applyTheme(theme: Theme): void {
  const root = document.documentElement;
  rememberInCookie("theme", theme === "system" ? null : theme);
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
}
