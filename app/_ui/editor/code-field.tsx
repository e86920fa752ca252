"use client";

import { type Described, Labeled } from "@/app/_ui/forms/form";
import { CodeEditor, type CodeEditorProps } from "./code-editor";

type CodeFieldProps = Described &
  Omit<CodeEditorProps, "id" | "aria-label" | "aria-describedby" | "aria-invalid">;

export function CodeField({ label, end, hint, error, className, isLabelHidden, ...props }: CodeFieldProps) {
  return (
    <Labeled {...{ label, end, hint, error, className, isLabelHidden }}>
      {(control) => <CodeEditor {...control} {...props} />}
    </Labeled>
  );
}
