import { WithRaw } from "../json/view";
import { Markdown } from "./markdown";

/** A text as Markdown, with a switch to the text as stored if the two look different. */
export function FormattedText({ text, folded }: { text: string; folded: boolean }) {
  const formatted = <Markdown folded={folded} text={text} />;
  return folded || !MARKED_UP.test(text) ? formatted : <WithRaw text={text}>{formatted}</WithRaw>;
}

/** Without these characters, Markdown looks the same as plain text. */
const MARKED_UP = /[*_`#[\]|>~]/;
