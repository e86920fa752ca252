import { type ComponentProps, type ReactElement, useId } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { HorizontalScroll } from "../../horizontal-scroll";
import { EmbeddedPicture } from "../embedded-picture";
import { isEmbeddedPicture } from "../is-embedded-picture";
import { startOfFolded } from "../long-text";
import { splitMarkdown } from "../text-pieces";

type Restore = (made: string) => string;

/** In characters: parsed and drawn without a visible pause. */
const PIECE = 4_096;

const PICTURE = /(?<=\]\(|\]: ?)data:image\/[a-z]+;base64,[\w+/]+={0,2}/gi;
const PICTURE_NAME = /embedded-picture-(\d+)/g;

/** The rest of an embedded picture that is cut in the middle. */
const CUT_PICTURE = /!\[[^\]]*\]\(embedded-picture-\d+$/;

/** The pieces to draw of a Markdown text, without its embedded pictures, which `restore` puts back. */
export function cutMarkdown(text: string, folded: boolean): { pieces: string[]; restore: Restore } {
  const lifted = liftPictures(text);
  const seen = folded ? startOfFolded(lifted.text).replace(CUT_PICTURE, "") : lifted.text;
  return { pieces: splitMarkdown(seen, PIECE), restore: lifted.restore };
}

/** Replaces embedded pictures by short names, so that megabytes are not parsed; `restore` puts them back. */
function liftPictures(markdown: string): { text: string; restore: Restore } {
  const pictures: string[] = [];
  const text = markdown.replace(PICTURE, (picture) => `embedded-picture-${pictures.push(picture) - 1}`);
  const restore = (made: string) =>
    made.replace(PICTURE_NAME, (name, index: string) => pictures[Number(index)] ?? name);
  return { text, restore };
}

/** Deeper nesting takes seconds to draw and overflows the browser's stack. */
const DEEPEST = 60;
const TOO_DEEP = new RegExp(String.raw`^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])){${DEEPEST},}`, "m");

function renderMarkdown(text: string, restore: Restore, id: string): ReactElement {
  try {
    if (TOO_DEEP.test(text)) throw new RangeError("The text is nested too deeply.");
    return ReactMarkdown({
      children: text,
      components: COMPONENTS,
      rehypePlugins: [[postprocess, restore]],
      remarkPlugins: [remarkGfm],
      remarkRehypeOptions: { clobberPrefix: `${id}-` },
      // `Anchor` and `Picture` decide what may be linked and shown.
      urlTransform: restore,
    });
  } catch {
    return <p className="whitespace-pre-wrap">{restore(text)}</p>;
  }
}

/** A piece of a text that is drawn alone. */
export function MarkdownPiece({ text, restore }: { text: string; restore: Restore }) {
  // Keeps the footnotes of several pieces and answers apart.
  return <div>{renderMarkdown(text, restore, useId())}</div>;
}

type Node = {
  type: string;
  value?: string;
  tagName?: string;
  properties?: Record<string, unknown>;
  children?: Node[];
};

function postprocess(restore: Restore) {
  const visit = (node: Node, depth: number, inLink: boolean): void => {
    if (depth > DEEPEST) throw new RangeError("The text is nested too deeply.");
    if (node.type === "text" && node.value !== undefined) node.value = restore(node.value);
    if (node.tagName === "img" && inLink && node.properties) node.properties.dataInLink = true;
    const isLink = node.tagName === "a" && isForeign(String(node.properties?.href));
    for (const child of node.children ?? []) visit(child, depth + 1, inLink || isLink);
  };
  return (tree: Node) => visit(tree, 0, false);
}

/** Opens other sites in a new tab. Other links, such as `javascript:` or a path of ours, become text. */
function Anchor({ href = "", id, children, ...props }: ComponentProps<"a">) {
  if ("data-footnote-ref" in props || "data-footnote-backref" in props) {
    return (
      <a aria-label={props["aria-label"]} href={href} id={id}>
        {children}
      </a>
    );
  }
  if (!isForeign(href)) return <>{children}</>;
  return (
    <a href={href} rel="noreferrer noopener nofollow" target="_blank">
      {children}
    </a>
  );
}

function isForeign(address: string): boolean {
  return /^(https?:\/\/|mailto:|tel:)/i.test(address) && URL.canParse(address);
}

function Picture({ src, alt = "", ...props }: ComponentProps<"img">) {
  if (typeof src === "string" && isEmbeddedPicture(src)) return <EmbeddedPicture alt={alt} src={src} />;
  if ("data-in-link" in props) return <>{alt || "image"}</>;
  return <Anchor href={typeof src === "string" ? src : ""}>{alt || "image"}</Anchor>;
}

export const TABLE_COMPONENTS: Components = {
  table: ({ children }) => (
    <HorizontalScroll label="Table">
      <table>{children}</table>
    </HorizontalScroll>
  ),
  // The alignment comes as a style attribute, which the content security policy blocks in the server's HTML.
  td: ({ children, style }) => <td data-align={style?.textAlign}>{children}</td>,
  th: ({ children, style }) => <th data-align={style?.textAlign}>{children}</th>,
};

const COMPONENTS: Components = {
  a: Anchor,
  // The page's title and the section's name are the levels above.
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children, className }) => <h4 className={className}>{children}</h4>,
  h3: ({ children }) => <h5>{children}</h5>,
  h4: ({ children }) => <h6>{children}</h6>,
  h5: ({ children }) => <h6>{children}</h6>,
  img: Picture,
  // The checkbox of a task list, the only input in Markdown.
  input: ({ checked = false }) => (
    <input aria-label={checked ? "done" : "not done"} checked={checked} disabled type="checkbox" />
  ),
  pre: ({ children }) => (
    <HorizontalScroll className="rounded-md border border-line bg-surface px-3 py-2.5" label="Code">
      <pre className="w-max min-w-full">{children}</pre>
    </HorizontalScroll>
  ),
  ...TABLE_COMPONENTS,
};
