type NoticeAction = { label: string; run: () => void };
type Notice = { title: string; description?: string | undefined; action?: NoticeAction | undefined };
type Show = (notice: Notice) => void;

const waiting: Notice[] = [];
let show: Show = (notice) => waiting.push(notice);
let withdraw = () => {};

/**
 * Shows messages with this function from now on, first those that came before. `withdrawActions` closes those with an
 * action. Returns how to end that.
 */
export function showNoticesWith(next: Show, withdrawActions: () => void): () => void {
  show = next;
  withdraw = withdrawActions;
  for (const notice of waiting.splice(0)) next(notice);
  return () => {
    withdraw = () => {};
    show = (notice) => waiting.push(notice);
  };
}

/** A short message after an action, at the lower edge, announced politely to screen readers. */
export function notify(title: string, description?: string, action?: NoticeAction): void {
  show({ title, description, action });
}

/** Closes messages whose action is about another page. */
export const withdrawActions = () => withdraw();
