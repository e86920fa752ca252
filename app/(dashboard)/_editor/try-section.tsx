import type { ReactNode } from "react";
import type { Editor } from "./use-editor";

/** Where the draft is run. */
export function TrySection<Value>({ editor, children }: { editor: Editor<Value>; children: ReactNode }) {
  return (
    <section aria-label="Try the draft" className="flex min-w-0 flex-col gap-4">
      <div>
        <h2 className="font-semibold">Try the draft</h2>
        <p className="text-muted">
          {editor.opened === null
            ? `The ${editor.kind} is created first, then it runs.`
            : "It need not be saved."}{" "}
          A try costs what a run costs, and calls what a run calls.
        </p>
      </div>
      {children}
    </section>
  );
}
