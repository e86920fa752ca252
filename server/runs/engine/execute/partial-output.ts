/**
 * The shortest time between two updates, in ms. Longer output is shown less often, because each update writes all
 * of it.
 */
const PACE_MS = 400;
const MS_PER_CHARACTER = 0.02;

/**
 * Shows a model's growing output at a bounded rate: each `show` gets the complete text so far. Other texts are not
 * read.
 */
export function showPartialOutput(show: (text: string) => void) {
  let readText = () => "";
  let shownLength = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    update(next: () => string): void {
      readText = next;
      timer ??= setTimeout(
        () => {
          timer = undefined;
          const text = readText();
          shownLength = text.length;
          show(text);
        },
        PACE_MS + shownLength * MS_PER_CHARACTER,
      );
    },
    close(): void {
      clearTimeout(timer);
    },
  };
}
