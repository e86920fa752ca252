"use client";

import { type ReactNode, useId, useRef, useState } from "react";
import type { EditorHandle } from "@/app/_ui/editor/code-editor";
import { CodeField } from "@/app/_ui/editor/code-field";
import type { Completions, EditorProblem, Language } from "@/app/_ui/editor/language";
import { resemblesJson } from "@/app/_ui/editor/text/insert";
import { TextField } from "@/app/_ui/forms/form";
import { writeJson } from "@/server/base/json/json";
import { readTypedJson, typedJsonIssue } from "@/server/base/json/repeated-key";
import { type Field, valuesOf } from "../_schema/field";
import { controlOf, isLong } from "../_schema/value";
import { ChoiceField } from "./choice-field";
import { type Insertable, InsertMenu, type InsertTarget } from "./insert-menu";

type Suggestion = { value: string; name?: string };

type ValueFieldProps = {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  field: Field;
  language?: Language | undefined;
  completions?: Completions | undefined;
  problems?: readonly EditorProblem[] | undefined;
  suggestions?: readonly Suggestion[];
  insertables?: readonly Insertable[];
  takesSecrets?: boolean | undefined;
  isLabelHidden?: boolean;
  value: unknown;
  /** Undefined: not set. */
  onChange: (value: unknown) => void;
};

/** One value of a definition: a choice or constant by its schema, or a text with `{{ }}`. */
export function ValueField(props: ValueFieldProps) {
  const { field, value, onChange } = props;
  const choices = valuesOf(field);
  const isChosen = value === undefined || choices?.some((choice) => choice === value) === true;
  const [isWritten, setIsWritten] = useState(!isChosen);
  if (choices === null) return <WrittenField {...props} />;
  if (isChosen && !isWritten) return <ChoiceField {...props} onWrite={() => setIsWritten(true)} />;
  const choose = () => {
    setIsWritten(false);
    onChange(undefined);
  };
  return <WrittenField {...props} hasFocus={isChosen} onChoose={choose} />;
}

function WrittenField({
  label,
  hint,
  error,
  field,
  language,
  completions,
  problems,
  suggestions = [],
  insertables = [],
  takesSecrets,
  isLabelHidden,
  value,
  hasFocus = false,
  onChoose,
  onChange,
}: ValueFieldProps & { hasFocus?: boolean; onChoose?: () => void }) {
  const id = useId();
  const kind = controlOf(field);
  const isText = kind === "text";
  // The typed text stays while it means the current value.
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
  const isShort = isText && !isLong(field) && language !== "javascript";
  // Chosen once: a control that is replaced during typing loses the focus.
  const [isLine] = useState(isShort && !text.includes("\n"));
  const input = useRef<HTMLInputElement>(null);
  const editor = useRef<EditorHandle>(null);
  const change = (next: string) => {
    const read = readValue(next, isText);
    const isUnfinished = !isText && read === next && isMistaken(next, value);
    setUnfinished(isUnfinished ? next : null);
    if (isUnfinished) return;
    setTyped(next);
    onChange(read);
  };
  const isInput = options.length > 0 || kind === "number";
  const control: InsertTarget = {
    element: () => input.current ?? editor.current?.element() ?? null,
    insert(inserted) {
      if (!isInput) return editor.current?.insert(inserted);
      if (!input.current) return;
      // Written into the field, so that the cursor follows what was inserted. A number or a choice is replaced.
      const { selectionStart, selectionEnd, value: before } = input.current;
      const end = before.length;
      const [from, to] = isText ? [selectionStart ?? end, selectionEnd ?? end] : [0, end];
      input.current.setRangeText(inserted, from, to, "end");
      change(input.current.value);
    },
  };
  const common = {
    label,
    isLabelHidden,
    error: unfinished === null ? error : issueOf(unfinished),
    hint,
    value: text,
    onChange: change,
    end: (
      <span className="flex items-center gap-3 empty:hidden">
        {onChoose === undefined ? null : (
          <button className="min-h-6 text-accent hover:underline" onClick={onChoose} type="button">
            Choose a value
          </button>
        )}
        {insertables.length > 0 || takesSecrets ? (
          <InsertMenu
            control={control}
            insertables={insertables}
            isEmpty={text === "" || (!isText && text === '""')}
            label={label}
            takesSecrets={takesSecrets}
          />
        ) : null}
      </span>
    ),
  };
  if (!isInput) {
    return (
      <CodeField
        {...common}
        completions={completions}
        language={language ?? (isText ? "template" : "json")}
        look={isLine ? "line" : "value"}
        problems={unfinished === null ? problems : undefined}
        ref={editor}
      />
    );
  }
  return (
    <>
      <TextField
        {...common}
        autoFocus={hasFocus}
        code
        list={options.length > 0 ? id : undefined}
        ref={input}
        spellCheck={false}
      />
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

const NOT_JSON = "This is not valid JSON. A text with such signs needs quotes.";

const issueOf = (text: string) => `${typedJsonIssue(text) ?? NOT_JSON} The last valid value stays.`;

/** Invalid JSON that was meant as JSON. It is not passed on, because it would be saved as a text. */
const isMistaken = (text: string, value: unknown) =>
  resemblesJson(text) ||
  typedJsonIssue(text) !== undefined ||
  (typeof value === "object" && value !== null && !text.startsWith("{{"));

/**
 * A step's input value as text to edit: plain if its schema is a text, otherwise JSON. A text that cannot be
 * mistaken for JSON, such as `{{ input.city }}`, stays plain.
 */
export function showValue(value: unknown, isText: boolean): string {
  if (value === undefined) return "";
  if (typeof value !== "string") return writeJson(value, 2);
  const isPlain = value !== "" && readValue(value, false) === value && !resemblesJson(value);
  return isText || isPlain ? value : writeJson(value);
}

/** The value of an edited text; undefined if it is empty. */
export function readValue(text: string, isText: boolean): unknown {
  if (text === "") return undefined;
  if (isText) return text;
  try {
    const value: unknown = readTypedJson(text);
    return value;
  } catch {
    return text;
  }
}
