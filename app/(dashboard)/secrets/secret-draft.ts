/** How a step of a tool refers to a secret. */
export function referenceTo(name: string): string {
  return `{{ secrets.${name} }}`;
}

/** The hosts in a text: one per line, or separated by commas or spaces. */
export function readHosts(text: string): string[] {
  return text.split(/[\s,]+/).filter((host) => host !== "");
}
