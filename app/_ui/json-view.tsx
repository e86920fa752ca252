"use client";

import { memo, type ReactNode, useMemo, useState } from "react";
import { classNames } from "@/app/_ui/class-names";
import { CopyButton } from "@/app/_ui/copy-button";
import { ChevronRightIcon } from "@/app/_ui/icons";
import type { Json } from "@/server/json";

/** So many children of one value are drawn before the reader asks for more. */
const CHILDREN_AT_ONCE = 100;
/** Deeper values start folded. */
const OPEN_DEPTH = 2;
/** Text values longer than this are folded. */
const LONG_TEXT = 400;

/** A JSON document as a tree that folds; what is no JSON (or cut, so that it cannot be read) as plain text. */
export function JsonView({ text, cut = false }: { text: string; cut?: boolean }) {
  const value = useMemo(() => (cut ? undefined : parse(text)), [text, cut]);
  if (value === undefined) return <PlainText text={text} />;
  if (typeof value === "string") return <PlainText text={value} />;
  if (typeof value !== "object" || value === null) return <Scalar value={value} />;
  return (
    <div className="mono leading-5">
      <Children depth={0} path="" value={value} />
    </div>
  );
}

export function PlainText({ text }: { text: string }) {
  return <pre className="mono whitespace-pre-wrap [overflow-wrap:anywhere]">{text}</pre>;
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const Children = memo(function Children({
  value,
  path,
  depth,
}: {
  value: Json[] | { [key: string]: Json };
  path: string;
  depth: number;
}) {
  const [shown, setShown] = useState(CHILDREN_AT_ONCE);
  const isArray = Array.isArray(value);
  const keys = isArray ? value.map((_, index) => String(index)) : Object.keys(value);
  if (keys.length === 0) return <span className="text-muted">{isArray ? "[ ]" : "{ }"}</span>;
  return (
    <ul className={depth > 0 ? "border-line border-l pl-3" : undefined}>
      {keys.slice(0, shown).map((key, index) => (
        <Node
          depth={depth}
          key={key}
          name={key}
          path={isArray ? `${path}[${key}]` : joinPath(path, key)}
          quiet={isArray}
          value={(isArray ? value[index] : Object.hasOwn(value, key) ? value[key] : null) ?? null}
        />
      ))}
      {keys.length > shown ? (
        <li>
          <button className="text-accent hover:underline" onClick={() => setShown(shown + 500)} type="button">
            {keys.length - shown} more
          </button>
        </li>
      ) : null}
    </ul>
  );
});

function Node({
  name,
  value,
  path,
  depth,
  quiet,
}: {
  name: string;
  value: Json;
  path: string;
  depth: number;
  quiet: boolean;
}) {
  const nested = typeof value === "object" && value !== null;
  const size = nested ? (Array.isArray(value) ? value.length : Object.keys(value).length) : 0;
  const [open, setOpen] = useState(depth < OPEN_DEPTH && size <= CHILDREN_AT_ONCE);
  const label = <span className={quiet ? "text-faint" : "text-json-key"}>{name}</span>;
  if (!nested) {
    return (
      <li className="group/node flex gap-2 rounded pl-4 hover:bg-hover">
        <span className="shrink-0 max-w-[45%] [overflow-wrap:anywhere]">{label}</span>
        <span className="min-w-0 flex-1">
          <Scalar value={value} />
        </span>
        <NodeActions path={path} value={value} />
      </li>
    );
  }
  return (
    <li>
      <div className="group/node flex gap-1 rounded hover:bg-hover">
        <button
          aria-expanded={open}
          className="flex min-w-0 flex-1 items-center gap-1 text-left"
          onClick={() => setOpen(!open)}
          type="button"
        >
          <ChevronRightIcon
            className={classNames("shrink-0 text-faint", open && "rotate-90")}
            height="12"
            width="12"
          />
          <span className="truncate">{label}</span>
          <span className="shrink-0 text-faint">{Array.isArray(value) ? `[${size}]` : `{${size}}`}</span>
        </button>
        <NodeActions path={path} value={value} />
      </div>
      {open ? (
        <div className="pl-1.5">
          <Children depth={depth + 1} path={path} value={value} />
        </div>
      ) : null}
    </li>
  );
}

function NodeActions({ path, value }: { path: string; value: Json }): ReactNode {
  return (
    <span className="hidden h-5 items-center group-focus-within/node:flex group-hover/node:flex">
      <CopyButton
        className="!size-5"
        label={`Copy the value of ${path}`}
        text={typeof value === "string" ? value : JSON.stringify(value, null, 2)}
      />
    </span>
  );
}

function Scalar({ value }: { value: string | number | boolean | null }) {
  if (typeof value === "string") return <TextValue text={value} />;
  if (typeof value === "number") return <span className="mono text-json-number">{String(value)}</span>;
  return <span className="mono text-json-word">{String(value)}</span>;
}

function TextValue({ text }: { text: string }) {
  const [open, setOpen] = useState(false);
  const long = text.length > LONG_TEXT;
  return (
    <span className="mono whitespace-pre-wrap text-json-string [overflow-wrap:anywhere]">
      "{long && !open ? text.slice(0, LONG_TEXT) : text}"
      {long ? (
        <button className="ml-1 text-accent hover:underline" onClick={() => setOpen(!open)} type="button">
          {open ? "less" : `… ${text.length - LONG_TEXT} more characters`}
        </button>
      ) : null}
    </span>
  );
}

function joinPath(path: string, key: string): string {
  if (/^[A-Za-z_$][\w$]*$/.test(key)) return path === "" ? key : `${path}.${key}`;
  return `${path}[${JSON.stringify(key)}]`;
}
