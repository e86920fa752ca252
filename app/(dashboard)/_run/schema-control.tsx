import { type ChangeEvent, useId, useRef, useState } from "react";
import { CodeEditor, type EditorHandle } from "@/app/_ui/editor/code-editor";
import { InvalidMark } from "@/app/_ui/editor/required-mark";
import { INPUT_CLASS } from "@/app/_ui/forms/form";
import { type Json, writeJson } from "@/server/base/json/json";
import { readTypedJson } from "@/server/base/json/repeated-key";
import { type Field, valuesOf } from "../_schema/field";
import { controlOf, isLong, numberIn, numberText, sampleOf } from "../_schema/value";

const INPUT_TYPES: Record<string, string> = { email: "email", date: "date", time: "time", uri: "url" };

export type Edited = { label: string; value: unknown; onChange: (value: unknown) => void };

type ControlProps = Edited & {
  id: string;
  field: Field;
  needed: boolean;
};

/** The control of one value that is neither an object nor a list. */
export function Control({ id, field, label, value, needed, onChange }: ControlProps) {
  const { keywords, required } = field;
  switch (controlOf(field)) {
    case "text": {
      // An emptied field is left out of the input, unless it was empty at first.
      const mayBeEmpty = sampleOf(field) === "";
      const props = {
        id,
        onChange: ({ target: { value: text } }: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
          onChange(text === "" && !mayBeEmpty ? undefined : text),
        required: needed && !mayBeEmpty,
        value: typeof value === "string" ? value : String(value ?? ""),
      };
      return isLong(field) ? (
        <textarea {...props} className={`${INPUT_CLASS} h-24 resize-y py-1.5`} />
      ) : (
        <input {...props} className={INPUT_CLASS} type={INPUT_TYPES[String(keywords.format)] ?? "text"} />
      );
    }
    case "number":
      return (
        <input
          className={INPUT_CLASS}
          id={id}
          max={numberOf(keywords.maximum)}
          min={numberOf(keywords.minimum)}
          onChange={({ target }) => onChange(numberIn(target))}
          required={needed}
          step={field.type === "integer" ? 1 : "any"}
          type="number"
          value={numberText(value)}
        />
      );
    case "boolean":
      return (
        <input
          checked={value === true}
          className="size-4 self-start accent-accent"
          id={id}
          onChange={(event) => onChange(event.target.checked)}
          type="checkbox"
        />
      );
    case "choice": {
      const values = valuesOf(field) ?? [];
      const shown = value === undefined ? "" : String(value);
      const isChoice = value === undefined ? !required : values.some((choice) => String(choice) === shown);
      const before = (isChoice ? 0 : 1) + (required ? 0 : 1);
      return (
        <select
          className={INPUT_CLASS}
          id={id}
          onChange={(event) => onChange(values[event.target.selectedIndex - before])}
          required={needed && !isChoice}
          value={shown}
        >
          {/* Without it, the browser would show the first choice. */}
          {isChoice ? null : (
            <option disabled value={shown}>
              {typeof value === "object" ? writeJson(value) : shown}
            </option>
          )}
          {required ? null : <option value="">not set</option>}
          {values.map((choice) => (
            <option key={String(choice)} value={String(choice)}>
              {String(choice)}
            </option>
          ))}
        </select>
      );
    }
    default:
      return <JsonField id={id} label={label} needed={needed} onChange={onChange} value={value} />;
  }
}

const numberOf = (keyword: unknown) => (typeof keyword === "number" ? keyword : undefined);

type Typed = { text: string; issue: string | null; of: string | null };

/** A value as JSON. It is passed on whenever it is valid; the form rejects other text. */
export function JsonField({
  id,
  label,
  value,
  needed = false,
  onChange,
}: Edited & Partial<Pick<ControlProps, "id" | "needed">>) {
  const own = value === undefined ? "" : writeJson(value, 2);
  // `of`: the value that the text led to, null until it is rendered. The text of any other value replaces it.
  const [typed, setTyped] = useState<Typed>({ text: own, issue: null, of: own });
  if (typed.of === null) setTyped({ ...typed, of: own });
  else if (typed.of !== own) setTyped({ text: own, issue: null, of: own });
  const { text, issue } = typed;
  const editor = useRef<EditorHandle>(null);
  const noteId = useId();
  function change(next: string) {
    const read = readOrIssue(next);
    setTyped({ text: next, issue: "issue" in read ? read.issue : null, of: null });
    if ("value" in read) onChange(read.value);
  }
  return (
    <>
      <CodeEditor
        aria-describedby={issue ? noteId : undefined}
        aria-invalid={issue !== null}
        aria-label={label}
        id={id}
        language="json"
        onChange={change}
        placeholder="JSON"
        ref={editor}
        required={needed}
        value={text}
      />
      {issue ? (
        <div className="relative">
          <p className="text-failed text-xs" id={noteId}>
            {issue}
          </p>
          <InvalidMark isInvalid onInvalid={() => editor.current?.element()?.focus()} />
        </div>
      ) : null}
    </>
  );
}

function readOrIssue(text: string): { value: Json | undefined } | { issue: string } {
  try {
    return { value: text.trim() === "" ? undefined : readTypedJson(text) };
  } catch (error) {
    return { issue: error instanceof Error ? error.message : "This is not valid JSON." };
  }
}
