"use client";

import { Dialog } from "@base-ui/react/dialog";
import { useRef, useState } from "react";
import { FindList } from "@/app/_ui/find-list";
import { CloseIcon } from "@/app/_ui/icons";
import { SkeletonLine } from "@/app/_ui/page/page";
import { type PaletteItem, type PaletteProps, useFound } from "./items";

/**
 * Finds actions, pages, agents, tools, triggers and runs by name, as a combobox. Enter opens the marked entry, with
 * ⌘ or Ctrl in a new tab.
 */
export function Palette(props: PaletteProps & { onClosed: () => void }) {
  const [open, setOpen] = useState(true);
  const [text, setText] = useState("");
  const { groups, pending, failed } = useFound(props, text);
  // Runs after the palette has closed, so that a dialog it opens keeps the focus.
  const chosen = useRef<(() => void) | null>(null);

  function take(item: PaletteItem, newTab: boolean) {
    chosen.current = () => item.take(newTab);
    setOpen(false);
  }

  return (
    <Dialog.Root
      onOpenChange={setOpen}
      onOpenChangeComplete={(still) => {
        if (still) return;
        props.onClosed();
        chosen.current?.();
      }}
      open={open}
    >
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-backdrop" />
        <Dialog.Popup
          aria-label="Search or go to"
          className="fixed inset-x-2 top-2 z-50 flex max-h-[calc(100dvh-1rem)] flex-col overflow-hidden rounded-lg border border-line-strong bg-raised shadow-raised outline-none sm:inset-x-auto sm:top-[12vh] sm:left-1/2 sm:max-h-[64vh] sm:w-full sm:max-w-xl sm:-translate-x-1/2"
          data-palette
        >
          <FindList
            below={
              failed ? (
                <p className="px-4 py-3 text-failed" role="alert">
                  Could not load some agents, tools, triggers or runs. Check the connection.
                </p>
              ) : null
            }
            end={
              <Dialog.Close
                aria-label="Close"
                className="-mr-2 flex size-8 shrink-0 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink"
              >
                <CloseIcon />
              </Dialog.Close>
            }
            groups={groups}
            label="Search or go to"
            nothing={
              pending ? (
                <div className="flex h-12 items-center px-4">
                  <SkeletonLine className="w-40" />
                </div>
              ) : groups.length === 0 && !failed ? (
                <p className="px-4 py-4 text-muted">No results for “{text.trim()}”.</p>
              ) : null
            }
            onTake={take}
            onText={setText}
            placeholder="A page, an agent, a tool, a run's id, an action"
            text={text}
          >
            {({ icon, label, hint }) => (
              <>
                <span className="flex size-4 shrink-0 items-center justify-center text-muted">{icon}</span>
                <span className="max-w-[75%] shrink-0 truncate">{label}</span>
                <span className="flex min-w-0 flex-1 justify-end gap-3 text-muted text-xs">{hint}</span>
              </>
            )}
          </FindList>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
