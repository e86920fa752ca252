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
  // 0: closed. Each opening has a number of its own, so that the palette is empty even if the last one still closes.
  const [opening, setOpening] = useState(0);
  useLayoutEffect(() => {
    const modifier = mac ? "Meta" : "Control";
    function onKey(event: KeyboardEvent) {
      if (event.key === modifier) return preloadPalette();
      if (event.key.toLowerCase() !== "k" || !(mac ? event.metaKey : event.ctrlKey)) return;
      if (event.altKey || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      // Leaving the page from here could lose what was typed in another dialog.
      if (document.querySelector("[role=dialog]:not([data-palette])")) return;
      const isClosing = document.querySelector("[data-palette][data-closed]") !== null;
      setOpening((before) => (before === 0 || isClosing ? before + 1 : 0));
    }
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [mac]);
  return {
    palette:
      opening > 0 ? (
        <Palette {...props} key={opening} onClosed={() => setOpening((now) => (now === opening ? 0 : now))} />
      ) : null,
    openPalette: () => setOpening((before) => before + 1),
  };
}
