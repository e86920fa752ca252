"use client";

import { useEffect, useState } from "react";
import { IconButton } from "@/app/_ui/button";
import { CheckIcon, CopyIcon, LinkIcon, PathIcon } from "@/app/_ui/icons";

const PICTURES = { text: <CopyIcon />, path: <PathIcon />, link: <LinkIcon /> };

/** Copies `text`, and says so for a moment in place. */
export function CopyButton({
  text,
  label,
  className,
  look = "text",
}: {
  text: string | (() => Promise<string>);
  label: string;
  className?: string;
  /** What is copied, for the picture. */
  look?: "text" | "path" | "link";
}) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <IconButton
      label={copied ? "Copied" : label}
      onClick={async () => {
        await copyText(typeof text === "string" ? text : await text());
        setCopied(true);
      }}
      {...(className ? { className } : {})}
    >
      {copied ? <CheckIcon className="text-completed" /> : PICTURES[look]}
    </IconButton>
  );
}

/** Puts a text on the clipboard, also on pages served without TLS, where the clipboard API is missing. */
export async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "sr-only";
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}
