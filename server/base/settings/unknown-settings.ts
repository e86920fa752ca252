const PREFIX = "STEPWELL_";
/** Settings of the start itself, and of tests. */
const OTHERS = /^STEPWELL_(ENV_FILE|NEXT_DIR|E2E_\w+)$/;
/** Names that differ by more are not taken for misspelt. */
const MAX_EDITS = 2;

/** Other programs take them for outbound calls (langflow-ai/langflow#10297). */
const PROXIES = /^(https?|all)_proxy$/i;

/**
 * A sentence for each STEPWELL_* name that nothing reads, with the setting that was probably meant, and one for each address
 * of a proxy.
 */
export function describeUnknownSettings(names: readonly string[], settings: readonly string[]): string[] {
  const unknown = names.filter(
    (name) => name.startsWith(PREFIX) && !settings.includes(name) && !OTHERS.test(name),
  );
  const proxies = names.filter((name) => PROXIES.test(name)).sort();
  const hints = unknown.sort().map((name) => {
    const [meant] = settings
      .map((known) => ({ known, edits: countEdits(name, known) }))
      .filter(({ edits }) => edits <= MAX_EDITS)
      .sort((one, two) => one.edits - two.edits);
    const hint =
      meant === undefined ? "docs/operating.md lists the settings." : `Did you mean ${meant.known}?`;
    return `${name} is not a setting and has no effect. ${hint}`;
  });
  return [...hints, ...proxies.map((name) => `${name} has no effect: outbound calls connect directly.`)];
}

/** The fewest insertions, deletions and replacements of characters that make one text of another. */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [above, character] of [...from].entries()) {
    const next = [above + 1];
    for (const [index, wanted] of [...to].entries()) {
      const replaced = (row[index] ?? 0) + (character === wanted ? 0 : 1);
      next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
