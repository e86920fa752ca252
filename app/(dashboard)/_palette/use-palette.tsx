"use client";

import dynamic from "next/dynamic";
import { type ReactNode, useLayoutEffect, useState } from "react";
import type { PaletteProps } from "./items";

const load = () => import("./palette");
/** Loaded on demand: it is the largest part of the layout. */
const Palette = dynamic(() => load().then((module) => module.Palette), { ssr: false });

/** Fetches the palette's code before it opens, when the pointer or focus reaches its button. */
export function preloadPalette(): void {
  void load();
}

/** The palette. ⌘K (on a Mac), Ctrl+K or `openPalette` opens it. */
export function usePalette(
  props: PaletteProps,
  mac: boolean,
): { palette: ReactNode; openPalette: () => void } {
  const [open, setOpen] = useState(false);
  useLayoutEffect(() => {
    const modifier = mac ? "Meta" : "Control";
    function onKey(event: KeyboardEvent) {
      if (event.key === modifier) return preloadPalette();
      if (event.key.toLowerCase() !== "k" || !(mac ? event.metaKey : event.ctrlKey)) return;
      if (event.altKey || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      // Leaving the page from here could lose what was typed in another dialog.
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
