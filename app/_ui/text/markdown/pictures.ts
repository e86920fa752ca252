const WITHIN = /(?<=\]\(|\]: ?)data:image\/[a-z]+;base64,[\w+/]+={0,2}/gi;
const STAND_IN = /embedded-picture-(\d+)/g;

/**
 * Takes embedded pictures out of a Markdown text. `text` has a short name for each, so that megabytes need not be
 * parsed; `restore` puts them back.
 */
export function liftPictures(markdown: string): { text: string; restore: (made: string) => string } {
  const pictures: string[] = [];
  const text = markdown.replace(WITHIN, (picture) => `embedded-picture-${pictures.push(picture) - 1}`);
  const restore = (made: string) =>
    made.replace(STAND_IN, (name, index: string) => pictures[Number(index)] ?? name);
  return { text, restore };
}
