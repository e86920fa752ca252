import { startOfFolded } from "../long-text";
import { splitMarkdown } from "../text-pieces";
import type { Restore } from "./elements";
import { liftPictures } from "./pictures";

/** Characters per piece, small enough to parse and draw without a visible pause. */
const PIECE = 4_096;

/** What remains of an embedded picture that is cut in the middle. */
const CUT_PICTURE = /!\[[^\]]*\]\(embedded-picture-\d+$/;

/** The pieces to draw of a Markdown text, without its embedded pictures, which `restore` puts back. */
export function cutMarkdown(text: string, folded: boolean): { pieces: string[]; restore: Restore } {
  const lifted = liftPictures(text);
  const seen = folded ? startOfFolded(lifted.text).replace(CUT_PICTURE, "") : lifted.text;
  return { pieces: splitMarkdown(seen, PIECE), restore: lifted.restore };
}
