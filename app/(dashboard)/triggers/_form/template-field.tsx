"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { TextareaField } from "@/app/_ui/forms/form";
import { PlainText } from "@/app/_ui/text/plain-text";
import { exampleForTemplate } from "@/server/webhooks/example-body";

/** A message template with a preview on a sample body. */
export function TemplateField({
  value,
  error,
  onChange,
}: {
  value: string;
  error: string | undefined;
  onChange: (template: string) => void;
}) {
  const trpc = useTRPC();
  const [typed, setTyped] = useState<string | null>(null);
  const sample = typed ?? JSON.stringify(exampleForTemplate(value));
  const preview = useMutation(trpc.triggers.previewTemplate.mutationOptions());
  return (
    <div className="flex flex-col gap-2">
      <TextareaField
        error={error}
        hint={
          <>
            Text with JSONata over <span className="mono">body</span> in {"{{ }}"}. Empty: the body as
            received.
          </>
        }
        label="Message template"
        maxLength={100_000}
        onChange={onChange}
        placeholder="Order {{ body.order.id }} was created."
        value={value}
      />
      {value.trim() === "" ? null : (
        <details className="rounded-md border border-line px-2.5 py-2">
          <summary className="cursor-pointer text-muted">Preview</summary>
          <div className="mt-2 flex flex-col items-start gap-2">
            <TextareaField
              className="w-full"
              label="Sample body"
              maxLength={100_000}
              onChange={setTyped}
              value={sample}
            />
            <Button
              disabled={preview.isPending}
              onClick={() => preview.mutate({ template: value, body: sample })}
            >
              {preview.isPending ? "Loading" : "Preview the message"}
            </Button>
            <div aria-live="polite" className="w-full">
              <MessagePreview preview={preview} />
            </div>
          </div>
        </details>
      )}
    </div>
  );
}

/** The message of a preview, or why there is none. */
export function MessagePreview({
  preview: { data, error },
}: {
  preview: { data: { message: string } | undefined; error: unknown };
}) {
  if (error !== null)
    return <p className="text-failed [overflow-wrap:anywhere]">{describeError(error).message}</p>;
  if (data === undefined) return null;
  return (
    <section aria-label="Message" className="rounded-md border border-line bg-surface px-3 py-2">
      <PlainText text={data.message} />
    </section>
  );
}
