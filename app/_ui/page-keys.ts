/** Whether a key is meant for the page: no shortcut of the browser's, and nobody writes or walks a menu. */
export function isPageKey(event: KeyboardEvent): boolean {
  if (event.metaKey || event.ctrlKey || event.altKey || event.isComposing) return false;
  const target = event.target instanceof HTMLElement ? event.target : null;
  return !target?.closest(
    "input:not([type=checkbox]), textarea, select, [contenteditable], [role=menu], [role=dialog]",
  );
}
