/** Returns true if a text is a bitmap as a data URL (RFC 2397). SVG is excluded: it can hold scripts and links. */
export function isEmbeddedPicture(text: string): boolean {
  return /^data:image\/(png|jpe?g|gif|webp|avif|bmp);base64,[\w+/]+={0,2}\s*$/i.test(text);
}
