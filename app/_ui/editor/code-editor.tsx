"use client";

import clsx from "clsx";
import {
  type Ref,
  useEffect,
  useEffectEvent,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { createStore } from "@/app/_ui/data/store";
import { type Completions, type EditorProblem, indents, type Language } from "./language";
import { RequiredMark } from "./required-mark";
import type { Editor } from "./view/editor";

/** The handle of an editor for its page. Calls before the editor is loaded take effect then. */
export type EditorHandle = {
  element: () => HTMLElement | null;
  insert: (text: string) => void;
  /** Lines count from 1; null: only moves the focus. */
  showLine: (line: number | null) => void;
};

type Look = "line" | "value" | "block" | "page";

export type CodeEditorProps = {
  language: Language;
  look?: Look;
  value: string;
  onChange: (value: string) => void;
  id?: string | undefined;
  "aria-label"?: string | undefined;
  "aria-describedby"?: string | undefined;
  "aria-invalid"?: boolean | undefined;
  placeholder?: string | undefined;
  disabled?: boolean | undefined;
  required?: boolean | undefined;
  problems?: readonly EditorProblem[] | undefined;
  completions?: Completions | undefined;
  marked?: readonly [from: number, to: number] | undefined;
  ref?: Ref<EditorHandle> | undefined;
};

const script = createStore<typeof import("./view/editor") | null>(null);
let loading: Promise<void> | null = null;

function load(): Promise<void> {
  loading ??= import("./view/editor").then(script.set, () => {
    // The plain field stays. The next editor tries again.
    loading = null;
  });
  return loading;
}

const LOOKS: Record<Look, string> = {
  line: "min-h-9 max-h-36",
  value: "min-h-9 max-h-80",
  block: "min-h-56 max-h-[70dvh]",
  page: "min-h-96",
};

const FRAME = clsx(
  "relative w-full min-w-0 rounded-md border border-input-line bg-canvas",
  "has-[:focus]:border-accent has-[[aria-invalid=true]]:border-failed",
  "has-[.cm-content:focus]:outline-2 has-[.cm-content:focus]:outline-focus",
);

const NONE: Completions = {};

/** A text with a language. Until its script is loaded it is a plain field, whose text the editor takes over. */
export function CodeEditor({ language, look = "value", value, ref, ...props }: CodeEditorProps) {
  const loaded = script.use();
  const keysId = useId();
  const [isReady, setReady] = useState(false);
  const host = useRef<HTMLDivElement>(null);
  const plain = useRef<HTMLTextAreaElement>(null);
  const editor = useRef<Editor | null>(null);
  const asked = useRef<((editor: Editor) => void)[]>([]);
  const isLine = look === "line";
  const hasKeys = indents(language);
  const { id, disabled = false, required = false, placeholder = "", problems = [], marked = null } = props;
  const describedBy = clsx(props["aria-describedby"], hasKeys && keysId) || undefined;
  const isInvalid = props["aria-invalid"] === true;

  const report = useEffectEvent((text: string) => props.onChange(text));
  const completions = useEffectEvent(() => props.completions ?? NONE);
  const initial = useEffectEvent(() => value);
  useEffect(() => void load(), []);
  useLayoutEffect(() => {
    const parent = host.current;
    if (loaded === null || parent === null) return;
    const field = plain.current;
    const hasFocus = field !== null && field === document.activeElement;
    const created = loaded.createEditor({
      parent,
      language,
      isLine,
      value: initial(),
      selection: hasFocus ? { anchor: field.selectionStart, head: field.selectionEnd } : null,
      hasFocus,
      onChange: (text) => report(text),
      completions: () => completions(),
    });
    editor.current = created;
    setReady(true);
    return () => {
      created.view.destroy();
      editor.current = null;
      setReady(false);
    };
  }, [loaded, language, isLine]);
  useLayoutEffect(() => {
    const { current } = editor;
    if (current === null) return;
    const label = labelOf(id);
    const attributes = {
      id,
      // Checkers do not know that an editable text takes the focus and scrolls.
      tabindex: "0",
      "aria-label": label ? undefined : props["aria-label"],
      "aria-labelledby": label?.id,
      "aria-describedby": describedBy,
      "aria-invalid": isInvalid ? "true" : undefined,
      "aria-required": required ? "true" : undefined,
      "aria-disabled": disabled ? "true" : undefined,
      "aria-multiline": String(!isLine),
      spellcheck: String(language === "prompt"),
    };
    current.show({
      value,
      attributes: defined(attributes),
      placeholder,
      isDisabled: disabled,
      problems,
      marked,
    });
    for (const act of asked.current.splice(0)) act(current);
  });
  // A label moves the focus to a control, but not to an element with text.
  useEffect(() => {
    const label = isReady ? labelOf(id) : null;
    const focus = () => editor.current?.view.focus();
    label?.addEventListener("click", focus);
    return () => label?.removeEventListener("click", focus);
  }, [id, isReady]);
  // A dialog must not take the Escape that closed a list or a panel of the editor.
  useEffect(() => {
    const keep = (event: KeyboardEvent) => {
      if (event.key === "Escape" && event.defaultPrevented) event.stopPropagation();
    };
    const element = host.current;
    element?.addEventListener("keydown", keep);
    return () => element?.removeEventListener("keydown", keep);
  }, []);
  useImperativeHandle(ref, () => {
    const act = (what: (editor: Editor) => void) => {
      if (editor.current === null) asked.current.push(what);
      else what(editor.current);
    };
    return {
      element: () => editor.current?.view.contentDOM ?? plain.current,
      insert: (text) => act((each) => each.insert(text)),
      showLine: (line) => act((each) => each.showLine(line)),
    };
  }, []);

  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <div className={clsx(FRAME, disabled && "opacity-60")}>
        {isReady ? null : (
          <textarea
            aria-describedby={describedBy}
            aria-invalid={isInvalid || undefined}
            aria-label={props["aria-label"]}
            className={clsx(
              "mono field-sizing-content block w-full resize-none bg-transparent px-2.5 py-[0.4375rem] leading-5 outline-none",
              LOOKS[look],
            )}
            disabled={disabled}
            id={id}
            onChange={(event) => props.onChange(event.target.value)}
            placeholder={placeholder}
            ref={plain}
            required={required}
            rows={1}
            spellCheck={language === "prompt"}
            value={value}
          />
        )}
        <div className={clsx("flex flex-col", isReady && LOOKS[look])} ref={host} />
        {isReady && required ? (
          <RequiredMark isMissing={value === ""} onMissing={() => editor.current?.view.focus()} />
        ) : null}
      </div>
      {hasKeys ? (
        <p className="text-muted text-xs max-sm:hidden" id={keysId}>
          Tab indents. To leave the field, press Escape, then Tab.
        </p>
      ) : null}
    </div>
  );
}

/** Gives the label an id if it has none. */
function labelOf(id: string | undefined): HTMLLabelElement | null {
  const label =
    id === undefined ? null : document.querySelector<HTMLLabelElement>(`label[for="${CSS.escape(id)}"]`);
  if (label && label.id === "") label.id = `${id}-label`;
  return label;
}

function defined(attributes: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
