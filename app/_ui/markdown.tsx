"use client";

import type { ComponentProps } from "react";
import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";

/**
 * Renders Markdown that a model wrote. It is not to be trusted: no raw HTML, links open apart and give nothing
 * away, images are shown only when they are inside the text itself, since loading one would tell a stranger.
 */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="prose">
      <ReactMarkdown
        components={{ a: Anchor, img: Picture, td: TableCell, th: TableHead }}
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

// Column alignment would come as a style attribute, which the content security policy refuses.
function TableCell({ children }: ComponentProps<"td">) {
  return <td>{children}</td>;
}

function TableHead({ children }: ComponentProps<"th">) {
  return <th>{children}</th>;
}
