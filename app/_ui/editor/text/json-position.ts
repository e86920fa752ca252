import type { Path, Position } from "./position";

type Frame = {
  isList: boolean;
  key: string;
  index: number;
  keys: string[];
  next: "key" | "colon" | "value" | "end";
};

const TOKEN = /"(?:[^"\\\n]|\\.)*"?|[{}[\],:]|[^\s{}[\],:"]+/g;

/** The position in a JSON text, which may be unfinished; null where neither a key nor a value belongs. */
export function positionInJson(text: string, offset: number): Position | null {
  const root: Frame = { isList: true, key: "", index: 0, keys: [], next: "value" };
  const frames = [root];
  let found: { position: Position; frame: Frame } | null = null;
  for (const { 0: token, index: from } of text.matchAll(TOKEN)) {
    const to = from + token.length;
    const frame = frames.at(-1) ?? root;
    if (found !== null && !frames.includes(found.frame)) break;
    const isTouched = from < offset && !/^[{}[\],:]$/.test(token) && offset < to + (isClosed(token) ? 0 : 1);
    if (found === null && (isTouched || from >= offset)) {
      const position = positionAt(frames, isTouched ? [from, to] : [offset, offset]);
      if (position === null) return null;
      found = { position, frame };
      if (isTouched && position.kind === "key") {
        // It is not one of the other keys.
        frame.next = "colon";
        continue;
      }
    }
    advance(frames, token);
  }
  return found?.position ?? positionAt(frames, [offset, offset]);
}

const isClosed = (token: string) => token.length > 1 && token.startsWith('"') && token.endsWith('"');

function positionAt(frames: readonly Frame[], [from, to]: readonly [number, number]): Position | null {
  const frame = frames.at(-1);
  if (frame === undefined || (frame.next !== "key" && frame.next !== "value")) return null;
  const kind = frame.next;
  return { kind, path: pathOf(frames.slice(1, kind === "key" ? -1 : undefined)), from, to, keys: frame.keys };
}

const pathOf = (frames: readonly Frame[]): Path =>
  frames.map(({ isList, key, index }) => (isList ? index : key));

function advance(frames: Frame[], token: string): void {
  const frame = frames.at(-1);
  if (frame === undefined) return;
  if (token === "{" || token === "[") {
    const isList = token === "[";
    frames.push({ isList, key: "", index: 0, keys: [], next: isList ? "value" : "key" });
  } else if (token === "}" || token === "]") {
    if (frames.length > 1) frames.pop();
    const parent = frames.at(-1);
    if (parent) parent.next = "end";
  } else if (token === ",") {
    frame.index += 1;
    frame.next = frame.isList ? "value" : "key";
  } else if (token === ":") {
    frame.next = "value";
  } else if (frame.next === "key") {
    frame.key = unquote(token);
    frame.keys.push(frame.key);
    frame.next = "colon";
  } else {
    frame.next = "end";
  }
}

const unquote = (token: string) => token.replace(/^"|"$/g, "");
