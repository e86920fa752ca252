import { startOfFolded } from "../long-text";
import { splitMarkdown } from "../text-pieces";
import type { Restore } from "./elements";

/** Characters per piece, small enough to parse and draw without a visible pause. */
const PIECE = 4_096;

const PICTURE = /(?<=\]\(|\]: ?)data:image\/[a-z]+;base64,[\w+/]+={0,2}/gi;
const PICTURE_NAME = /embedded-picture-(\d+)/g;

/** What remains of an embedded picture that is cut in the middle. */
const CUT_PICTURE = /!\[[^\]]*\]\(embedded-picture-\d+$/;

/** The pieces to draw of a Markdown text, without its embedded pictures, which `restore` puts back. */
export function cutMarkdown(text: string, folded: boolean): { pieces: string[]; restore: Restore } {
  const lifted = liftPictures(text);
  const seen = folded ? startOfFolded(lifted.text).replace(CUT_PICTURE, "") : lifted.text;
  return { pieces: splitMarkdown(seen, PIECE), restore: lifted.restore };
}

/**
 * Takes embedded pictures out of a Markdown text. `text` has a short name for each, so that megabytes need not be
 * parsed; `restore` puts them back.
 */
function liftPictures(markdown: string): { text: string; restore: (made: string) => string } {
  const pictures: string[] = [];
  const text = markdown.replace(PICTURE, (picture) => `embedded-picture-${pictures.push(picture) - 1}`);
  const restore = (made: string) =>
    made.replace(PICTURE_NAME, (name, index: string) => pictures[Number(index)] ?? name);
  return { text, restore };
}
