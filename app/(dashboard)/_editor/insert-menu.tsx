"use client";

import { useRef } from "react";
import { Menu, MenuItem, MenuLink, MenuSeparator } from "@/app/_ui/menu/menu";

/** Something that a value can refer to. `alone`: what to insert into an empty value; by default the reference. `preview`: its last value. */
export type Insertable = { name: string; alone?: string; preview?: string };

export type InsertTarget = { element: () => HTMLElement | null; insert: (text: string) => void };

type InsertMenuProps = {
  label: string;
  insertables: readonly Insertable[];
  takesSecrets?: boolean | undefined;
  isEmpty: boolean;
  control: InsertTarget;
};

/** A menu of what a value can refer to: the tool's input, the results of earlier steps, secrets. */
export function InsertMenu({ label, insertables, takesSecrets = false, isEmpty, control }: InsertMenuProps) {
  const inserted = useRef(false);
  function insert({ name, alone }: Insertable) {
    const reference = `{{ ${name} }}`;
    inserted.current = true;
    control.insert(isEmpty ? (alone ?? reference) : reference);
  }
  function focusAfter() {
    const element = inserted.current ? control.element() : null;
    inserted.current = false;
    return element ?? true;
  }
  return (
    <Menu
      finalFocus={focusAfter}
      label={`Insert into ${label}`}
      trigger="Insert"
      triggerClass="-my-0.5 rounded px-1.5 py-0.5 text-accent hover:bg-hover"
    >
      {insertables.map((insertable) => (
        <MenuItem key={insertable.name} onClick={() => insert(insertable)}>
          <span className="mono min-w-0 grow [overflow-wrap:anywhere]">{insertable.name}</span>
          {insertable.preview === undefined ? null : (
            <span className="mono ml-4 min-w-12 max-w-40 shrink-999 truncate text-right text-muted text-xs">
              {insertable.preview}
            </span>
          )}
        </MenuItem>
      ))}
      {takesSecrets ? (
        <>
          {insertables.length > 0 ? <MenuSeparator /> : null}
          <MenuLink href="/secrets">Manage secrets</MenuLink>
        </>
      ) : null}
    </Menu>
  );
}
