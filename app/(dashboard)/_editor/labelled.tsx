import { type ReactNode, useId } from "react";

/** A labelled control with a hint and the problems of its field below. */
export function Labelled({
  label,
  hint,
  problems = [],
  children,
}: {
  label: string;
  hint?: ReactNode;
  problems?: readonly string[];
  children: (props: { id: string; "aria-describedby": string; "aria-invalid": boolean }) => ReactNode;
}) {
  const id = useId();
  const note = `${id}-note`;
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <label className="font-medium" htmlFor={id}>
        {label}
      </label>
      {children({ id, "aria-describedby": note, "aria-invalid": problems.length > 0 })}
      <div className="text-xs" id={note}>
        {problems.map((problem) => (
          <p className="text-failed" key={problem}>
            {problem}
          </p>
        ))}
        {problems.length === 0 && hint ? <p className="text-muted">{hint}</p> : null}
      </div>
    </div>
  );
}

/** A section of an editor. */
export function EditorSection({
  title,
  hint,
  children,
}: {
  title: string;
  hint?: string;
  children: ReactNode;
}) {
  return (
    <section aria-label={title} className="flex flex-col gap-3 border-line border-b px-4 py-5 sm:px-6">
      <div>
        <h2 className="font-semibold">{title}</h2>
        {hint ? <p className="text-muted">{hint}</p> : null}
      </div>
      {children}
    </section>
  );
}
