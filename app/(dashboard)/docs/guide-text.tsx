import type { ComponentProps } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { CopyButton } from "@/app/_ui/copy-button";
import { HorizontalScroll } from "@/app/_ui/horizontal-scroll";
import { Link } from "@/app/_ui/link";
import { TABLE_COMPONENTS } from "@/app/_ui/text/markdown/elements";
import { headingId, resolveLink } from "./guides";

/** A guide of this repository, rendered on the server. Its title is left out, because the page shows it. */
export function GuideText({ text }: { text: string }) {
  return (
    <div className="prose">
      <ReactMarkdown components={COMPONENTS} remarkPlugins={[remarkGfm]} skipHtml>
        {text.replace(/^# .*\n/, "")}
      </ReactMarkdown>
    </div>
  );
}

function Anchor({ href = "", children }: ComponentProps<"a">) {
  const address = resolveLink(href);
  if (address === null) return children;
  if (address.startsWith("http")) {
    return (
      <a href={address} rel="noreferrer" target="_blank">
        {children}
      </a>
    );
  }
  return <Link href={address}>{children}</Link>;
}

type Node = { value?: unknown; children?: readonly Node[] };

function textOf(node: Node | undefined): string {
  if (typeof node?.value === "string") return node.value;
  return (node?.children ?? []).map(textOf).join("");
}

const COMPONENTS: Components = {
  a: Anchor,
  h2: ({ node, children }) => (
    <h2 className="pt-4 font-semibold text-lg" id={headingId(textOf(node))}>
      {children}
    </h2>
  ),
  h3: ({ node, children }) => (
    <h3 className="pt-2" id={headingId(textOf(node))}>
      {children}
    </h3>
  ),
  // The pictures show this dashboard.
  img: () => null,
  pre: ({ node, children }) => (
    <div className="relative">
      <HorizontalScroll label="Code">
        <pre className="w-max min-w-full rounded-md border border-line bg-surface py-2.5 pr-11 pl-3">
          {children}
        </pre>
      </HorizontalScroll>
      <CopyButton
        className="absolute top-1.5 right-1.5 mt-0! bg-surface"
        label="Copy the lines"
        text={textOf(node)}
      />
    </div>
  ),
  ...TABLE_COMPONENTS,
};
