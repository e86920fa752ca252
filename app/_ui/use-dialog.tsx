"use client";

import { createContext, type ReactElement, useContext, useState } from "react";

const CloseContext = createContext(() => {});

/** Closes the dialog that the component is in. Outside of one, it does nothing. */
export function useClose(): () => void {
  return useContext(CloseContext);
}

/** A page's dialog. `open(<Rename />)` replaces the current one; render `dialog` once. */
export function useDialog() {
  const [shown, open] = useState<ReactElement | null>(null);
  return { open, dialog: <CloseContext value={() => open(null)}>{shown}</CloseContext> };
}
