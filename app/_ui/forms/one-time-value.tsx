"use client";

import { Button } from "@/app/_ui/button";
import { useCopy } from "@/app/_ui/copy-button";
import { CheckIcon, CopyIcon, WarningIcon } from "@/app/_ui/icons";

/** A secret that is shown once, with a copy button and a warning. */
export function OneTimeValue({ label, value, warning }: { label: string; value: string; warning: string }) {
  return (
    <section aria-label={label} className="flex flex-col gap-1.5">
      <h3 className="font-medium">{label}</h3>
      <div className="flex min-h-9 items-center gap-2 rounded-md border border-line-strong bg-surface py-0.5 pr-0.5 pl-2.5">
        <code className="mono min-w-0 flex-1 [overflow-wrap:anywhere]">{value}</code>
        <CopyTextButton label="Copy" text={value} />
      </div>
      <p className="flex items-start gap-2 rounded-md bg-waiting-wash px-2.5 py-2 text-waiting">
        <WarningIcon className="mt-0.5 shrink-0" />
        {warning}
      </p>
    </section>
  );
}

/** A button that copies a text and confirms it in place. */
export function CopyTextButton({ label, text }: { label: string; text: string }) {
  const { copied, onClick } = useCopy(text);
  return (
    <Button onClick={onClick}>
      {copied ? <CheckIcon className="text-completed" /> : <CopyIcon />}
      {copied ? "Copied" : label}
    </Button>
  );
}
