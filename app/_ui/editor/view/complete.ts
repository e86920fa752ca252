import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  startCompletion,
} from "@codemirror/autocomplete";
import { EditorState, type Extension } from "@codemirror/state";
import { type EditorView, hoverTooltip } from "@codemirror/view";
import { writeJson } from "@/server/base/json/json";
import type { Completions, Language } from "../language";
import { positionInJson } from "../text/json-position";
import type { Position } from "../text/position";
import { type Reference, referenceAtEnd, referenceInTemplate } from "../text/reference";
import { type Member, membersOf, namedValues, schemasAt, typeOf } from "../text/schema";
import { positionInYaml } from "../text/yaml-position";

/** Longer texts are not searched for keys at each key press. */
const MAX_LENGTH = 300_000;

/** Offers keys and values of a schema, what expressions can name, and names in prompts. */
export function completionOf(language: Language, completions: () => Completions): Extension {
  const source = (context: CompletionContext) => complete(context, { language, ...completions() });
  return [
    autocompletion({ icons: false, activateOnTypingDelay: 50 }),
    EditorState.languageData.of(() => [{ autocomplete: source }]),
    hoverTooltip((view, at) => describe(view, { at, language, ...completions() })),
  ];
}

type Asked = Completions & { language: Language };

function complete(context: CompletionContext, asked: Asked): CompletionResult | null {
  const { state, pos, explicit } = context;
  if (asked.language === "prompt") return completeName(context, asked);
  const position = positionIn(state, { ...asked, at: pos });
  const reference = referenceAt(state, { ...asked, at: pos }, position);
  if (reference !== null) {
    const members = membersOf(schemasAt(asked.scopeAt?.(position?.path ?? []), reference.path));
    return { from: reference.from, options: members.map(toReference), validFor: /^\w*$/ };
  }
  if (position === null || position.kind === "inside" || asked.schemaAt === undefined) return null;
  // An empty line offers its keys only if asked.
  if (position.kind === "key" && position.from === pos && !explicit) return null;
  const schemas = schemasAt(asked.schemaAt(position.path), []);
  const values = namedValues(schemas)
    .filter((value) => typeof value !== "object" || value === null)
    .map((value) => toValue(value, asked.language));
  const keys = membersOf(schemas)
    .filter(({ name }) => !position.keys.includes(name))
    .map((member) => ({ ...toOption(member), apply: keyApplied(member, asked.language, position) }));
  // An item of a YAML list may be a value.
  const options =
    position.kind === "value" ? values : asked.language === "yaml" ? [...keys, ...values] : keys;
  if (options.length === 0) return null;
  // Compared without the quote.
  const from = position.from + (state.sliceDoc(position.from, position.from + 1) === '"' ? 1 : 0);
  return { from: Math.min(from, pos), to: position.to, options, validFor: /^[\w-]*"?$/ };
}

function positionIn(state: EditorState, { language, at }: Asked & { at: number }): Position | null {
  if (state.doc.length > MAX_LENGTH) return null;
  if (language === "yaml") return positionInYaml(state.doc.toString(), at);
  return language === "json" ? positionInJson(state.doc.toString(), at) : null;
}

const MAX_EXPRESSION = 2_000;

function referenceAt(
  state: EditorState,
  { language, at, scopeAt, expressionKeys }: Asked & { at: number },
  position: Position | null,
): Reference | null {
  if (scopeAt === undefined) return null;
  const key = position?.path.at(-1);
  const isExpression =
    position?.kind === "value" && typeof key === "string" && expressionKeys?.has(key) === true;
  const whole = language === "expression" ? 0 : isExpression && position ? position.from : null;
  const start = whole ?? Math.max(0, at - MAX_EXPRESSION);
  const before = state.sliceDoc(start, at);
  const found =
    whole === null
      ? referenceInTemplate(before)
      : (referenceInTemplate(before) ?? referenceAtEnd(before.replace(/^["']/, " ")));
  return found && { ...found, from: found.from + start };
}

const toOption = ({ name, type, description }: Member): Completion => ({
  label: name,
  ...(type === "" ? {} : { detail: type }),
  ...(description === undefined ? {} : { info: description }),
  type: "property",
});

type Apply = Exclude<Completion["apply"], string | undefined>;
type Range = { from: number; to: number };

const applied =
  (apply: (view: EditorView, range: Range) => void): Apply =>
  (...[view, , from, to]) =>
    apply(view, { from, to });

function toReference(member: Member): Completion {
  const { name } = member;
  const text = /^[A-Za-z_]\w*$/.test(name) ? name : `\`${name}\``;
  const apply = applied((view, { from, to }) => {
    const line = view.state.doc.lineAt(from);
    const before = line.text.slice(0, from - line.from);
    const after = line.text.slice(to - line.from);
    const insert = `${before.endsWith("{{") ? " " : ""}${text}`;
    const isOpen = before.lastIndexOf("{{") > before.lastIndexOf("}}") && !/^[^{]*\}\}/.test(after);
    const end = isOpen ? " }}" : after.startsWith("}}") ? " " : "";
    put(view, { changes: { from, to, insert: insert + end }, anchor: from + insert.length });
  });
  return { ...toOption(member), apply };
}

function keyApplied({ name, schema }: Member, language: Language, { path }: Position): Apply {
  if (language === "json") return applied((view, range) => insert(view, range, `${writeJson(name)}: `));
  const text = plainYaml(name);
  const isObject = path.length > 0 && (schema.type === "object" || schema.properties !== undefined);
  return applied((view, range) => {
    // The members of an object begin in the next line, two columns further.
    const column = range.from - view.state.doc.lineAt(range.from).from;
    insert(view, range, isObject ? `${text}:\n${" ".repeat(column + 2)}` : `${text}: `);
  });
}

function toValue(value: unknown, language: Language): Completion {
  const text = language === "json" ? writeJson(value) : plainYaml(value);
  return { label: String(value), apply: applied((view, range) => insert(view, range, text)) };
}

function insert(view: EditorView, { from, to }: Range, text: string): void {
  const { state } = view;
  const start = text.startsWith('"') && state.sliceDoc(Math.max(0, from - 1), from) === '"' ? from - 1 : from;
  // The colon of a key that is renamed is there already.
  const colon = text.endsWith(": ") ? (/^\s*: ?/.exec(state.sliceDoc(to, to + 3))?.[0].length ?? 0) : 0;
  put(view, { changes: { from: start, to: to + colon, insert: text }, anchor: start + text.length });
  if (/\s$/.test(text)) startCompletion(view);
}

type Put = { changes: Range & { insert: string }; anchor: number };

function put(view: EditorView, { changes, anchor }: Put): void {
  view.dispatch({ changes, selection: { anchor }, userEvent: "input.complete", scrollIntoView: true });
}

function plainYaml(value: unknown): string {
  if (typeof value !== "string") return writeJson(value);
  const isPlain = /^[A-Za-z_][\w ./-]*$/.test(value) && !/^(?:true|false|null|yes|no|on|off)$/i.test(value);
  return isPlain ? value : writeJson(value);
}

function completeName(
  { state, pos, explicit }: CompletionContext,
  { names = [] }: Asked,
): CompletionResult | null {
  const line = state.doc.lineAt(pos);
  const word = /[A-Za-z][\w-]*$/.exec(line.text.slice(0, pos - line.from))?.[0] ?? "";
  if (!explicit && word.length < 2) return null;
  const found = names.filter(({ name }) => name.startsWith(word) && name !== word);
  if (found.length === 0) return null;
  const options = found.map(
    ({ name, title }): Completion => ({ label: name, detail: title, type: "function" }),
  );
  return { from: pos - word.length, options, filter: false };
}

function describe(view: EditorView, asked: Asked & { at: number }) {
  const { at, language, schemaAt } = asked;
  const position = positionIn(view.state, asked);
  if (position?.kind !== "key" || schemaAt === undefined || language === "expression") return null;
  const name = view.state.sliceDoc(position.from, position.to).replaceAll('"', "");
  const member = membersOf(schemasAt(schemaAt(position.path), [])).find((each) => each.name === name);
  if (member?.description === undefined) return null;
  const { description, schema } = member;
  return {
    pos: position.from,
    end: Math.max(position.to, at),
    create() {
      const dom = document.createElement("div");
      dom.className = "cm-hover";
      const head = dom.appendChild(document.createElement("div"));
      head.appendChild(document.createElement("strong")).textContent = name;
      const type = head.appendChild(document.createElement("span"));
      type.className = "cm-hover-type";
      type.textContent = typeOf(schema);
      dom.appendChild(document.createElement("div")).textContent = description;
      return { dom };
    },
  };
}
