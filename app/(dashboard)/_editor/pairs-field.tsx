"use client";

import clsx from "clsx";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { IconButton } from "@/app/_ui/button";
import { CodeEditor, type EditorHandle } from "@/app/_ui/editor/code-editor";
import type { Completions } from "@/app/_ui/editor/language";
import { RemoveIcon } from "@/app/_ui/icons";
import { Segments } from "@/app/_ui/segments";
import { isJsonObject, tryParseJson, writeJson } from "@/server/base/json/json";
import { type Insertable, InsertMenu } from "./insert-menu";
import { doubledNames, type Pair, readPairs, textOfPair, writePairs } from "./pairs";

type PairsFieldProps = {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  lists: boolean;
  completions?: Completions | undefined;
  insertables: readonly Insertable[];
  takesSecrets?: boolean | undefined;
  value: unknown;
  /** Undefined: not set. */
  onChange: (value: unknown) => void;
  json: ReactNode;
};

/** An object as rows of names and values, such as headers. What rows cannot show is edited as JSON. */
export function PairsField({ label, hint, error, lists, value, onChange, json, ...props }: PairsFieldProps) {
  const id = useId();
  const read = readPairs(value, { lists });
  const [typed, setTyped] = useState<readonly Pair[]>([]);
  const [view, setView] = useState<"rows" | "json">("rows");
  const frame = useRef<HTMLFieldSetElement>(null);
  const editors = useRef(new Map<number, EditorHandle>());
  const focused = useRef<number | null>(null);
  const isTyped = writeJson(writePairs(typed, { lists }) ?? null) === writeJson(value ?? null);
  const rows = isTyped ? typed : (read ?? []);
  const blank: Pair = { key: 1 + Math.max(-1, ...rows.map(({ key }) => key)), name: "", value: "" };
  const shown = [...rows, blank];
  const doubled = lists ? [] : doubledNames(rows);
  const isRows = view === "rows" && read !== null;
  function write(next: readonly Pair[]) {
    setTyped(next);
    onChange(writePairs(next, { lists }));
  }
  const put = (row: Pair, change: Partial<Pair>) =>
    write(
      shown
        .filter((each) => each !== blank || row === blank)
        .map((each) => (each === row ? { ...each, ...change } : each)),
    );
  function remove(row: Pair) {
    write(rows.filter((each) => each !== row));
    frame.current?.querySelector("input")?.focus();
  }
  // An insert goes where the reader typed last.
  useEffect(() => {
    const { current } = frame;
    const keep = ({ target: at }: FocusEvent) => {
      const row = at instanceof Element ? at.closest<HTMLElement>("[data-row]") : null;
      if (row) focused.current = Number(row.dataset.row);
    };
    current?.addEventListener("focusin", keep);
    return () => current?.removeEventListener("focusin", keep);
  }, []);
  const target = () => editors.current.get(focused.current ?? blank.key) ?? editors.current.get(blank.key);
  const note =
    doubled.length > 0 ? `“${doubled[0]}” is given twice. The first one is used.` : (error ?? hint);
  const isInvalid = doubled.length > 0 || error !== undefined;
  return (
    <fieldset aria-describedby={note ? id : undefined} className="flex min-w-0 flex-col gap-1.5" ref={frame}>
      <legend className="sr-only">{label}</legend>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span aria-hidden="true" className="font-medium">
          {label}
        </span>
        <span className="flex items-center gap-2">
          {isRows ? (
            <InsertMenu
              control={{
                element: () => target()?.element() ?? null,
                insert(text) {
                  // A usual member, such as a header with a secret.
                  const members = rows.length === 0 ? tryParseJson(text) : null;
                  if (isJsonObject(members)) onChange(members);
                  else target()?.insert(text);
                },
              }}
              insertables={props.insertables}
              isEmpty={rows.length === 0}
              label={label}
              takesSecrets={props.takesSecrets}
            />
          ) : null}
          <Segments
            label={`${label} as`}
            onChange={setView}
            options={[
              { value: "rows", label: "Rows", disabled: read === null },
              { value: "json", label: "JSON" },
            ]}
            value={isRows ? "rows" : "json"}
          />
        </span>
      </div>
      {isRows ? (
        <ul
          aria-label={label}
          className={clsx(
            "divide-y divide-line rounded-md border",
            isInvalid ? "border-failed" : "border-input-line",
          )}
        >
          {shown.map((row, index) => (
            <li
              className="grid grid-cols-[minmax(0,2fr)_minmax(0,3fr)_2.25rem] items-start [&_.relative]:border-transparent"
              key={row.key}
            >
              <input
                aria-invalid={doubled.includes(row.name.toLowerCase()) || undefined}
                aria-label={`Name ${index + 1} of ${label}`}
                autoComplete="off"
                className="mono h-9.5 w-full min-w-0 rounded-md bg-canvas px-2.5 placeholder:text-faint aria-invalid:text-failed"
                onChange={({ target: { value: name } }) => put(row, { name })}
                placeholder="Name"
                spellCheck={false}
                value={row.name}
              />
              <div className="border-line border-l" data-row={row.key}>
                <CodeEditor
                  aria-label={`Value ${index + 1} of ${label}`}
                  completions={props.completions}
                  language="template"
                  look="line"
                  onChange={(text) => put(row, { value: text })}
                  placeholder="Value"
                  ref={(handle) => {
                    if (handle) editors.current.set(row.key, handle);
                    return () => void editors.current.delete(row.key);
                  }}
                  value={textOfPair(row.value)}
                />
              </div>
              {row === blank ? null : (
                <IconButton
                  className="m-1"
                  label={`Remove ${row.name || `row ${index + 1}`} from ${label}`}
                  onClick={() => remove(row)}
                >
                  <RemoveIcon />
                </IconButton>
              )}
            </li>
          ))}
        </ul>
      ) : (
        json
      )}
      {note && (isRows || doubled.length > 0) ? (
        <p
          className={clsx("text-xs [overflow-wrap:anywhere]", isInvalid ? "text-failed" : "text-muted")}
          id={id}
        >
          {note}
        </p>
      ) : null}
    </fieldset>
  );
}
