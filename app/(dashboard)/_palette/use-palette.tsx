"use client";

import dynamic from "next/dynamic";
import { type ReactNode, useEffect, useState } from "react";
import type { PaletteProps } from "./items";

const load = () => import("./palette");
/** Loaded when it is about to be used: it is the heaviest part of the frame. */
const Palette = dynamic(() => load().then((module) => module.Palette), { ssr: false });

/** Fetches the palette's code before it is asked for, as soon as somebody reaches for it. */
export function preloadPalette(): void {
  void load();
}

/** The palette, opened and closed by ⌘K (on a Mac) or Ctrl+K, or by `openPalette`. */
export function usePalette(
  props: PaletteProps,
  mac: boolean,
): { palette: ReactNode; openPalette: () => void } {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const modifier = mac ? "Meta" : "Control";
    function onKey(event: KeyboardEvent) {
      if (event.key === modifier) return preloadPalette();
      if (event.key.toLowerCase() !== "k" || !(mac ? event.metaKey : event.ctrlKey)) return;
      if (event.altKey || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      // What somebody writes in another dialog must not be lost to a page that is left.
      if (document.querySelector("[role=dialog]:not([data-palette])")) return;
      setOpen((before) => !before);
    }
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [mac]);
  return {
    palette: open ? <Palette {...props} onClosed={() => setOpen(false)} /> : null,
    openPalette: () => setOpen(true),
  };
}
