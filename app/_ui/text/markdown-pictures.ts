const WITHIN = /(?<=\]\(|\]: ?)data:image\/[a-z]+;base64,[\w+/]+={0,2}/gi;
const STAND_IN = /embedded-picture-(\d+)/g;

/**
 * Takes the pictures that a Markdown text holds inside itself out of it: `text` has a short name in the place of each, so that it
 * is read and cut without their megabytes, and `restore` puts them back into what was made of it.
 */
export function liftPictures(markdown: string): { text: string; restore: (made: string) => string } {
  const pictures: string[] = [];
  const text = markdown.replace(WITHIN, (picture) => `embedded-picture-${pictures.push(picture) - 1}`);
  const restore = (made: string) =>
    made.replace(STAND_IN, (name, index: string) => pictures[Number(index)] ?? name);
  return { text, restore };
}
