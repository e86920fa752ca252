import { expect, type Locator, type Page } from "@playwright/test";

/** Texts with a language are typed in an editor, which replaces a plain field when its script is loaded. */

export function editor(within: Page | Locator, label: string): Locator {
  const page = "page" in within ? within.page() : within;
  return within.getByLabel(label, { exact: true }).and(page.locator("[contenteditable]"));
}

/** Replaces the text of an editor, by selecting everything and pasting. */
export async function fillEditor(field: Locator, text: string): Promise<void> {
  await field.press("ControlOrMeta+a");
  await field.press("Delete");
  await field.evaluate((element, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}

/** The text that an editor shows. Lines that are folded or far outside the window are not among it. */
export const textOf = (field: Locator): Promise<string> =>
  field.evaluate((element) =>
    [...element.querySelectorAll(".cm-line")]
      .map((line) => {
        const copy = document.createElement("div");
        copy.append(...[...line.childNodes].map((node) => node.cloneNode(true)));
        for (const hint of copy.querySelectorAll(".cm-placeholder")) hint.remove();
        return copy.textContent;
      })
      .join("\n"),
  );

/** The complete text of an editor, by selecting everything and copying. */
export async function copyOf(field: Locator): Promise<string> {
  await field.press("ControlOrMeta+a");
  return field.evaluate((element) => {
    const clipboardData = new DataTransfer();
    element.dispatchEvent(new ClipboardEvent("copy", { clipboardData, bubbles: true, cancelable: true }));
    return clipboardData.getData("text/plain");
  });
}

export async function expectText(field: Locator, expected: string | RegExp): Promise<void> {
  const text = expect.poll(() => textOf(field));
  await (typeof expected === "string" ? text.toBe(expected) : text.toMatch(expected));
}
