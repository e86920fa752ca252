/**
 * The reference at the end of an expression, such as `steps.order.bo`: the names before the last one, and the start of
 * the last one.
 */
export type Reference = { path: readonly (string | number)[]; from: number };

const END = /(?:(?:[A-Za-z_]\w*|`[^`]*`)(?:\[\d+\])?\.)*(?:[A-Za-z_]\w*|`[^`]*)?$/;

/** The reference at the end of an expression; null within a string, a number or the name of a variable. */
export function referenceAtEnd(expression: string): Reference | null {
  if (isInString(expression)) return null;
  const text = END.exec(expression)?.[0] ?? "";
  const begin = expression.length - text.length;
  if (/[\w$.`\]]$/.test(expression.slice(0, begin))) return null;
  const last = text.lastIndexOf(".") + 1;
  const names = text.slice(0, last).match(/`[^`]*`|\w+|\[\d+\]/g) ?? [];
  const path = names.map((name) =>
    name.startsWith("[") ? Number(name.slice(1, -1)) : name.replaceAll("`", ""),
  );
  return { path, from: begin + last };
}

/** The same in a text with `{{ }}`; null outside of them. */
export function referenceInTemplate(before: string): Reference | null {
  const open = before.lastIndexOf("{{");
  if (open === -1 || before.includes("}}", open)) return null;
  const found = referenceAtEnd(before.slice(open + 2));
  return found && { ...found, from: found.from + open + 2 };
}

function isInString(expression: string): boolean {
  let quote = "";
  for (let at = 0; at < expression.length; at += 1) {
    const sign = expression[at] ?? "";
    if (quote !== "" && sign === "\\") at += 1;
    else if (quote !== "") quote = sign === quote ? "" : quote;
    else if (sign === '"' || sign === "'") quote = sign;
  }
  return quote !== "";
}
