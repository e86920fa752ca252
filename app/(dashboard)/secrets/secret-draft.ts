export function referenceTo(name: string): string {
  return `{{ secrets.${name} }}`;
}

/** Advice for hosts that wait for a confirmation. */
export function confirmWith(waitingHosts: readonly string[]): string {
  return `Set the value again to confirm ${waitingHosts.join(", ")}.`;
}

/** The hosts in a text: one per line, or separated by commas or spaces. */
export function readHosts(text: string): string[] {
  return text.split(/[\s,]+/).filter((host) => host !== "");
}
