/** Whether a key is meant for the page: not for the browser, a text field or a menu. */
export function isPageKey(event: KeyboardEvent): boolean {
  if (event.metaKey || event.ctrlKey || event.altKey || event.isComposing) return false;
  const target = event.target instanceof HTMLElement ? event.target : null;
  return !target?.closest(
    "input:not([type=checkbox]), textarea, select, [contenteditable], [role=menu], [role=dialog]",
  );
}
