"use client";

import { createContext, useContext, useMemo, useState } from "react";
import { formatBytes } from "@/app/_ui/figures/format";
import { isExactNumber } from "@/server/base/json/exact-number";
import { type Json, writeJson } from "@/server/base/json/json";
import { CopyButton } from "../copy-button";
import { EmbeddedPicture } from "../text/embedded-picture";
import { isEmbeddedPicture } from "../text/is-embedded-picture";
import { type JsonNode, type Search, splitHits } from "./paths";

/** The search in the shown document; null: none. */
export const SearchContext = createContext<Search | null>(null);

const LONG_TEXT = 400;

type ScalarProps = { value: Exclude<Json, JsonNode>; most?: number };

/** A value without members; `most` is the number of characters shown before the reader asks for more. */
export function Scalar({ value, most = LONG_TEXT }: ScalarProps) {
  if (typeof value === "string") return <TextValue most={most} text={value} />;
  return (
    <span
      className={typeof value === "number" || isExactNumber(value) ? "text-json-number" : "text-json-word"}
    >
      <Marked text={String(value)} />
    </span>
  );
}

function TextValue({ text, most }: { text: string; most: number }) {
  const search = useContext(SearchContext);
  const [open, setOpen] = useState(false);
  const isPicture = useMemo(() => isEmbeddedPicture(text), [text]);
  if (isPicture) return <PictureValue source={text} />;
  const long = text.length > most;
  const hit = search && long ? text.search(search.pattern) : -1;
  const shown = long && !open ? text.slice(0, Math.max(most, hit < 0 ? 0 : hit + most)) : text;
  const quote = quoteFor(text);
  return (
    <span className="whitespace-pre-wrap text-json-string [overflow-wrap:anywhere]">
      {quote}
      <Marked text={shown} />
      {shown.length < text.length ? "…" : quote}
      {long ? (
        <button className="ml-1 text-accent hover:underline" onClick={() => setOpen(!open)} type="button">
          {open ? "less" : `${text.length - shown.length} more characters`}
        </button>
      ) : null}
    </span>
  );
}

function quoteFor(text: string): string {
  return ['"', "'", "`"].find((quote) => !text.includes(quote)) ?? '"';
}

/** Pictures on other servers are not loaded, because that would reveal the reader. */
function PictureValue({ source }: { source: string }) {
  const [head = "", data = ""] = source.split(",", 2);
  return (
    <span className="inline-flex max-w-full flex-col">
      <EmbeddedPicture alt="" src={source} />
      <span className="text-muted text-xs">
        {head.slice("data:".length).replace(";base64", "")},{" "}
        {formatBytes(Math.floor(data.trim().length * 0.75))}
      </span>
    </span>
  );
}

export function Marked({ text }: { text: string }) {
  const search = useContext(SearchContext);
  if (!search) return text;
  return splitHits(text, search.pattern).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text have no other name.
      <mark className="rounded-sm bg-mark text-ink" key={index}>
        {part}
      </mark>
    ),
  );
}

/** Buttons that copy a value and its path. They appear on hover and on focus. */
export function Copies({ path, value }: { path: string; value: Json }) {
  return (
    <span className="flex h-6 w-12 shrink-0 items-center opacity-0 focus-within:opacity-100 group-hover/node:opacity-100">
      <CopyButton className="!size-6" label={`Copy the path ${path}`} look="path" text={path} />
      <CopyButton
        className="!size-6"
        label={`Copy the value of ${path}`}
        text={typeof value === "string" ? value : writeJson(value, 2)}
      />
    </span>
  );
}
