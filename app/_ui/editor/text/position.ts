/** The location of a value in a document, such as `["steps", 0, "with", "url"]`. */
export type Path = readonly (string | number)[];

/** The place of the cursor in a document of keys and values. */
export type Position = {
  /**
   * `key`: a key or a list item. `value`: of the path's last key. `inside`: within that value, which is not parsed
   * further.
   */
  kind: "key" | "value" | "inside";
  path: Path;
  from: number;
  to: number;
  keys: readonly string[];
};

/** The path that a JSON pointer names. The keys of lists are digits. */
export const readPointer = (pointer: string): Path =>
  pointer
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
