import { WithRaw } from "../json/view";
import { Markdown } from "./markdown";
import { isMarkedUp } from "./marked-up";

/** A text as Markdown, with a switch to the text as stored if the two look different. */
export function FormattedText({ text, folded }: { text: string; folded: boolean }) {
  const formatted = <Markdown folded={folded} text={text} />;
  return folded || !isMarkedUp(text) ? formatted : <WithRaw text={text}>{formatted}</WithRaw>;
}
