/**
 * A value of a step's input as a text to edit. A value that is a text by its schema is shown as it is. Any other is
 * shown as JSON, except a text that cannot be mistaken for JSON, such as `{{ input.city }}`.
 */
export function showValue(value: unknown, isText: boolean): string {
  if (value === undefined) return "";
  if (typeof value !== "string") return JSON.stringify(value, null, 2);
  return isText || (value !== "" && readValue(value, false) === value) ? value : JSON.stringify(value);
}

/** The value of an edited text; undefined if it is empty. */
export function readValue(text: string, isText: boolean): unknown {
  if (text === "") return undefined;
  if (isText) return text;
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}
