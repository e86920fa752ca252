"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { CodeField } from "@/app/_ui/editor/code-field";
import { schemaOf } from "@/app/_ui/editor/text/schema";
import { PlainText } from "@/app/_ui/text/plain-text";
import { tryParseJson } from "@/server/base/json/json";
import { exampleForTemplate } from "@/server/catalog/webhooks/template-example";

/** A message template with a preview on a sample body. */
export function TemplateField(field: {
  value: string;
  error: string | undefined;
  onChange: (template: string) => void;
}) {
  const trpc = useTRPC();
  const [typed, setTyped] = useState<string | null>(null);
  const body = typed ?? JSON.stringify(exampleForTemplate(field.value));
  const preview = useMutation(trpc.triggers.previewTemplate.mutationOptions());
  return (
    <div className="flex flex-col gap-2">
      <Template {...field} note="Empty: the body as received." sample={body} />
      {field.value.trim() === "" ? null : (
        <details className="rounded-md border border-line px-2.5 py-2">
          <summary className="cursor-pointer text-muted">Preview</summary>
          <div className="mt-2 flex flex-col items-start gap-2">
            <CodeField
              className="w-full"
              label="Sample body"
              language="json"
              onChange={setTyped}
              value={body}
            />
            <Preview onPreview={() => preview.mutate({ template: field.value, body })} preview={preview} />
          </div>
        </details>
      )}
    </div>
  );
}

/** Previews the message that a template creates from one delivery, without changing the trigger. */
export function TemplatePreview({ deliveryId, saved }: { deliveryId: string; saved: string | null }) {
  const trpc = useTRPC();
  const [template, setTemplate] = useState(saved ?? "{{ body }}");
  const preview = useMutation(trpc.triggers.previewMessage.mutationOptions());
  return (
    <div className="flex flex-col items-start gap-2">
      <Template
        className="w-full"
        note="A preview changes nothing."
        onChange={setTemplate}
        value={template}
      />
      <Preview
        disabled={template.trim() === ""}
        onPreview={() => preview.mutate({ deliveryId, template })}
        preview={preview}
      />
    </div>
  );
}

type TemplateProps = {
  note: string;
  sample?: string;
  value: string;
  error?: string | undefined;
  className?: string;
  onChange: (template: string) => void;
};

function Template({ note, sample, ...field }: TemplateProps) {
  return (
    <CodeField
      {...field}
      completions={{ scopeAt: () => scopeOf(sample) }}
      hint={
        <>
          Text with JSONata over <span className="mono">body</span> in {"{{ }}"}. {note}
        </>
      }
      label="Message template"
      language="template"
      placeholder="Order {{ body.order.id }} was created."
    />
  );
}

const scopeOf = (sample = "") => ({ properties: { body: schemaOf(tryParseJson(sample)) } });

type PreviewProps = {
  preview: { data: { message: string } | undefined; error: unknown; isPending: boolean };
  disabled?: boolean;
  onPreview: () => void;
};

function Preview({ preview: { data, error, isPending }, disabled = false, onPreview }: PreviewProps) {
  return (
    <>
      <Button disabled={isPending || disabled} onClick={onPreview}>
        {isPending ? "Loading" : "Preview the message"}
      </Button>
      <div aria-live="polite" className="w-full">
        {error !== null ? (
          <p className="text-failed [overflow-wrap:anywhere]">{describeError(error).message}</p>
        ) : data === undefined ? null : (
          <section aria-label="Message" className="rounded-md border border-line bg-surface px-3 py-2">
            <PlainText text={data.message} />
          </section>
        )}
      </div>
    </>
  );
}
