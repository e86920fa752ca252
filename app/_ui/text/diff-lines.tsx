import clsx from "clsx";
import { useMemo } from "react";
import { formatCount } from "@/app/_ui/figures/format";
import { clipLines, type ShownLine } from "./clip-lines";
import type { DiffLine } from "./diff";

const LOOKS = { left: "bg-removed-wash", right: "bg-added-wash", same: "text-muted" } as const;
const MARKED = { left: "bg-failed-fill/25", right: "bg-completed-fill/25", same: undefined } as const;
const MARKS = { left: "− ", right: "+ ", same: "  " } as const;

type SideWords = { left: string; right: string };

type DiffLinesProps = { label: string; lines: readonly (DiffLine | null)[]; words: SideWords };

/** Compared lines; null: lines are left out. */
export function DiffLines({ label, lines, words }: DiffLinesProps) {
  const shown = useMemo(() => clipLines(lines), [lines]);
  return (
    <section
      aria-label={label}
      className="mono max-h-96 overflow-auto rounded-md border border-line"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to take the focus.
      tabIndex={0}
    >
      {shown.map((line, index) => (
        <div
          className={clsx(
            "whitespace-pre-wrap pr-2 pl-6 -indent-4 [overflow-wrap:anywhere]",
            line ? LOOKS[line.kind] : "text-faint",
          )}
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of two fixed texts.
          key={index}
        >
          {line ? <Line line={line} words={words} /> : "…"}
        </div>
      ))}
    </section>
  );
}

function Line({ line: { kind, text, before, after, pieces }, words }: { line: ShownLine; words: SideWords }) {
  return (
    <>
      <span aria-hidden="true" className="select-none text-muted">
        {MARKS[kind]}
      </span>
      <span className="sr-only">{kind === "same" ? "" : `${words[kind]}: `}</span>
      {before > 0 ? <LeftOut characters={before} /> : null}
      {pieces
        ? pieces.map((piece, index) => (
            <span
              className={piece.changed ? MARKED[kind] : undefined}
              // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a fixed line.
              key={index}
            >
              {piece.text}
            </span>
          ))
        : text}
      {after > 0 ? <LeftOut characters={after} /> : null}
    </>
  );
}

function LeftOut({ characters }: { characters: number }) {
  return <span className="text-faint"> … {formatCount(characters)} characters … </span>;
}
