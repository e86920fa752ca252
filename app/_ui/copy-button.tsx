"use client";

import { useEffect, useState } from "react";
import { Button, IconButton } from "@/app/_ui/button";
import { describeError } from "@/app/_ui/data/query-client";
import { CheckIcon, CopyIcon, LinkIcon, PathIcon, WarningIcon } from "@/app/_ui/icons";
import { notify } from "@/app/_ui/toast";

const PICTURES = { text: <CopyIcon />, path: <PathIcon />, link: <LinkIcon /> };

function useCopy(text: string | (() => Promise<string>)) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [copied]);
  const onClick = () => copy(text, () => setCopied(true));
  return { copied, onClick };
}

/** Copies a text and calls `done`, or reports why nothing was copied. */
export async function copy(text: string | (() => Promise<string>), done: () => void): Promise<void> {
  try {
    await copyText(typeof text === "string" ? text : await text());
    done();
  } catch (error) {
    notify("Nothing was copied", describeError(error).message);
  }
}

type CopyButtonProps = {
  text: string | (() => Promise<string>);
  label: string;
  className?: string;
  look?: "text" | "path" | "link";
};

export function CopyButton({ text, label, className = "", look = "text" }: CopyButtonProps) {
  const { copied, onClick } = useCopy(text);
  return (
    <IconButton className={className} label={copied ? "Copied" : label} onClick={onClick}>
      {copied ? <CheckIcon className="text-completed" /> : PICTURES[look]}
    </IconButton>
  );
}

export function CopyTextButton({ label, text }: { label: string; text: string }) {
  const { copied, onClick } = useCopy(text);
  return (
    <Button onClick={onClick}>
      {copied ? <CheckIcon className="text-completed" /> : <CopyIcon />}
      {copied ? "Copied" : label}
    </Button>
  );
}

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

/**
 * Writes a text to the clipboard, also on pages without TLS, where the clipboard API is missing. Throws if the browser
 * does not allow it.
 */
async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "sr-only";
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  // The browser has moved the focus to the field.
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  if (!copied) throw new Error("The browser did not allow it. Select the text and copy it.");
}
