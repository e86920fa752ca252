"use client";

import { useEffect, useState } from "react";

const PREFIX = "stepwell.draft.";

/**
 * A value that is being edited. It survives a reload of the page in this browser until it is saved or discarded.
 * `name` says what is edited and from which version, so that a draft is never applied to a later one.
 */
export function useDraft<Value>(name: string, saved: Value, read: (stored: unknown) => Value | null) {
  const key = PREFIX + name;
  const [value, setValue] = useState(saved);
  const [restored, setRestored] = useState(false);
  // Read after hydration: the server has no drafts.
  useEffect(() => {
    const draft = parseDraft(localStorage.getItem(key), read);
    if (draft === null) return;
    setValue(draft);
    setRestored(true);
  }, [key, read]);
  const changed = JSON.stringify(value) !== JSON.stringify(saved);
  return {
    value,
    /** Whether the value differs from the saved one. */
    changed,
    /** Whether it is from an earlier visit to the page. */
    restored: restored && changed,
    set(next: Value) {
      setValue(next);
      try {
        localStorage.setItem(key, JSON.stringify(next));
      } catch {
        // The browser's storage is full or switched off: the draft lives as long as the page.
      }
    },
    /** Deletes the stored draft. The page's value returns to the saved one unless it is left. */
    discard() {
      localStorage.removeItem(key);
      setValue(saved);
      setRestored(false);
    },
  };
}

function parseDraft<Value>(text: string | null, read: (stored: unknown) => Value | null): Value | null {
  try {
    return text === null ? null : read(JSON.parse(text));
  } catch {
    return null;
  }
}
