import {
  type AttemptLine,
  type GroupLine,
  isWork,
  type Line,
  type LineStatus,
  lineFacts,
  lineId,
  opensFolded,
  type WorkLine,
} from "../lines";

/**
 * Adds a group line above the items of each `forEach` step (`page[0]`, `page[1]`, …). Stores the descendants of groups
 * and model calls in `holds`.
 */
export function withGroups(lines: (WorkLine | AttemptLine)[]): (WorkLine | AttemptLine | GroupLine)[] {
  const all: (WorkLine | AttemptLine | GroupLine)[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    if (!line) break;
    const name = itemOf(line);
    const end = name === null ? at + 1 : endOfItems(lines, at, name);
    const held = lines.slice(at, end);
    const items = held.filter((each) => each.depth === line.depth).filter(isStep);
    // From the first item on: a run in progress may add more, and nothing may move then.
    if (name !== null) {
      all.push(groupOf(line, { label: name, items, holds: held.filter(isWork) }));
      all.push(...inside(held));
      at = end;
    } else {
      all.push(line);
      at += 1;
    }
  }
  return all.map((line, at) => {
    if (line.kind !== "call") return line;
    const holds = descendantsOf(all, at).filter(isWork);
    return holds.length > 0 ? { ...line, holds } : line;
  });
}

/** The items of a group, one level deeper. They may contain groups. */
function inside(held: (WorkLine | AttemptLine)[]): (WorkLine | AttemptLine | GroupLine)[] {
  const deeper: (WorkLine | AttemptLine | GroupLine)[] = [];
  for (let at = 0; at < held.length; ) {
    const item = held[at];
    if (!item) break;
    const within = descendantsOf(held, at);
    deeper.push(item, ...withGroups(within));
    at += 1 + within.length;
  }
  return deeper.map((line) => ({ ...line, depth: line.depth + 1 }));
}

export function isStep(line: Line): line is WorkLine & { kind: "step" } {
  return line.kind === "step";
}

/** The step's name in the definition: `page` for `page[3]`. */
function itemOf(line: Line): string | null {
  return line.kind === "step" && line.label === line.step.key
    ? (/^(.+)\[\d+\]$/.exec(line.label)?.[1] ?? null)
    : null;
}

function endOfItems(lines: Line[], from: number, name: string): number {
  const first = lines[from];
  let end = from + 1;
  for (; first && end < lines.length; end += 1) {
    const line = lines[end];
    const item = line && line.depth === first.depth && line.runId === first.runId && itemOf(line) === name;
    if (!line || !(line.depth > first.depth || item)) break;
  }
  return end;
}

/** The deeper lines that follow a line. */
function descendantsOf<Each extends Line>(lines: Each[], at: number): Each[] {
  const depth = lines[at]?.depth ?? 0;
  const end = lines.findIndex((line, index) => index > at && line.depth <= depth);
  return lines.slice(at + 1, end < 0 ? lines.length : end);
}

function groupOf(
  { runId, slug, depth }: Line,
  { label, items, holds }: { label: string; items: GroupLine["items"]; holds: readonly WorkLine[] },
): GroupLine {
  const prefix = slug.slice(0, slug.lastIndexOf(".") + 1);
  return { kind: "group", runId, slug: `${prefix}${label}`, label, depth, items, holds };
}

/** How many of the lines that a line holds have this status. */
export function countIn(line: Line, status: LineStatus): number {
  return (line.holds ?? []).filter((each) => lineFacts(each).status === status).length;
}

export function foldedAtFirst(lines: Line[]): ReadonlySet<string> {
  return new Set(lines.filter(opensFolded).map(lineId));
}

/** Removes the descendants of collapsed lines and marks those lines as collapsed. */
export function foldLines<Each extends Line>(lines: Each[], folded: ReadonlySet<string>): Each[] {
  if (folded.size === 0) return lines;
  const left: Each[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    if (!line) break;
    if (line.holds && folded.has(lineId(line))) {
      left.push({ ...line, folded: true });
      at += descendantsOf(lines, at).length;
    } else {
      left.push(line);
    }
  }
  return left;
}

/** The collapsible ancestors of a line, outermost first. */
export function holdersOf(lines: Line[], id: string): Line[] {
  const at = lines.findIndex((line) => lineId(line) === id);
  const holders: Line[] = [];
  let depth = lines[at]?.depth ?? 0;
  for (let above = at - 1; above >= 0 && depth > 0; above -= 1) {
    const line = lines[above];
    if (!line || line.depth >= depth) continue;
    depth = line.depth;
    if (line.holds) holders.unshift(line);
  }
  return holders;
}
