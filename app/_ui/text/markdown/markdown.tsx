"use client";

import { memo, useMemo } from "react";
import { ProgressiveList } from "../plain-text";
import { cutMarkdown, MarkdownPiece } from "./elements";

/** Pieces drawn before the reader asks for more: 128 Ki characters. */
const PIECES_AT_ONCE = 32;

/**
 * Renders Markdown from a model, which is untrusted. Raw HTML is not rendered, links open in a new tab without a
 * referrer, and only embedded images are shown. Its headings are below those of the page. A long text is drawn in
 * pieces; `folded` draws only the start.
 */
export function Markdown({ text, folded = false }: { text: string; folded?: boolean }) {
  const { pieces, restore } = useMemo(() => cutMarkdown(text, folded), [text, folded]);
  return (
    <div className="prose">
      <ProgressiveList atOnce={PIECES_AT_ONCE} pieces={pieces}>
        {(piece, index) => <Piece key={index} restore={restore} text={piece} />}
      </ProgressiveList>
    </div>
  );
}

const Piece = memo(MarkdownPiece);
