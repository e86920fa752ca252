"use client";

import { useContext, useEffect, useRef, useState } from "react";
import { draftKey } from "@/app/_ui/data/browser-storage";
import { OrganizationContext } from "@/app/_ui/data/page-organization";
import { withdrawActions } from "@/app/_ui/toast";
import { isJsonObject, tryParseJson, writeJson } from "@/server/base/json/json";

/** The version that an editor was opened with, and the fields that change without a new version. */
export type Opened = { version: number; unversioned: Readonly<Record<string, string>> };

/** `opened`: null if the value is something new. */
export type Draft<Value> = { opened: Opened | null; value: Value };

/**
 * A value that is being edited. The browser stores it until it is saved or discarded. `rebase` makes it a change of
 * what is stored now, or of the version given.
 */
export function useDraft<Value>({
  name,
  opened,
  saved,
  isValue,
  follow = (draft) => draft,
}: {
  /** Unique within the organization and person. */
  name: string;
  opened: Opened | null;
  saved: Value;
  /** Must not change between renders. */
  isValue: (stored: unknown) => stored is Value;
  /** Adopts what may change under a draft without a conflict. */
  follow?: ((draft: Draft<Value>) => Draft<Value>) | undefined;
}) {
  const page = useContext(OrganizationContext);
  const key = draftKey(page, name);
  const [draft, setDraft] = useState<Draft<Value> | null>(null);
  const [restored, setRestored] = useState(false);
  // The newest draft, also before React has rendered it.
  const latest = useRef(draft);
  const deleted = useRef(false);
  const [ended, setEnded] = useState(false);
  const offersUndo = useRef(false);
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
  const current = (stored: Draft<Value> | null): Draft<Value> =>
    stored === null ? { opened, value: saved } : follow(stored);
  const shown = current(draft);
  const changed = writeJson(shown.value) !== writeJson(saved);
  return {
    value: shown.value,
    opened: shown.opened,
    changed,
    /** Nothing changes it anymore. */
    ended,
    restored: restored && changed,
    /** Current even before React renders a change. */
    latest: () => current(latest.current),
    change(update: (before: Value) => Value) {
      // A message may offer to undo a change after the page was left.
      if (deleted.current) return;
      if (offersUndo.current) withdrawActions();
      offersUndo.current = false;
      const before = current(latest.current);
      put({ ...before, value: update(before.value) });
    },
    rebase(version = opened?.version) {
      if (latest.current === null) return;
      const base = opened === null || version === undefined ? null : { ...opened, version };
      put({ ...current(latest.current), opened: base });
    },
    /** Returns how to put the draft back, as it was, unless a new one was started. */
    discard() {
      const before = latest.current;
      put(null);
      setRestored(false);
      offersUndo.current = true;
      return () => {
        offersUndo.current = false;
        if (!deleted.current && latest.current === null) put(before);
      };
    },
    /**
     * Ends the draft after `sent` was saved. What was typed since stays as the draft `nameOfSaved`; returns true if
     * there is any.
     */
    end(sent: Value, nameOfSaved: string): boolean {
      const { value } = current(latest.current);
      const typed = latest.current !== null && writeJson(value) !== writeJson(sent);
      if (typed && nameOfSaved === name) {
        setRestored(false);
        return true;
      }
      if (typed) store(draftKey(page, nameOfSaved), { opened: null, value });
      deleted.current = true;
      setEnded(true);
      localStorage.removeItem(key);
      return typed;
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
  const { opened, value } = stored;
  return isValue(value) && (opened === null || isOpened(opened)) ? { opened, value } : null;
}

function isOpened(stored: unknown): stored is Opened {
  if (!isJsonObject(stored) || !isJsonObject(stored.unversioned)) return false;
  const texts = Object.values(stored.unversioned);
  return typeof stored.version === "number" && texts.every((text) => typeof text === "string");
}
