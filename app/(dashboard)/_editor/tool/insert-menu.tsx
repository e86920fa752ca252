"use client";

import { type RefObject, useRef } from "react";
import { Menu, MenuItem, MenuLink, MenuSeparator } from "@/app/_ui/menu/menu";

/** Something that a value can refer to. `alone`: the whole value, if there is none yet; by default the reference. */
export type Insertable = { name: string; alone?: string };

/** A menu of what a value can refer to: the tool's input, the results of earlier steps, secrets. */
export function InsertMenu({
  label,
  insertables,
  takesSecrets = false,
  control,
  onChange,
}: {
  /** The value's label. */
  label: string;
  insertables: readonly Insertable[];
  takesSecrets?: boolean | undefined;
  control: RefObject<HTMLInputElement | HTMLTextAreaElement | null>;
  onChange: (text: string) => void;
}) {
  const inserted = useRef(false);
  function insert({ name, alone }: Insertable) {
    const field = control.current;
    if (!field) return;
    const reference = `{{ ${name} }}`;
    const end = field.value.length;
    const text = field.value === "" ? (alone ?? reference) : reference;
    // Written into the field, so that the cursor follows what was inserted.
    field.setRangeText(text, field.selectionStart ?? end, field.selectionEnd ?? end, "end");
    inserted.current = true;
    onChange(field.value);
  }
  function focusAfter() {
    const field = inserted.current ? control.current : null;
    inserted.current = false;
    return field ?? true;
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
          <span className="mono">{insertable.name}</span>
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
