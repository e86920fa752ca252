/** Whether Markdown would change how a text looks. Without these characters it looks the same as plain text. */
export function isMarkedUp(text: string): boolean {
  return /[*_`#[\]|>~]/.test(text);
}
