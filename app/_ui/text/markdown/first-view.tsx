import type { ReactNode } from "react";
import { cutMarkdown, MarkdownPiece } from "./elements";

/** A Markdown text that the server has drawn, in the state in which the page first shows it. */
export type FirstView = { text: string; folded: boolean; element: ReactNode };

/** Longer texts would be sent too often: as text, HTML and elements. */
const LONGEST = 16_384;

/** On the server: draws a Markdown text, so that the first view of a page needs no parser in the browser. */
export function firstViewOf(text: string, folded: boolean): FirstView | null {
  if (!folded && text.length > LONGEST) return null;
  const { pieces, restore } = cutMarkdown(text, folded);
  if (pieces.reduce((size, piece) => size + restore(piece).length, 0) > LONGEST) return null;
  const element = (
    <div className="prose">
      {pieces.map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one text have no other name.
        <MarkdownPiece key={index} restore={restore} text={piece} />
      ))}
    </div>
  );
  return { text, folded, element };
}
