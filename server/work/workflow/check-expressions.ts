import { nearestName } from "@/server/base/nearest-name";
import { listFunctions } from "@/server/work/functions/core/registry";
import type { TemplateExpression } from "@/server/work/workflow/expressions";
import type { Reference } from "@/server/work/workflow/references";

/** The names that an expression of a definition can read. */
export type Readable = {
  /** Null if other parameters are allowed. */
  parameters: ReadonlySet<string> | null;
  /** By the step's id; the position of its group, if it has one. */
  positions: ReadonlyMap<string, number>;
  secrets: readonly string[];
  index: number;
  item: string | null;
  mayHoldSecret: boolean;
};

const listed = (names: readonly string[]) => names.join(", ") || "none";

/** An issue of a reference. `findMeant` finds the member that a misspelt one means. */
type ReferenceIssue = { message: string; findMeant(): Meant | undefined };
export type Meant = { root: string; from: string; to: string };

export function findReferenceIssues(parsed: TemplateExpression, readable: Readable): ReferenceIssue[] {
  const issues = parsed.references.flatMap((reference) => {
    const message = describeReferenceIssue(reference, parsed, readable);
    return message === null ? [] : [{ message, findMeant: () => findMeant(reference, readable) }];
  });
  if (parsed.issue === null) return issues;
  return [{ message: parsed.issue, findMeant: () => undefined }, ...issues];
}

function findMeant({ root, member }: Reference, readable: Readable): Meant | undefined {
  if (root === null || member === null) return;
  const { positions, index, parameters, secrets, mayHoldSecret } = readable;
  const known = {
    steps: positions.has(member) ? [] : [...positions].filter(([, at]) => at < index).map(([name]) => name),
    input: [...(parameters ?? [])],
    secrets: mayHoldSecret && !secrets.includes(member) ? secrets : [],
  };
  const to =
    root === "steps" || root === "input" || root === "secrets" ? nearestName(member, known[root]) : undefined;
  return to === undefined ? undefined : { root, from: member, to };
}

function describeReferenceIssue(
  { root, member }: Reference,
  parsed: TemplateExpression,
  readable: Readable,
): string | null {
  const { parameters, item } = readable;
  if (root === null || root === "run" || root === item) return null;
  if (root === "secrets") return describeSecretIssue(parsed, readable);
  if (root === "steps") return member === null ? null : describeStepIssue(member, readable);
  if (root !== "input") {
    const names = ["input", "steps", "run", ...(item === null ? [] : [item])].join(", ");
    return `"${root.slice(0, 100)}" is not known here; expressions can use ${names}`;
  }
  if (member === null || parameters === null || parameters.has(member)) return null;
  return `input.${member} is not among the parameters; known parameters: ${listed([...parameters])}`;
}

function describeStepIssue(id: string, { positions, index }: Readable): string | null {
  const position = positions.get(id);
  if (position === undefined) {
    const known = [...positions].filter(([, at]) => at < index).map(([name]) => name);
    return `there is no step "${id.slice(0, 100)}"; steps before this one: ${listed(known)}`;
  }
  if (position === index) return `the step "${id}" cannot refer to itself or its group`;
  return position > index ? `the step "${id}" comes later` : null;
}

const HOST = /^\s*https?:\/\/[^\s/?#\\@]+[/?]/i;

/** A secret in an address is behind a host that is written out, so that no data decides who receives it. */
export function describeHostIssue(parts: readonly (string | TemplateExpression)[]): string | null {
  const secret = parts.find((part) => typeof part !== "string" && part.secret !== null);
  const [first] = parts;
  if (secret === undefined || (typeof first === "string" && HOST.test(first))) return null;
  return "the host must be written out before a secret, as in https://api.example.com/{{ secrets.NAME }}";
}

/** A secret stands alone in its braces, in a field of a call that may carry it. */
function describeSecretIssue(
  { secret, references }: TemplateExpression,
  { secrets, mayHoldSecret }: Readable,
): string | null {
  if (!mayHoldSecret) {
    const inputs = listFunctions().flatMap(({ name, secretFields = [] }) =>
      secretFields.length === 0 ? [] : [`${secretFields.join(", ")} of ${name}`],
    );
    return `secrets cannot be used here; they can be used in ${inputs.join("; ")}`;
  }
  if (secret === null) {
    const name = references.find(({ root }) => root === "secrets")?.member ?? "NAME";
    return `a secret must stand alone in its braces: {{ secrets.${name.slice(0, 100)} }}`;
  }
  if (secrets.includes(secret)) return null;
  const known = secrets.length === 0 ? "there are none yet" : `known secrets: ${secrets.join(", ")}`;
  return `there is no secret "${secret}"; ${known}`;
}
