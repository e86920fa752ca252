"use client";

import { useEffect, useState } from "react";
import { IconButton } from "@/app/_ui/button";
import { describeError } from "@/app/_ui/data/query-client";
import { CheckIcon, CopyIcon, LinkIcon, PathIcon } from "@/app/_ui/icons";
import { useNotify } from "@/app/_ui/toast";

const PICTURES = { text: <CopyIcon />, path: <PathIcon />, link: <LinkIcon /> };

/** Copies a text; `copied` is true for a moment afterwards. Shows an error if it could not be loaded or copied. */
export function useCopy(text: string | (() => Promise<string>)) {
  const notify = useNotify();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [copied]);
  async function onClick() {
    try {
      await copyText(typeof text === "string" ? text : await text());
      setCopied(true);
    } catch (error) {
      notify("Nothing was copied", describeError(error).message);
    }
  }
  return { copied, onClick };
}

type CopyButtonProps = {
  text: string | (() => Promise<string>);
  label: string;
  className?: string;
  /** The icon of the copied value. */
  look?: "text" | "path" | "link";
};

/** An icon that copies `text` and confirms it in place. */
export function CopyButton({ text, label, className = "", look = "text" }: CopyButtonProps) {
  const { copied, onClick } = useCopy(text);
  return (
    <IconButton className={className} label={copied ? "Copied" : label} onClick={onClick}>
      {copied ? <CheckIcon className="text-completed" /> : PICTURES[look]}
    </IconButton>
  );
}

/**
 * Writes a text to the clipboard, also on pages without TLS, where the clipboard API is missing. Throws if the browser
 * refuses.
 */
export async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "sr-only";
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  if (!copied) throw new Error("The browser did not allow it. Select the text and copy it.");
}
