import { useState } from "react";

type InvalidMarkProps = { isInvalid: boolean; onInvalid: () => void };

/** Makes a form reject the text of an editor, which is no control of the form. */
export function InvalidMark({ isInvalid, onInvalid }: InvalidMarkProps) {
  return (
    <input
      aria-hidden="true"
      className="pointer-events-none absolute bottom-0 left-2.5 h-px w-px opacity-0"
      onChange={() => {}}
      onInvalid={(event) => {
        // The browser cannot show its message at an element with text.
        event.preventDefault();
        onInvalid();
      }}
      required
      tabIndex={-1}
      value={isInvalid ? "" : "set"}
    />
  );
}

/** Makes a form reject an empty text, as that of any required control. */
export function RequiredMark({ isMissing, onMissing }: { isMissing: boolean; onMissing: () => void }) {
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <InvalidMark
        isInvalid={isMissing}
        onInvalid={() => {
          setAsked(true);
          onMissing();
        }}
      />
      {isAsked && isMissing ? (
        <p className="px-2.5 pb-1.5 text-failed text-xs" role="alert">
          Fill in this field.
        </p>
      ) : null}
    </>
  );
}
