"use client";

import clsx from "clsx";
import { useMemo } from "react";
import { ProgressiveList } from "./progressive-list";
import { splitLines } from "./text-pieces";

const PIECE = 32_768;
const PIECES_AT_ONCE = 8;

/** A text drawn in pieces; `prose` is text by people, not machines. */
export function PlainText({ text, prose = false }: { text: string; prose?: boolean }) {
  const pieces = useMemo(() => splitLines(text, PIECE), [text]);
  return (
    <ProgressiveList atOnce={PIECES_AT_ONCE} pieces={pieces}>
      {(piece, index) => (
        <pre
          className={clsx("whitespace-pre-wrap [overflow-wrap:anywhere]", prose ? "font-sans" : "mono")}
          key={index}
        >
          {piece}
        </pre>
      )}
    </ProgressiveList>
  );
}
