import { useState } from "react";

/** Makes a form reject an empty text, as that of any required control. */
export function RequiredMark({ isMissing, onMissing }: { isMissing: boolean; onMissing: () => void }) {
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <input
        aria-hidden="true"
        className="pointer-events-none absolute bottom-0 left-2.5 h-px w-px opacity-0"
        onChange={() => {}}
        onInvalid={(event) => {
          // The browser cannot show its message at an element with text.
          event.preventDefault();
          setAsked(true);
          onMissing();
        }}
        required
        tabIndex={-1}
        value={isMissing ? "" : "set"}
      />
      {isAsked && isMissing ? (
        <p className="px-2.5 pb-1.5 text-failed text-xs" role="alert">
          Fill in this field.
        </p>
      ) : null}
    </>
  );
}
