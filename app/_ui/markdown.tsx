"use client";

import type { ComponentProps } from "react";
import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";
import { Sideways } from "@/app/_ui/sideways";

/**
 * Renders Markdown that a model wrote. It is not to be trusted: no raw HTML, links open apart and give nothing
 * away, images are shown only when they are inside the text itself, since loading one would tell a stranger.
 */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="prose">
      <ReactMarkdown
        components={{
          a: Anchor,
          img: Picture,
          input: Checkbox,
          pre: CodeBlock,
          table: WideTable,
          td: TableCell,
          th: TableHead,
        }}
        remarkPlugins={[remarkGfm]}
      >
        {text}
      </ReactMarkdown>
    </div>
  );
}

function Anchor({ href, children }: ComponentProps<"a">) {
  return (
    <a href={href} rel="noreferrer noopener nofollow" target="_blank">
      {children}
    </a>
  );
}

function Picture({ src, alt }: ComponentProps<"img">) {
  if (typeof src !== "string") return <>{alt}</>;
  return (
    <a href={src} rel="noreferrer noopener nofollow" target="_blank">
      {alt || "image"}
    </a>
  );
}

/** The box of a task in a list; nothing else in Markdown is an input. */
function Checkbox({ checked = false }: ComponentProps<"input">) {
  return <input aria-label={checked ? "done" : "not done"} checked={checked} disabled type="checkbox" />;
}

function CodeBlock({ children }: ComponentProps<"pre">) {
  return (
    <Sideways className="rounded-md border border-line bg-surface px-3 py-2.5" label="Code">
      <pre className="w-max min-w-full">{children}</pre>
    </Sideways>
  );
}

function WideTable({ children }: ComponentProps<"table">) {
  return (
    <Sideways label="Table">
      <table>{children}</table>
    </Sideways>
  );
}

// Column alignment would come as a style attribute, which the content security policy refuses.
function TableCell({ children }: ComponentProps<"td">) {
  return <td>{children}</td>;
}

function TableHead({ children }: ComponentProps<"th">) {
  return <th>{children}</th>;
}
