"use client";

import dynamic from "next/dynamic";
import { Suspense } from "react";
import { isMarkedUp, startOfFolded } from "../long-text";
import { PlainText } from "../plain-text";
import { WithRaw } from "../raw-switch";
import type { FirstView } from "./first-view";

/** The parser is a sixth of a page's script. */
const Markdown = dynamic(() => import("./markdown").then((part) => part.Markdown));

type TextProps = {
  text: string;
  folded?: boolean;
  /** As drawn by the server; ignored for another text. */
  first?: FirstView | null | undefined;
};

/** A text as Markdown. Until the parser is loaded it shows what the server has drawn, or the text as it is. */
export function MarkdownText({ text, folded = false, first }: TextProps) {
  const drawn = first?.text === text ? first : null;
  if (drawn?.folded === folded) return drawn.element;
  return (
    <Suspense fallback={drawn?.element ?? <PlainText prose text={folded ? startOfFolded(text) : text} />}>
      <Markdown folded={folded} text={text} />
    </Suspense>
  );
}

/** The same with a switch to the text as stored if the two look different. */
export function FormattedText({ text, folded = false, first }: TextProps) {
  const formatted = <MarkdownText first={first} folded={folded} text={text} />;
  return folded || !isMarkedUp(text) ? formatted : <WithRaw text={text}>{formatted}</WithRaw>;
}
