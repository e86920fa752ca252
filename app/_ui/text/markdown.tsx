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

/** Characters of one piece: parsing and drawing it must be no task that one feels. */
const PIECE = 4_096;
/** Pieces that are drawn before the reader asks for more: 128 Ki characters. */
const PIECES_AT_ONCE = 32;
/** Elements within elements beyond this are nobody's answer: they cost seconds, and exhaust the browser's stack. */
const DEEPEST = 60;
const TOO_DEEP = new RegExp(String.raw`^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])){${DEEPEST},}`, "m");

/**
 * Renders Markdown that a model wrote. It is not to be trusted: no raw HTML, links open apart and give nothing
 * away, images are shown only when they are inside the text itself, since loading one would tell a stranger. Its headings
 * stand below those of the page. A long text is drawn piece by piece, as far as the reader wants; `folded`: only the start
 * of it.
 */
export function Markdown({ text, folded = false }: { text: string; folded?: boolean }) {
  const { pieces, restore } = useMemo(() => {
    const lifted = liftPictures(text);
    const seen = folded ? startOfFolded(lifted.text).replace(UNFINISHED_PICTURE, "") : lifted.text;
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

/** What a picture leaves behind of whose megabytes only the first are there. */
const UNFINISHED_PICTURE = /!\[[^\]]*\]\(embedded-picture-\d+$/;

type PieceProps = { text: string; restore: (made: string) => string };

const Piece = memo(function Piece({ text, restore }: PieceProps) {
  // Footnotes of several pieces, and of several answers, must not be taken for one another's.
  const id = useId();
  return <div>{render(text, restore, id)}</div>;
});

/** A piece as elements; as plain text when it is nested so deeply that it cannot be drawn. */
function render(text: string, restore: PieceProps["restore"], id: string): ReactElement {
  try {
    if (TOO_DEEP.test(text)) throw new RangeError("The text is nested too deeply.");
    return ReactMarkdown({
      children: text,
      components: COMPONENTS,
      rehypePlugins: [[tend, restore]],
      remarkPlugins: [remarkGfm],
      remarkRehypeOptions: { clobberPrefix: `${id}-` },
      // What may be linked to and shown is decided where it is drawn.
      urlTransform: restore,
    });
  } catch {
    return <p className="whitespace-pre-wrap">{restore(text)}</p>;
  }
}

type Node = { type: string; value?: string; children?: Node[] };

/** Puts pictures back where they were mere text, in code say, and refuses what is nested too deeply. */
function tend(restore: PieceProps["restore"]) {
  const visit = (node: Node, depth: number): void => {
    if (depth > DEEPEST) throw new RangeError("The text is nested too deeply.");
    if (node.type === "text" && node.value !== undefined) node.value = restore(node.value);
    for (const child of node.children ?? []) visit(child, depth + 1);
  };
  return (tree: Node) => visit(tree, 0);
}

const InLink = createContext(false);

/** A link to another place, opened apart, or between a footnote and its mark; any other (`javascript:`, a path of ours) is its text. */
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

/** A picture inside the text; one on another server is a link to it. */
function Picture({ src, alt = "" }: ComponentProps<"img">) {
  const inLink = useContext(InLink);
  if (typeof src === "string" && isEmbeddedPicture(src)) return <EmbeddedPicture alt={alt} src={src} />;
  if (inLink) return <>{alt || "image"}</>;
  return <Anchor href={typeof src === "string" ? src : ""}>{alt || "image"}</Anchor>;
}

/** The box of a task in a list; nothing else in Markdown is an input. */
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
  // Above them are the page's title and the name of the text's place.
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
