"use client";

import { type ReactNode, type RefObject, useId, useRef, useState } from "react";
import { TextareaField, TextField } from "@/app/_ui/forms/form";
import { Menu, MenuItem, MenuLink, MenuSeparator } from "@/app/_ui/menu/menu";
import { readJson, writeJson } from "@/server/base/json/json";
import { type Field, valuesOf } from "../_schema/field";
import { controlOf, isLong } from "../_schema/value";

/** Something that a value can refer to. `alone`: what to insert into an empty value; by default the reference. */
export type Insertable = { name: string; alone?: string };

/** `name`: what people call the value. */
type Suggestion = { value: string; name?: string };

/** One value of a definition: a constant by its schema, or a text with `{{ }}`. */
export function ValueField({
  label,
  hint,
  error,
  field,
  suggestions = [],
  insertables = [],
  takesSecrets,
  isLabelHidden,
  value,
  onChange,
}: {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  /** Of the value's schema. */
  field: Field;
  /** Values to pick from; others may be typed. */
  suggestions?: readonly Suggestion[];
  /** What the value can refer to. */
  insertables?: readonly Insertable[];
  takesSecrets?: boolean | undefined;
  isLabelHidden?: boolean;
  value: unknown;
  /** Undefined: not set. */
  onChange: (value: unknown) => void;
}) {
  const id = useId();
  const kind = controlOf(field);
  const isText = kind === "text";
  // What was typed stays as it was typed while it means the current value.
  const [typed, setTyped] = useState("");
  const isTyped = writeJson(readValue(typed, isText)) === writeJson(value);
  // An object that is not valid JSON yet is not passed on: it would replace the object by a text.
  const [unfinished, setUnfinished] = useState<string | null>(null);
  const text = unfinished ?? (isTyped ? typed : showValue(value, isText));
  const options: readonly Suggestion[] =
    kind === "choice"
      ? (valuesOf(field) ?? []).map((each) => ({ value: String(each) }))
      : kind === "boolean"
        ? [{ value: "true" }, { value: "false" }]
        : suggestions;
  const isShort = options.length > 0 || kind === "number" || (isText && !isLong(field));
  // Chosen once: a control that is replaced while somebody types loses the focus.
  const [hasLines] = useState(!isShort || text.includes("\n"));
  const control = useRef<HTMLInputElement | HTMLTextAreaElement>(null);
  const common = {
    label,
    isLabelHidden,
    ref(element: HTMLInputElement | HTMLTextAreaElement | null) {
      control.current = element;
    },
    error: unfinished === null ? error : "This is not valid JSON yet. The last valid value stays.",
    hint,
    spellCheck: false,
    value: text,
    onChange(next: string) {
      const read = readValue(next, isText);
      const isObject = typeof value === "object" && value !== null;
      const isUnfinished = isObject && typeof read === "string" && !read.startsWith("{{");
      setUnfinished(isUnfinished ? next : null);
      if (isUnfinished) return;
      setTyped(next);
      onChange(read);
    },
  };
  const end =
    insertables.length > 0 || takesSecrets ? (
      <InsertMenu
        control={control}
        insertables={insertables}
        label={label}
        onChange={common.onChange}
        takesSecrets={takesSecrets}
      />
    ) : null;
  if (hasLines) return <TextareaField {...common} end={end} look="value" rows={1} />;
  return (
    <>
      <TextField {...common} code end={end} list={options.length > 0 ? id : undefined} />
      {options.length > 0 ? (
        <datalist id={id}>
          {options.map((option) => (
            <option key={option.value} label={option.name} value={option.value} />
          ))}
        </datalist>
      ) : null}
    </>
  );
}

type InsertMenuProps = {
  /** The value's label. */
  label: string;
  insertables: readonly Insertable[];
  takesSecrets?: boolean | undefined;
  control: RefObject<HTMLInputElement | HTMLTextAreaElement | null>;
  onChange: (text: string) => void;
};

/** A menu of what a value can refer to: the tool's input, the results of earlier steps, secrets. */
function InsertMenu({ label, insertables, takesSecrets = false, control, onChange }: InsertMenuProps) {
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

/**
 * A value of a step's input as a text to edit. A value that is a text by its schema is shown as it is. Any other is
 * shown as JSON, except a text that cannot be mistaken for JSON, such as `{{ input.city }}`.
 */
export function showValue(value: unknown, isText: boolean): string {
  if (value === undefined) return "";
  if (typeof value !== "string") return writeJson(value, 2);
  return isText || (value !== "" && readValue(value, false) === value) ? value : writeJson(value);
}

/** The value of an edited text; undefined if it is empty. */
export function readValue(text: string, isText: boolean): unknown {
  if (text === "") return undefined;
  if (isText) return text;
  try {
    const value: unknown = readJson(text);
    return value;
  } catch {
    return text;
  }
}
