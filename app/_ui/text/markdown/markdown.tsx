"use client";

import { memo, useMemo } from "react";
import { ProgressiveList } from "../plain-text";
import { cutMarkdown, MarkdownPiece } from "./elements";

/** 128 Ki characters. */
const PIECES_AT_ONCE = 32;

/**
 * Renders untrusted Markdown from a model: no raw HTML, links in a new tab without a referrer, only embedded
 * images. Its headings rank below those of the page. `folded`: only the start.
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
