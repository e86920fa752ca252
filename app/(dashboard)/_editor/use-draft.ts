"use client";

import { useContext, useEffect, useRef, useState } from "react";
import { draftKey } from "@/app/_ui/data/browser-storage";
import { OrganizationContext } from "@/app/_ui/data/page-organization";
import { isJsonObject, tryParseJson, writeJson } from "@/server/base/json/json";

/** `version`: the one that the value changes; null: something new. */
type Draft<Value> = { version: number | null; value: Value };

/**
 * A value that is being edited. The browser stores it until it is saved or discarded. `rebase` makes it a change of
 * a newer version.
 */
export function useDraft<Value>({
  name,
  version,
  saved,
  isValue,
}: {
  /** Unique within the organization. */
  name: string;
  version: number | null;
  saved: Value;
  /** Must not change between renders. */
  isValue: (stored: unknown) => stored is Value;
}) {
  const key = draftKey(useContext(OrganizationContext).slug, name);
  const [draft, setDraft] = useState<Draft<Value> | null>(null);
  const [restored, setRestored] = useState(false);
  // The newest draft, also before React has rendered it.
  const latest = useRef(draft);
  const deleted = useRef(false);
  function put(next: Draft<Value> | null) {
    latest.current = next;
    setDraft(next);
    if (next === null) localStorage.removeItem(key);
    else store(key, next);
  }
  // Read after hydration: the server has no drafts.
  useEffect(() => {
    // Text typed before this ran is newer than the stored draft.
    if (latest.current !== null) return;
    const stored = parseDraft(localStorage.getItem(key), isValue);
    if (stored === null) return;
    latest.current = stored;
    setDraft(stored);
    setRestored(true);
  }, [key, isValue]);
  const unchanged = { version, value: saved };
  const shown = draft ?? unchanged;
  const changed = writeJson(shown.value) !== writeJson(saved);
  return {
    value: shown.value,
    version: shown.version,
    changed,
    restored: restored && changed,
    /** Current even before React renders a change. */
    latest: () => latest.current ?? unchanged,
    change(update: (before: Value) => Value) {
      // A message may offer to undo a change after the page was left.
      if (deleted.current) return;
      const before = latest.current ?? unchanged;
      put({ version: before.version, value: update(before.value) });
    },
    rebase() {
      if (latest.current !== null) put({ ...latest.current, version });
    },
    /** Returns how to put the draft back, as it was. */
    discard() {
      const before = latest.current;
      put(null);
      setRestored(false);
      return () => {
        if (!deleted.current) put(before);
      };
    },
    deleteStored() {
      deleted.current = true;
      localStorage.removeItem(key);
    },
  };
}

function store(key: string, draft: Draft<unknown>): void {
  try {
    localStorage.setItem(key, writeJson(draft));
  } catch {
    // The browser's storage is full or switched off: the draft lives as long as the page.
  }
}

function parseDraft<Value>(
  text: string | null,
  isValue: (stored: unknown) => stored is Value,
): Draft<Value> | null {
  const stored = tryParseJson(text ?? "");
  if (!isJsonObject(stored)) return null;
  const { version, value } = stored;
  return isValue(value) && (version === null || typeof version === "number") ? { version, value } : null;
}
