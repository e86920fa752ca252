import clsx from "clsx";
import type { FieldChange } from "@/server/catalog/field-changes";
import { diffLines } from "./diff";
import { nearChanges } from "./near-changes";

const LOOKS = { left: "bg-failed-wash", right: "bg-added-wash", same: "text-muted" } as const;
const MARKS = { left: "−", right: "+", same: " " } as const;
const WORDS = { left: "removed: ", right: "added: ", same: "" } as const;

/** One field before and after, compared by lines. */
export function FieldDiff({ change }: { change: FieldChange }) {
  const lines =
    change.from === null || change.to === null
      ? (change.to ?? change.from ?? "")
          .split("\n")
          .map((text) => ({ kind: change.to === null ? ("left" as const) : ("right" as const), text }))
      : diffLines(change.from, change.to);
  return (
    <div>
      <h3 className="text-muted text-xs">{change.field}</h3>
      {lines ? (
        <pre
          className="mono mt-0.5 max-h-96 overflow-auto rounded-md border border-line"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
          tabIndex={0}
        >
          {nearChanges(lines).map((line, index) => (
            <span
              className={clsx(
                "block min-w-full whitespace-pre-wrap px-2 [overflow-wrap:anywhere]",
                line ? LOOKS[line.kind] : "text-faint",
              )}
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one comparison never change.
              key={index}
            >
              {line ? (
                <>
                  <span aria-hidden="true">{MARKS[line.kind]} </span>
                  <span className="sr-only">{WORDS[line.kind]}</span>
                  {line.text}
                </>
              ) : (
                "…"
              )}
            </span>
          ))}
        </pre>
      ) : (
        <p>Rewritten: the versions have too little in common for a comparison by lines.</p>
      )}
    </div>
  );
}
