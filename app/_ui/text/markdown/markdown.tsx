"use client";

import { memo, useId, useMemo } from "react";
import { ProgressiveList } from "../progressive-list";
import { type Restore, renderMarkdown } from "./elements";
import { cutMarkdown } from "./pieces";

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

const Piece = memo(function Piece({ text, restore }: { text: string; restore: Restore }) {
  // Keeps the footnotes of several pieces and answers apart.
  const id = useId();
  return <div>{renderMarkdown(text, restore, id)}</div>;
});
