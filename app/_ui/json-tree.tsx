"use client";

import { memo, useState } from "react";
import { classNames } from "@/app/_ui/class-names";
import { CopyButton } from "@/app/_ui/copy-button";
import { ChevronRightIcon } from "@/app/_ui/icons";
import { type JsonNode, joinPath, keysOf, memberOf, type Search } from "@/app/_ui/json-paths";
import type { Json } from "@/server/json";

/** So many children of one value are drawn before the reader asks for more. */
const CHILDREN_AT_ONCE = 100;
/** Deeper values start folded. */
const OPEN_DEPTH = 2;
/** Text values longer than this are folded. */
const LONG_TEXT = 400;
/** Pictures inside a document are shown; those on other servers are not, since loading one would tell a stranger. */
const PICTURE = /^data:image\/(png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=\s]+$/;

/** A JSON value as a tree that folds; with a search, only what leads to its hits. */
export function JsonTree({ value, search }: { value: JsonNode; search: Search | null }) {
  return (
    <div className="mono leading-5">
      <Children depth={0} path="" search={search} value={value} />
    </div>
  );
}

type ChildrenProps = { value: JsonNode; path: string; depth: number; search: Search | null };

const Children = memo(function Children({ value, path, depth, search }: ChildrenProps) {
  const [shown, setShown] = useState(CHILDREN_AT_ONCE);
  const isArray = Array.isArray(value);
  const all = keysOf(value);
  const keys = search ? all.filter((key) => search.paths.has(joinPath(path, key, isArray))) : all;
  if (all.length === 0) return <span className="text-muted">{isArray ? "[ ]" : "{ }"}</span>;
  return (
    <ul className={depth > 0 ? "border-line border-l pl-3" : undefined}>
      {keys.slice(0, shown).map((key) => (
        <Member
          depth={depth}
          isIndex={isArray}
          key={key}
          name={key}
          path={joinPath(path, key, isArray)}
          search={search}
          value={memberOf(value, key)}
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

type MemberProps = {
  name: string;
  value: Json;
  path: string;
  depth: number;
  isIndex: boolean;
  search: Search | null;
};

function Member({ name, value, path, depth, isIndex, search }: MemberProps) {
  const label = (
    <span className={isIndex ? "text-faint" : "text-json-key"}>
      <Marked search={search} text={name} />
    </span>
  );
  if (typeof value === "object" && value !== null) {
    return <Branch depth={depth} label={label} path={path} search={search} value={value} />;
  }
  return (
    <li className="group/node flex gap-2 rounded pl-4 hover:bg-hover">
      <span className="max-w-[45%] shrink-0 [overflow-wrap:anywhere]">{label}</span>
      <span className="min-w-0 flex-1">
        <Scalar search={search} value={value} />
      </span>
      <Copies path={path} value={value} />
    </li>
  );
}

function Branch({
  label,
  value,
  path,
  depth,
  search,
}: Omit<MemberProps, "name" | "isIndex" | "value"> & { label: React.ReactNode; value: JsonNode }) {
  const size = keysOf(value).length;
  const [open, setOpen] = useState(depth < OPEN_DEPTH && size <= CHILDREN_AT_ONCE);
  const unfolded = open || search !== null;
  return (
    <li>
      <div className="group/node flex gap-1 rounded hover:bg-hover">
        <button
          aria-expanded={unfolded}
          className="flex min-w-0 flex-1 items-center gap-1 text-left"
          onClick={() => setOpen(!open)}
          type="button"
        >
          <ChevronRightIcon
            className={classNames("shrink-0 text-faint", unfolded && "rotate-90")}
            height="12"
            width="12"
          />
          <span className="truncate">{label}</span>
          <span className="shrink-0 text-faint">{Array.isArray(value) ? `[${size}]` : `{${size}}`}</span>
        </button>
        <Copies path={path} value={value} />
      </div>
      {unfolded ? (
        <div className="pl-1.5">
          <Children depth={depth + 1} path={path} search={search} value={value} />
        </div>
      ) : null}
    </li>
  );
}

/** Copies of a value and of the way to it; there while one points at it. */
function Copies({ path, value }: { path: string; value: Json }) {
  return (
    <span className="flex h-5 w-10 shrink-0 items-center opacity-0 focus-within:opacity-100 group-hover/node:opacity-100">
      <CopyButton className="!size-5" label={`Copy the path ${path}`} look="path" text={path} />
      <CopyButton
        className="!size-5"
        label={`Copy the value of ${path}`}
        text={typeof value === "string" ? value : JSON.stringify(value, null, 2)}
      />
    </span>
  );
}

export function Scalar({
  value,
  search,
}: {
  value: string | number | boolean | null;
  search: Search | null;
}) {
  if (typeof value === "string") return <TextValue search={search} text={value} />;
  return (
    <span className={typeof value === "number" ? "text-json-number" : "text-json-word"}>
      <Marked search={search} text={String(value)} />
    </span>
  );
}

function TextValue({ text, search }: { text: string; search: Search | null }) {
  const [open, setOpen] = useState(false);
  const long = text.length > LONG_TEXT;
  if (long && PICTURE.test(text)) {
    return (
      // biome-ignore lint/performance/noImgElement: the picture is inside the document; there is nothing to optimise.
      <img alt="Embedded" className="my-1 max-h-64 max-w-full rounded border border-line" src={text} />
    );
  }
  const hit = search && long ? text.search(search.pattern) : -1;
  const shown = long && !open ? text.slice(0, Math.max(LONG_TEXT, hit < 0 ? 0 : hit + LONG_TEXT)) : text;
  return (
    <span className="whitespace-pre-wrap text-json-string [overflow-wrap:anywhere]">
      "<Marked search={search} text={shown} />"
      {long ? (
        <button className="ml-1 text-accent hover:underline" onClick={() => setOpen(!open)} type="button">
          {open ? "less" : `… ${text.length - shown.length} more characters`}
        </button>
      ) : null}
    </span>
  );
}

/** A text with the search's hits marked. */
function Marked({ text, search }: { text: string; search: Search | null }) {
  const found = search?.pattern.exec(text);
  if (!found) return text;
  const end = found.index + found[0].length;
  return (
    <>
      {text.slice(0, found.index)}
      <mark className="rounded-sm bg-mark text-ink">{found[0]}</mark>
      <Marked search={search} text={text.slice(end)} />
    </>
  );
}
