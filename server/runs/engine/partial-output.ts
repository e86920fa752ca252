/** Pages see partial output at this pace, in ms; a longer one less often, since each time all of it is written. */
const PACE_MS = 400;
const MS_PER_CHARACTER = 0.02;

/** Shows a model's growing output at a bounded pace: each `show` has everything so far. */
export function showPartialOutput(show: (text: string) => void) {
  let text = "";
  let timer: NodeJS.Timeout | undefined;
  return {
    update(next: string): void {
      text = next;
      timer ??= setTimeout(
        () => {
          timer = undefined;
          show(text);
        },
        PACE_MS + text.length * MS_PER_CHARACTER,
      );
    },
    close(): void {
      clearTimeout(timer);
    },
  };
}
