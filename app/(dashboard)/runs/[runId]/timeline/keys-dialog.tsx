import { Dialog } from "@/app/_ui/dialog";

const KEYS: readonly [keys: string, does: string][] = [
  ["j  ↓", "next line"],
  ["k  ↑", "previous line"],
  ["Home  End", "first, last line"],
  ["→  ←", "unfold, fold a line: items, steps, attempts, child run"],
  ["o", "fold or unfold everything"],
  ["/", "search all inputs and outputs"],
  ["f", "failures only"],
  ["t  c", "scale bars by time, by credits"],
  ["z", "zoom to the selected line"],
  ["Z  Esc", "show the whole time"],
  ["n  p", "next (older), previous run of the list"],
  ["?", "these keys"],
];

export function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title="Keys on this page">
      <dl className="grid grid-cols-[7rem_1fr] gap-y-2">
        {KEYS.map(([key, what]) => (
          <div className="contents" key={key}>
            <dt className="mono">{key}</dt>
            <dd className="text-muted">{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
