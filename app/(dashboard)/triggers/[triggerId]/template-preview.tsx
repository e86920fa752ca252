"use client";

import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { MessagePreview } from "../_form/template-field";

/** Previews the message that a template creates from one delivery, without changing the trigger. */
export function TemplatePreview({ deliveryId, saved }: { deliveryId: string; saved: string | null }) {
  const trpc = useTRPC();
  const id = useId();
  const [template, setTemplate] = useState(saved ?? "{{ body }}");
  const preview = useMutation(trpc.triggers.previewMessage.mutationOptions());
  function submit(event: FormEvent) {
    event.preventDefault();
    preview.mutate({ deliveryId, template });
  }
  return (
    <form className="flex flex-col gap-2" onSubmit={submit}>
      <label className="font-medium" htmlFor={id}>
        Message template
      </label>
      <p className="text-muted">
        Text with JSONata over <span className="mono">body</span> in {"{{ }}"}. A preview changes nothing.
      </p>
      <textarea
        className="mono h-24 resize-y rounded-md border border-input-line bg-canvas p-2.5"
        id={id}
        maxLength={100_000}
        onChange={(event) => setTemplate(event.target.value)}
        required
        spellCheck={false}
        value={template}
      />
      <div>
        <Button disabled={preview.isPending || template.trim() === ""} type="submit">
          {preview.isPending ? "Loading" : "Preview the message"}
        </Button>
      </div>
      <div aria-live="polite">
        <MessagePreview preview={preview} />
      </div>
    </form>
  );
}
