"use client";

import {
  type ComponentProps,
  createContext,
  memo,
  type ReactElement,
  useContext,
  useId,
  useMemo,
} from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { HorizontalScroll } from "../horizontal-scroll";
import { EmbeddedPicture, isEmbeddedPicture } from "./embedded-picture";
import { startOfFolded } from "./fold";
import { liftPictures } from "./markdown-pictures";
import { ProgressiveList } from "./progressive-list";
import { splitMarkdown } from "./text-pieces";

/** Characters per piece, small enough to parse and draw without a visible pause. */
const PIECE = 4_096;
/** Pieces drawn before the reader asks for more: 128 Ki characters. */
const PIECES_AT_ONCE = 32;
/** Deeper nesting takes seconds to draw and overflows the browser's stack. */
const DEEPEST = 60;
const TOO_DEEP = new RegExp(String.raw`^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])){${DEEPEST},}`, "m");

/**
 * Renders Markdown from a model, which is untrusted: no raw HTML, links open in a new tab without a referrer, and only
 * embedded images are shown. Its headings are below those of the page. A long text is drawn in pieces; `folded` draws
 * only the start.
 */
export function Markdown({ text, folded = false }: { text: string; folded?: boolean }) {
  const { pieces, restore } = useMemo(() => {
    const lifted = liftPictures(text);
    const seen = folded ? startOfFolded(lifted.text).replace(CUT_PICTURE, "") : lifted.text;
    return { pieces: splitMarkdown(seen, PIECE), restore: lifted.restore };
  }, [text, folded]);
  return (
    <div className="prose">
      <ProgressiveList atOnce={PIECES_AT_ONCE} pieces={pieces}>
        {(piece, index) => <Piece key={index} restore={restore} text={piece} />}
      </ProgressiveList>
    </div>
  );
}

/** What remains of an embedded picture that is cut in the middle. */
const CUT_PICTURE = /!\[[^\]]*\]\(embedded-picture-\d+$/;

type PieceProps = { text: string; restore: (made: string) => string };

const Piece = memo(function Piece({ text, restore }: PieceProps) {
  // Keeps the footnotes of several pieces and answers apart.
  const id = useId();
  return <div>{render(text, restore, id)}</div>;
});

/** A piece as elements, or as plain text if it is nested too deeply. */
function render(text: string, restore: PieceProps["restore"], id: string): ReactElement {
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

type Node = { type: string; value?: string; children?: Node[] };

/** Restores pictures that were plain text, such as in code, and refuses deep nesting. */
function postprocess(restore: PieceProps["restore"]) {
  const visit = (node: Node, depth: number): void => {
    if (depth > DEEPEST) throw new RangeError("The text is nested too deeply.");
    if (node.type === "text" && node.value !== undefined) node.value = restore(node.value);
    for (const child of node.children ?? []) visit(child, depth + 1);
  };
  return (tree: Node) => visit(tree, 0);
}

const InLink = createContext(false);

/**
 * A link to another site, in a new tab, or between a footnote and its mark. Other links, such as `javascript:` or a
 * path of ours, become text.
 */
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
    <InLink value={true}>
      <a href={href} rel="noreferrer noopener nofollow" target="_blank">
        {children}
      </a>
    </InLink>
  );
}

function isForeign(address: string): boolean {
  return /^(https?:\/\/|mailto:|tel:)/i.test(address) && URL.canParse(address);
}

/** An embedded picture. One on another server becomes a link. */
function Picture({ src, alt = "" }: ComponentProps<"img">) {
  const inLink = useContext(InLink);
  if (typeof src === "string" && isEmbeddedPicture(src)) return <EmbeddedPicture alt={alt} src={src} />;
  if (inLink) return <>{alt || "image"}</>;
  return <Anchor href={typeof src === "string" ? src : ""}>{alt || "image"}</Anchor>;
}

/** The checkbox of a task list, the only input in Markdown. */
function Checkbox({ checked = false }: ComponentProps<"input">) {
  return <input aria-label={checked ? "done" : "not done"} checked={checked} disabled type="checkbox" />;
}

function CodeBlock({ children }: ComponentProps<"pre">) {
  return (
    <HorizontalScroll className="rounded-md border border-line bg-surface px-3 py-2.5" label="Code">
      <pre className="w-max min-w-full">{children}</pre>
    </HorizontalScroll>
  );
}

function WideTable({ children }: ComponentProps<"table">) {
  return (
    <HorizontalScroll label="Table">
      <table>{children}</table>
    </HorizontalScroll>
  );
}

// The alignment comes as a style attribute, which the content security policy refuses in the server's HTML.
function TableCell({ children, style }: ComponentProps<"td">) {
  return <td data-align={style?.textAlign}>{children}</td>;
}

function TableHead({ children, style }: ComponentProps<"th">) {
  return <th data-align={style?.textAlign}>{children}</th>;
}

const COMPONENTS: Components = {
  a: Anchor,
  // The page's title and the section's name are the levels above.
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children, className }) => <h4 className={className}>{children}</h4>,
  h3: ({ children }) => <h5>{children}</h5>,
  h4: ({ children }) => <h6>{children}</h6>,
  h5: ({ children }) => <h6>{children}</h6>,
  img: Picture,
  input: Checkbox,
  pre: CodeBlock,
  table: WideTable,
  td: TableCell,
  th: TableHead,
};
