"use client";

import { useDeferredValue, useMemo, useState } from "react";
import { isContainer, tryParseJson } from "@/server/base/json/json";
import { SearchField } from "../search-field";
import { isEmbeddedPicture } from "../text/is-embedded-picture";
import { PlainText } from "../text/plain-text";
import { RawSwitch, WithRaw } from "../text/raw-switch";
import { type JsonNode, keysOf, searchJson } from "./paths";
import { JsonTree } from "./tree";
import { Scalar, SearchContext } from "./values";

const SEARCHED_FROM = 200;

type JsonViewProps = {
  text: string;
  cut?: boolean;
  tools?: boolean;
  searchText?: string;
};

/** A JSON document as a tree, with tables for lists of records. Invalid or cut JSON is shown as plain text. */
export function JsonView({ text, cut = false, tools = false, searchText = "" }: JsonViewProps) {
  const value = useMemo(() => (cut ? undefined : tryParseJson(text)), [text, cut]);
  if (value === undefined) return <PlainText text={text} />;
  if (isContainer(value)) {
    return tools && keysOf(value).length > 0 ? (
      <DocumentWithTools searchText={searchText} text={text} value={value} />
    ) : (
      <JsonTree value={value} />
    );
  }
  const scalar = (
    <div className="mono">
      <Scalar value={value} />
    </div>
  );
  if (typeof value !== "string") return scalar;
  const shown = isEmbeddedPicture(value) ? scalar : <PlainText text={value} />;
  // Plain text without quotes or line ends looks the same raw and formatted.
  return tools && text.length > value.length + 2 ? <WithRaw text={text}>{shown}</WithRaw> : shown;
}

type DocumentWithToolsProps = { text: string; value: JsonNode; searchText: string };

function DocumentWithTools({ text, value, searchText: first }: DocumentWithToolsProps) {
  const [typed, setTyped] = useState(() => (first && searchJson(value, first)?.hits ? first : ""));
  const [startsWithHits] = useState(typed !== "");
  const searched = startsWithHits || text.length >= SEARCHED_FROM;
  const [raw, setRaw] = useState(false);
  const searchText = useDeferredValue(typed);
  const search = useMemo(() => searchJson(value, searchText), [value, searchText]);
  if (!searched) {
    return (
      <WithRaw text={text}>
        <JsonTree value={value} />
      </WithRaw>
    );
  }
  return (
    <div>
      <div className="mb-2 flex flex-wrap items-center gap-3">
        {raw ? null : (
          <>
            <SearchField
              className="w-56"
              label="Search this document"
              onChange={(event) => setTyped(event.target.value)}
              placeholder="Search names and values"
              value={typed}
            />
            <span aria-live="polite" className="text-muted text-xs">
              {search ? `${search.more ? "500 and more" : search.hits} found` : ""}
            </span>
          </>
        )}
        <RawSwitch className="ml-auto" onSwitch={setRaw} raw={raw} />
      </div>
      {raw ? (
        <PlainText text={text} />
      ) : (
        <SearchContext value={search}>
          <JsonTree value={value} />
        </SearchContext>
      )}
    </div>
  );
}

/** A JSON document with members, or undefined if the text is none. */
export function parseDocument(text: string): JsonNode | undefined {
  const value = /^\s*[[{]/.test(text) ? tryParseJson(text) : undefined;
  return isContainer(value) ? value : undefined;
}
