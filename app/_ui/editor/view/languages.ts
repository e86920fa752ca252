import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";
import { StreamLanguage } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import type { Language } from "../language";

const expression = StreamLanguage.define<{ isComment: boolean }>({
  name: "jsonata",
  startState: () => ({ isComment: false }),
  token(stream, state) {
    if (state.isComment || stream.match("/*")) {
      state.isComment = !stream.match(/^.*?\*\//);
      if (state.isComment) stream.skipToEnd();
      return "comment";
    }
    if (stream.eatSpace()) return null;
    if (stream.match(/^"(?:[^"\\]|\\.)*"?|^'(?:[^'\\]|\\.)*'?/)) return "string";
    if (stream.match(/^`[^`]*`?/)) return "propertyName";
    if (stream.match(/^\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/)) return "number";
    if (stream.match(/^\$\w*/)) return "variableName.special";
    if (stream.match(/^(?:and|or|in|true|false|null|function)\b/)) return "keyword";
    if (stream.match(/^[A-Za-z_]\w*/)) return "variableName";
    stream.next();
    return null;
  },
  languageData: {
    closeBrackets: { brackets: ["(", "[", "{", '"'] },
    commentTokens: { block: { open: "/*", close: "*/" } },
  },
});

/** The language of a text. That of scripts is large, and loaded with the first one. */
export async function loadLanguage(language: Language): Promise<Extension> {
  switch (language) {
    case "json":
      return json();
    case "yaml":
      return yaml();
    case "expression":
      return expression;
    case "javascript":
      return (await import("@codemirror/lang-javascript")).javascript();
    default:
      return [];
  }
}
