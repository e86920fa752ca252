"use client";

import clsx from "clsx";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { formatBytes } from "@/app/_ui/figures/format";
import { Button } from "../button";
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

type ProgressiveListProps = {
  pieces: readonly string[];
  atOnce: number;
  children: (piece: string, index: number) => ReactNode;
};

/**
 * Draws long content one piece per task, so that the page stays responsive: `atOnce` pieces, and as many again on
 * request.
 */
export function ProgressiveList({ pieces, atOnce, children }: ProgressiveListProps) {
  const [shown, setShown] = useState(1);
  const [wanted, setWanted] = useState(atOnce);
  const most = Math.min(wanted, pieces.length);
  useEffect(() => {
    if (shown >= most) return;
    const timer = setTimeout(() => setShown(shown + 1), 0);
    return () => clearTimeout(timer);
  }, [shown, most]);
  const here = Math.min(shown, most);
  return (
    <>
      {pieces.slice(0, here).map(children)}
      {shown >= wanted && pieces.length > wanted ? (
        <p className="mt-2 flex flex-wrap items-center gap-3 text-muted">
          <span>
            {sizeOf(pieces.slice(0, here))} of {sizeOf(pieces)} are shown.
          </span>
          <Button className="h-7" onClick={() => setWanted(wanted + atOnce)}>
            Show {sizeOf(pieces.slice(here, here + atOnce))} more
          </Button>
        </p>
      ) : null}
    </>
  );
}

function sizeOf(pieces: readonly string[]): string {
  return formatBytes(pieces.reduce((sum, piece) => sum + new Blob([piece]).size, 0));
}
