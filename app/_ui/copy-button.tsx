"use client";

import { useEffect, useState } from "react";
import { IconButton } from "@/app/_ui/button";
import { CheckIcon, CopyIcon, LinkIcon, PathIcon } from "@/app/_ui/icons";
import { describeError } from "@/app/_ui/query-client";
import { useNotify } from "@/app/_ui/toast";

const PICTURES = { text: <CopyIcon />, path: <PathIcon />, link: <LinkIcon /> };

/** Copies `text`, and says so for a moment in place; where it could not be had or copied, it says that. */
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
  const notify = useNotify();
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
        try {
          await copyText(typeof text === "string" ? text : await text());
          setCopied(true);
        } catch (error) {
          notify("Nothing was copied", describeError(error).message);
        }
      }}
      {...(className ? { className } : {})}
    >
      {copied ? <CheckIcon className="text-completed" /> : PICTURES[look]}
    </IconButton>
  );
}

/**
 * Puts a text on the clipboard, also on pages served without TLS, where the clipboard API is missing. Throws where the
 * browser does not let us.
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
  if (!copied) throw new Error("The browser did not allow it.");
}
